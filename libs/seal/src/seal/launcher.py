"""A small process that starts commands for a server.

It is forked before the server has threads or an event loop, so it may fork; the server sends it one message for each
command, with the descriptors for output and control. Starting a command costs two forks of a small process that way
instead of a new interpreter.
"""

import contextlib
import json
import os
import signal
import socket
from dataclasses import asdict, dataclass, replace
from typing import NoReturn

from seal import _kernel, seccomp
from seal.errors import LaunchFailed
from seal.supervisor import Command, Ended, supervise

MAX_COMMAND_BYTES = 160 * 1024
DESCRIPTORS = 3


@dataclass(frozen=True)
class Run:
    """A command under way. The caller reads `stdout` and `stderr` to their end, and closes all three.

    `control` gets one message when the command has ended and nothing it started is alive: see `ended`. Sending a byte
    on it, or closing it, stops the command.
    """

    stdout: int
    stderr: int
    control: socket.socket

    @staticmethod
    def ended(message: bytes) -> Ended:
        """What the message on `control` says.

        Raises:
            LaunchFailed: it is no such message: the process above the command is gone.
        """
        try:
            return Ended(**json.loads(message))
        except (ValueError, TypeError) as exc:
            raise LaunchFailed("the process above the command ended without a word") from exc


class Launcher:
    """Starts commands. Make it first thing in `main`, in a process with one thread."""

    def __init__(self) -> None:
        """Fork the launching process; it ends when this process does.

        From here on no process of the same uid can look into this one (prctl(2), PR_SET_DUMPABLE).
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _kernel.prctl(_kernel.PR_SET_DUMPABLE, 0)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            _launch_for(theirs, parent)
        theirs.close()
        self._socket = ours

    def start(self, command: Command) -> Run:
        """Start a command. It is not awaited here: watch the `Run`.

        Raises:
            LaunchFailed: the command is too long, or the launching process is gone.
        """
        message = command.to_json().encode()
        if len(message) > MAX_COMMAND_BYTES:
            raise LaunchFailed("the command is too long")
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            socket.send_fds(self._socket, [message], [out_write, err_write, theirs.fileno()])
        except OSError as exc:
            os.close(out_read)
            os.close(err_read)
            ours.close()
            raise LaunchFailed("the launching process is gone") from exc
        finally:
            os.close(out_write)
            os.close(err_write)
            theirs.close()
        return Run(out_read, err_read, ours)

    def close(self) -> None:
        """End the launching process; commands under way are not its affair."""
        self._socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _launch_for(server: socket.socket, parent: int) -> NoReturn:
    try:
        _kernel.prctl(_kernel.PR_SET_DUMPABLE, 0)
        _kernel.prctl(_kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        # Supervisors are reaped by the kernel; Ctrl-C in a terminal is the server's to handle.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            message, descriptors, _flags, _address = socket.recv_fds(server, MAX_COMMAND_BYTES, DESCRIPTORS)
            if not message:
                break
            command = Command.from_json(message)
            # Made once here, it is ready in every process forked from here.
            seccomp.prepare(replace(command.profile, protected_pids=()))
            if os.fork() == 0:
                server.close()
                _supervise(command, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
    finally:
        os._exit(0)


def _supervise(command: Command, descriptors: list[int]) -> NoReturn:
    try:
        stdout, stderr, control_fd = descriptors
        control = socket.socket(fileno=control_fd)
        ended = supervise(command, stdout, stderr, control)
        with contextlib.suppress(OSError):
            control.send(json.dumps(asdict(ended)).encode())
    finally:
        os._exit(0)
