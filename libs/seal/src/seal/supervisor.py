"""The process above one command: starts it confined, waits for one of its endings, and leaves nothing alive."""

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal

from seal import _kernel
from seal.confine import confine
from seal.descendants import kill_all, reap
from seal.profile import Profile

KILL_SECONDS = 5.0
# Of all processes of the container the command's are the first to go when memory is short (proc(5), oom_score_adj).
OOM_SCORE = "900"


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to run: a program with its arguments, its whole environment, its folder, and what binds it."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    profile: Profile
    timeout_seconds: float

    def to_json(self) -> str:
        """The command as JSON text."""
        return json.dumps({**asdict(self), "environment": dict(self.environment)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: bytes) -> "Command":
        """The command of `to_json`."""
        fields = json.loads(text)
        profile = Profile.from_json(fields.pop("profile"))
        return cls(**{**fields, "argv": tuple(fields["argv"]), "profile": profile})


@dataclass(frozen=True)
class Ended:
    """How a command ended. `exit_code` is the program's, 128 + n after signal n, and None where we killed it.

    `failure` says why it was never started. `survivors` are processes that five seconds of killing left alive.
    """

    ending: Literal["exited", "timed_out", "stopped", "not_started"]
    exit_code: int | None
    duration_seconds: float
    survivors: int
    failure: str = ""


def supervise(command: Command, stdout: int, stderr: int, control: socket.socket) -> Ended:
    """Run the command to one of its endings. A byte on `control`, or its other end closing, stops it.

    It must be called in a process of its own with one thread, since it changes that process for good.
    """
    os.setsid()
    _kernel.prctl(_kernel.PR_SET_CHILD_SUBREAPER, 1)
    wake, _ = _wake_on_child()
    began = time.monotonic()
    failure_read, failure_write = os.pipe2(os.O_CLOEXEC)
    above = (os.getpid(), os.getppid())
    child = os.fork()
    if child == 0:
        _become(command, stdout, stderr, failure_write, above)
    os.close(failure_write)
    os.close(stdout)
    os.close(stderr)
    ending, status = _wait(child, control.fileno(), wake, began + command.timeout_seconds)
    survivors = kill_all(KILL_SECONDS)
    duration = time.monotonic() - began
    failure = os.read(failure_read, 4096).decode(errors="replace")
    if failure:
        return Ended("not_started", None, duration, survivors, failure)
    return Ended(ending, None if status is None else _exit_code(status), duration, survivors)


def _wait(child: int, control: int, wake: int, deadline: float) -> tuple[Literal["exited", "timed_out", "stopped"], int | None]:
    """Wait for the first of: the program's end, a word on `control`, the deadline. Orphans are reaped meanwhile."""
    poll = select.poll()
    poll.register(control, select.POLLIN | select.POLLHUP)
    poll.register(wake, select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return "timed_out", None
        ready = {descriptor for descriptor, _ in poll.poll(left * 1000 + 1)}
        if wake in ready:
            os.read(wake, 4096)
            status = reap().get(child)
            if status is not None:
                return "exited", status
        if control in ready:
            return "stopped", None


def _become(command: Command, stdout: int, stderr: int, failure: int, above: tuple[int, int]) -> None:
    """In the child: set everything up, confine, and become the program. It never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        _prefer_for_oom()
        null = os.open("/dev/null", os.O_RDONLY)
        for source, target in ((null, 0), (stdout, 1), (stderr, 2)):
            os.dup2(source, target)
        os.chdir(command.folder)
        os.umask(0o022)
        # The processes above it, which it could otherwise kill on kernels without scopes.
        confine(replace(command.profile, protected_pids=(*command.profile.protected_pids, *above)))
        # Descriptors of Python's own close at exec; those that were handed over do not.
        for descriptor in range(3, 64):
            if descriptor != failure:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        os.execve(command.argv[0], command.argv, dict(command.environment))  # noqa: S606 (a program without a shell is the point)
    except BaseException as exc:
        os.write(failure, f"{type(exc).__name__}: {exc}".encode()[:4000])
    finally:
        os._exit(127)


def _prefer_for_oom() -> None:
    # The launcher's files in /proc are root's while it is not dumpable, so the child is dumpable for a moment. It holds
    # nothing but this command then.
    _kernel.prctl(_kernel.PR_SET_DUMPABLE, 1)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:  # noqa: PTH123 (a file of the kernel's)
        score.write(OOM_SCORE)


def _wake_on_child() -> tuple[int, int]:
    """A descriptor that becomes readable whenever a child ends."""
    read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read, write


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
