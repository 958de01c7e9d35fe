"""What a child of the zygote does from its first moment to its last: seal itself, warm up, run one program, answer."""

import contextlib
import ctypes
import gc
import json
import os
import resource
import signal
import socket
from dataclasses import dataclass
from typing import Any, NoReturn

import seal
from js_sandbox.adapters.frames import FAILED, LENGTH, MAX_REASON_BYTES, MAX_WORK_BYTES, READY, frame
from js_sandbox.adapters.program import Program

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# prctl(2): the signal that this process gets when its parent ends.
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class ChildLimits:
    """What one program may use.

    `heap_bytes` is V8's heap after a garbage collection. `data_bytes` is all the memory that the process may take from
    the moment it is warm: heap, typed arrays, compiled code, and what the collector needs while it copies.
    `cpu_seconds` is a net below the time limit, for a child that nobody watches any more.
    """

    heap_bytes: int
    data_bytes: int
    cpu_seconds: int
    characters: int


def live(library: Any, connection: socket.socket, limits: ChildLimits, protected_pids: tuple[int, ...]) -> NoReturn:
    """Be a child: never returns. `connection` is the stream to the service; every other descriptor is closed.

    `protected_pids` are the processes it may not signal; the first is its parent, the zygote.
    """
    status = 1
    try:
        gc.disable()
        _end_with(protected_pids[0])
        _offer_to_the_oom_killer()
        _close_all_but(connection.fileno())
        program = _warm(library, connection, limits, protected_pids)
        if program is not None:
            work = _receive(connection)
            if work is not None:
                connection.sendall(frame(program.run(work["code"], work["seconds"]).to_json()))
        status = 0
    finally:
        # Neither interpreter nor V8 is shut down: what the program left behind must not run once more.
        os._exit(status)


def _warm(library: Any, connection: socket.socket, limits: ChildLimits, protected_pids: tuple[int, ...]) -> Program | None:
    """Seal the process and make everything that a program needs; tell the service that it is ready, or why not."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as statm:  # noqa: PTH123 (a descriptor that outlives the seal)
            seal.confine(profile(limits, protected_pids))
            # V8's thread starts below this line: a seal binds the thread that takes it and those that it starts.
            program = Program(library, heap_bytes=limits.heap_bytes, characters=limits.characters)
            _bound_memory(statm.read(), limits.data_bytes)
        _freeze()
    except Exception as exc:
        connection.sendall(FAILED + repr(exc).encode("utf-8", "replace")[:MAX_REASON_BYTES])
        return None
    connection.sendall(READY)
    return program


def profile(limits: ChildLimits, protected_pids: tuple[int, ...]) -> seal.Profile:
    """Nothing: no file, no socket, no program. What is mapped already is enough to run JavaScript."""
    return seal.Profile(
        execute=(),
        protected_pids=protected_pids,
        limits=seal.Limits(file_bytes=0, cpu_seconds=limits.cpu_seconds),
    )


def _bound_memory(statm: bytes, data_bytes: int) -> None:
    """Limit what the process may take from now on (setrlimit(2), RLIMIT_DATA).

    It counts private writable memory that is committed, typed arrays included. RLIMIT_AS cannot be used: V8 reserves a
    terabyte of addresses. proc(5): the sixth field of statm is data and stack, in pages.
    """
    limit = int(statm.split()[5]) * _PAGE_BYTES + data_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _freeze() -> None:
    """No further process, thread or descriptor, by limits that only lower: all that was needed is there.

    The kernel passes the process limit over for uid 0, as which the service does not run.
    """
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _end_with(parent: int) -> None:
    """Be killed when the zygote ends, also if it has ended already."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _offer_to_the_oom_killer() -> None:
    """Should the container run out of memory, a program is killed, not the service (proc(5), oom_score_adj)."""
    with open("/proc/self/oom_score_adj", "wb", buffering=0) as score:  # noqa: PTH123 (unbuffered, and before the seal)
        score.write(b"1000")


def _close_all_but(kept: int) -> None:
    """Close what the zygote had open: the way to the service, and the descriptors of other children.

    Standard streams lead to /dev/null, since V8 writes the state of a program there when it gives up.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.closerange(3, kept)
    os.closerange(kept + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _receive(connection: socket.socket) -> dict[str, Any] | None:
    """The work, or None when the service has closed the connection."""
    header = _exactly(connection, LENGTH.size)
    if header is None:
        return None
    (length,) = LENGTH.unpack(header)
    if length > MAX_WORK_BYTES:
        return None
    body = _exactly(connection, length)
    return None if body is None else json.loads(body)


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while len(received) < count:
            piece = connection.recv(count - len(received))
            if not piece:
                return None
            received += piece
        return bytes(received)
    return None
