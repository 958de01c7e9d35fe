"""From a job's text to an answer: what is not accepted runs nothing and is not answered; what is accepted always is."""

import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from redis.exceptions import ConnectionError as RedisConnectionError

from contracts import errors
from contracts.errors import Refusal
from contracts.tickets import Ticket, WorkspaceRef
from contracts.tool_jobs import Job, Output, ToolResult
from policy.tickets import sign
from tool_runner.adapters.cancel_stream import Word
from tool_runner.adapters.command_box import CommandBox
from tool_runner.app.command_tool import CommandTool
from tool_runner.app.entry import Services, run_job
from tool_runner.app.file_tools import FileTools
from tool_runner.app.running import Attendant
from workspace import Quota

CHAT = "1" * 32
ID = "0" * 32
KEY = Ed25519PrivateKey.generate()


class Stream:
    """Keeps the entries of a call."""

    def __init__(self, *, broken: bool = False) -> None:
        self.entries: list[str] = []
        self.results: list[ToolResult] = []
        self._broken = broken

    def started(self) -> None:
        if self._broken:
            raise RedisConnectionError
        self.entries.append("started")

    def output(self, output: Output) -> None:
        self.entries.append(output.text)

    def alive(self) -> None:
        pass

    def silent_seconds(self) -> float:
        return 0.0

    def done(self, result: ToolResult) -> None:
        self.results.append(result)


class Nonces:
    """Takes every ticket, or refuses as it is told."""

    def __init__(self, answer: Refusal | None = None, *, broken: bool = False) -> None:
        self._answer = answer
        self._broken = broken

    def take(self, ticket: Ticket) -> Refusal | None:
        if self._broken:
            raise RedisConnectionError
        return self._answer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "chats").mkdir()
    return tmp_path


def services(root: Path, stream: Stream, word: Word = Word.GO_ON, nonces: Nonces | None = None) -> Services:
    return Services(
        key=KEY.public_key(),
        nonces=nonces or Nonces(),
        clock=lambda: int(time.time() * 1000),
        ask=lambda ticket: word,
        open_stream=lambda name: stream,  # type: ignore[arg-type,return-value]  # the fake has what is used of it
        attendant=Attendant(lambda ticket: word, lambda: None, lambda: None),
        files=FileTools(root, 1_000, Quota(10_000_000)),
        commands=CommandTool(CommandBox(root / "nobody")),
    )


def ticket(tool: str, arguments: dict[str, Any]) -> Ticket:
    now = int(time.time() * 1000)
    return Ticket(
        audience="tool-runner",
        call_id=ID,
        chat_id=ID,
        tool=tool,
        arguments=arguments,
        workspace=WorkspaceRef(name=CHAT),
        policy="auto",
        policy_hash="0" * 64,
        stream=ID,
        nonce=ID,
        epoch=1,
        issued_at=now,
        deadline=now + 10_000,
        timeout_seconds=5.0,
    )


def job(tool: str, arguments: dict[str, Any]) -> str:
    return Job(ticket=sign(ticket(tool, arguments), KEY)).model_dump_json()


WRITE = ("write_file", {"path": "a.txt", "content": "x"})


def test_an_accepted_call_starts_runs_and_is_answered(root: Path) -> None:
    stream = Stream()
    run_job(job(*WRITE), services(root, stream))
    assert stream.entries == ["started"]
    assert [result.outcome for result in stream.results] == ["ok"]
    assert (root / "chats" / CHAT / "a.txt").read_text() == "x"


@pytest.mark.parametrize("text", ["", "{}", "null", '{"kind":"job","ticket":""}', '{"kind":"job","ticket":"a.b"}', "\ud800"])
def test_a_job_of_another_form_runs_nothing_and_is_not_answered(root: Path, text: str) -> None:
    stream = Stream()
    run_job(text, services(root, stream))
    assert (stream.entries, stream.results) == ([], [])


def test_a_refused_ticket_runs_nothing_and_is_not_answered(root: Path) -> None:
    used = Nonces(Refusal(code=errors.TICKET_USED, detail="Used."))
    for nonces in (used, Nonces(broken=True)):
        stream = Stream()
        run_job(job(*WRITE), services(root, stream, nonces=nonces))
        assert (stream.entries, stream.results) == ([], [])
    assert not (root / "chats" / CHAT).exists()


@pytest.mark.parametrize("word", [Word.CANCELLED, Word.VOID, Word.SILENT])
def test_a_call_that_is_not_to_go_on_does_not_begin(root: Path, word: Word) -> None:
    stream = Stream()
    run_job(job(*WRITE), services(root, stream, word))
    assert stream.entries == []
    assert [result.outcome for result in stream.results] == ["stopped"]
    assert not (root / "chats" / CHAT).exists()


def test_a_call_whose_beginning_nobody_could_be_told_does_not_begin(root: Path) -> None:
    stream = Stream(broken=True)
    run_job(job(*WRITE), services(root, stream))
    assert stream.results[0].refusal is not None
    assert stream.results[0].refusal.code == errors.TOOL_UNAVAILABLE
    assert not (root / "chats" / CHAT).exists()


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("run_js", {"code": "1"}, errors.TICKET_TOOL),
        ("nothing", {}, errors.TICKET_TOOL),
        ("write_file", {"path": "a"}, errors.POLICY_ARGUMENTS),
        ("write_file", {"path": 1, "content": "x"}, errors.POLICY_ARGUMENTS),
        ("read_file", {"path": "a", "offset": "0"}, errors.POLICY_ARGUMENTS),
        ("list_files", {"path": ".", "more": 1}, errors.POLICY_ARGUMENTS),
    ],
)
def test_what_the_tool_does_not_take_is_refused(root: Path, tool: str, arguments: dict[str, Any], code: str) -> None:
    stream = Stream()
    run_job(job(tool, arguments), services(root, stream))
    assert stream.results[0].outcome == "refused"
    assert stream.results[0].refusal is not None
    assert stream.results[0].refusal.code == code


def test_a_fault_inside_is_answered_without_its_detail(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("the secret detail")

    monkeypatch.setattr(FileTools, "run", fault)
    stream = Stream()
    run_job(job(*WRITE), services(root, stream))
    assert stream.results[0].outcome == "failed"
    assert "secret" not in stream.results[0].model_dump_json()


def test_a_command_without_its_own_ticket_is_not_sent(root: Path) -> None:
    stream = Stream()
    run_job(job("run_command", {"command": "true"}), services(root, stream))
    assert stream.results[0].refusal is not None
    assert stream.results[0].refusal.code == errors.TICKET_MALFORMED


def test_a_full_chat_takes_no_more(root: Path) -> None:
    stream = Stream()
    full = services(root, stream)
    limited = Services(**{**vars(full), "files": FileTools(root, 1_000, Quota(100))})
    run_job(job("write_file", {"path": "a", "content": "x" * 101}), limited)
    assert stream.results[0].refusal is not None
    assert stream.results[0].refusal.code == errors.QUOTA_CHAT
