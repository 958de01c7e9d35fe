"""What command-box may send and what it may not, over a real Unix socket with a server that says what the test wants."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.commands import Exited, Refused, RunRequest
from contracts.errors import Refusal
from contracts.tool_jobs import MAX_ENTRY_BYTES, Alive, Output
from tool_runner.adapters import command_box
from tool_runner.adapters.command_box import CommandBox, CutOff, NotStarted

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
EXITED = Exited(ending="exited", exit_code=0, stdout="", stderr="", truncated=False, duration_seconds=0.1)
OUTPUT = Output(stream="stdout", text="x")
REQUEST = RunRequest(ticket="a.b")


def line(entry: Output | Alive | Exited | Refused) -> bytes:
    return entry.model_dump_json().encode() + b"\n"


def whole_request(connection: socket.socket) -> bytes:
    """Head and body, which may come in two pieces."""
    body = REQUEST.model_dump_json().encode()
    request = b""
    while not request.endswith(body):
        piece = connection.recv(65_536)
        assert piece
        request += piece
    return request


@contextlib.contextmanager
def saying(tmp_path: Path, answer: bytes, *, hold_open: bool = False) -> Iterator[tuple[CommandBox, list[bytes]]]:
    """A server that answers one request with these bytes, then closes, or waits for the client to close."""
    path = tmp_path / "s"
    seen: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(1)
        server.settimeout(10)

        def serve() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as connection:
                connection.settimeout(10)
                seen.append(whole_request(connection))
                connection.sendall(answer)
                if hold_open:
                    try:
                        seen.append(connection.recv(1))
                    except ConnectionResetError:
                        # Closed with something unread.
                        seen.append(b"")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield CommandBox(path), seen
        finally:
            thread.join(10)


def entries(box: CommandBox) -> list[object]:
    with box.run(REQUEST) as run:
        return list(run.entries())


def test_entries_come_up_to_the_last(tmp_path: Path) -> None:
    answer = HEAD + line(OUTPUT) + line(Alive()) + line(EXITED) + b"more that nobody reads\n"
    with saying(tmp_path, answer) as (box, seen):
        assert entries(box) == [OUTPUT, Alive(), EXITED]
    assert seen[0].startswith(b"POST /run HTTP/1.1\r\n")
    assert seen[0].endswith(REQUEST.model_dump_json().encode())


def test_chunks_are_put_together(tmp_path: Path) -> None:
    body = line(OUTPUT) + line(EXITED)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[:7], body[7:60], body[60:])) + b"0\r\n\r\n"
    with saying(tmp_path, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks) as (box, _):
        assert entries(box) == [OUTPUT, EXITED]


def test_a_refusal_is_an_end(tmp_path: Path) -> None:
    refused = Refused(refusal=Refusal(code="ticket.used", detail="Used."))
    with saying(tmp_path, HEAD + line(refused)) as (box, _):
        assert entries(box) == [refused]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        line(OUTPUT),
        line(EXITED)[:-1],
        b"\n",
        b"{}\n",
        b"not json\n",
        b'{"kind":"output","stream":"stdin","text":"x"}\n',
        b'{"kind":"output","stream":"stdout","text":"x","more":1}\n',
        b'{"kind":"exited","ending":"exited","exit_code":"0"}\n',
        b'{"kind":"output","stream":"stdout","text":"' + b"x" * 70_000 + b'"}\n',
        b"x" * (MAX_ENTRY_BYTES + 10) + b"\n",
        b"\xff\xfe\n",
    ],
)
def test_an_answer_of_no_allowed_form_is_cut_off(tmp_path: Path, body: bytes) -> None:
    with saying(tmp_path, HEAD + body) as (box, _), pytest.raises(CutOff):
        entries(box)


def test_an_endless_answer_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_box, "MAX_ANSWER_BYTES", 10_000)
    with saying(tmp_path, HEAD + line(OUTPUT) * 1_000) as (box, _), pytest.raises(CutOff):
        entries(box)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", b"nonsense\r\n\r\n"])
def test_no_answer_after_the_request_leaves_the_effect_unknown(tmp_path: Path, answer: bytes) -> None:
    with saying(tmp_path, answer) as (box, _), pytest.raises(CutOff):
        entries(box)


def test_a_socket_that_nobody_serves_means_not_started(tmp_path: Path) -> None:
    with pytest.raises(NotStarted):
        entries(CommandBox(tmp_path / "nobody"))


def test_a_busy_command_box_means_not_started(tmp_path: Path) -> None:
    with saying(tmp_path, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n") as (box, _), pytest.raises(NotStarted):
        entries(box)


def test_a_stop_from_another_thread_closes_the_connection_at_once(tmp_path: Path) -> None:
    with saying(tmp_path, HEAD + line(OUTPUT), hold_open=True) as (box, seen):
        began = time.monotonic()
        with box.run(REQUEST) as run, pytest.raises(CutOff):
            for _ in run.entries():
                threading.Timer(0.05, run.stop).start()
        assert time.monotonic() - began < 2
    assert seen[1] == b""


@pytest.mark.parametrize("head", [HEAD, HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")])
def test_leaving_early_closes_the_connection(tmp_path: Path, head: bytes) -> None:
    with saying(tmp_path, head, hold_open=True) as (box, seen):
        with pytest.raises(KeyError), box.run(REQUEST):
            raise KeyError
        began = time.monotonic()
    assert time.monotonic() - began < 2
    assert seen[1] == b""


def test_silence_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_box, "SILENCE_SECONDS", 0.2)
    with saying(tmp_path, HEAD + line(OUTPUT), hold_open=True) as (box, _), pytest.raises(CutOff):
        entries(box)
