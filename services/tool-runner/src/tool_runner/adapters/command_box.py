"""command-box over its Unix socket: one request for each command, its answer a stream of lines.

The connection is the command's life: closing it stops the command and everything it started.
"""

import contextlib
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import override

from pydantic import ValidationError

from contracts.commands import Exited, Refused, RunRequest, command_entry
from contracts.tool_jobs import MAX_ENTRY_BYTES, Alive, Output

CONNECT_SECONDS = 5.0
# command-box says something at least every two seconds.
SILENCE_SECONDS = 10.0
# All that one command may send, live output included.
MAX_ANSWER_BYTES = 64 * 1024 * 1024

# What it answers before it does anything: a request it does not take, too many at once, shutting down.
NOT_STARTED = frozenset({400, 403, 404, 405, 413, 415, 422, 429, 503})

CommandEntry = Output | Alive | Exited | Refused


class NotStarted(Exception):
    """command-box could not be asked: the command was not started."""


class CutOff(Exception):
    """The answer ended early or is of no allowed form: the command may have run."""


class CommandBox:
    """Where commands are sent to."""

    def __init__(self, path: Path) -> None:
        """`path` is the socket."""
        self._path = path

    @contextlib.contextmanager
    def run(self, request: RunRequest) -> Iterator["CommandRun"]:
        """Start a command; it is stopped when the context ends before it does.

        Raises:
            NotStarted: nothing was sent, or command-box answered with an error.
            CutOff: the request was sent and no answer came.
        """
        connection = _UnixConnection(self._path)
        with contextlib.ExitStack() as stack:
            stack.callback(connection.close)
            _connect(connection)
            # http.client forgets the socket when the answer says that the connection closes after it.
            sock = connection.sock
            run = CommandRun(sock, stack.enter_context(contextlib.closing(_send(connection, request))))
            stack.callback(run.stop)
            yield run


class CommandRun:
    """A command at work."""

    def __init__(self, sock: socket.socket, answer: http.client.HTTPResponse) -> None:
        """`answer` has its headers read, and no body; it comes over `sock`."""
        self._sock = sock
        self._answer = answer

    def stop(self) -> None:
        """Close the connection, from any thread or a signal handler: the command is stopped, `entries` ends by CutOff."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def entries(self) -> Iterator[CommandEntry]:
        """What command-box says, up to the last entry, which is an Exited or a Refused.

        Raises:
            CutOff: see there.
        """
        size = 0
        while True:
            line = self._line()
            size += len(line)
            if not line.endswith(b"\n") or size > MAX_ANSWER_BYTES:
                raise CutOff("the answer ended early or was too long")
            try:
                entry = command_entry.validate_json(line)
            except ValidationError as exc:
                raise CutOff("a line of the answer has no allowed form") from exc
            yield entry
            if isinstance(entry, Exited | Refused):
                return

    def _line(self) -> bytes:
        try:
            return self._answer.readline(MAX_ENTRY_BYTES)
        except (OSError, http.client.HTTPException, ValueError) as exc:
            raise CutOff(str(exc)) from exc


def _connect(connection: "_UnixConnection") -> None:
    try:
        connection.connect()
    except OSError as exc:
        raise NotStarted(f"command-box cannot be reached: {exc}") from exc


def _send(connection: "_UnixConnection", request: RunRequest) -> http.client.HTTPResponse:
    headers = {"Content-Type": "application/json", "Accept": "application/x-ndjson"}
    try:
        connection.request("POST", "/run", request.model_dump_json().encode(), headers)
        answer = connection.getresponse()
    except (OSError, http.client.HTTPException) as exc:
        raise CutOff(str(exc)) from exc
    if answer.status in NOT_STARTED:
        raise NotStarted(f"command-box answered {answer.status}")
    if answer.status != http.client.OK:
        raise CutOff(f"command-box answered {answer.status}")
    return answer


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("command-box", timeout=SILENCE_SECONDS)
        self._path = path

    @override
    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_SECONDS)
        self.sock.connect(str(self._path))
        self.sock.settimeout(SILENCE_SECONDS)
