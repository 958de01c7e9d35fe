"""What a child said, or how it died, becomes the right outcome; whatever it said."""

import json
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.javascript import MAX_RESULT_CHARACTERS, JsResult
from js_sandbox.domain.reply import MAX_DETAIL_CHARACTERS, ChildReply, explain, parse_reply, result_of_death, result_of_reply

EXCEPTIONS = [
    # An error with a stack: frames say the lines.
    (
        "<anonymous>:2: TypeError: boom\n throw new TypeError('boom')}\n ^\n\nTypeError: boom\n    at f (<anonymous>:2:8)\n    at <anonymous>:3:1\n",
        "TypeError: boom\n    at f (line 2:8)\n    at line 3:1",
    ),
    # A message of two lines.
    (
        "<anonymous>:1: Error: a\nb\nthrow new Error('a\\nb')\n^\n\nError: a\nb\n    at <anonymous>:1:7\n",
        "Error: a\nb\n    at line 1:7",
    ),
    # No stack: the line is in the head.
    ("<anonymous>:1: null\nthrow null\n^\n", "null (line 1)"),
    (
        "<anonymous>:3: SyntaxError: Unexpected end of input\n1+\n  ^\n\nSyntaxError: Unexpected end of input\n",
        "SyntaxError: Unexpected end of input (line 3)",
    ),
    # Thrown again by the prelude: its place says nothing to the author of the program.
    ("switchbox:prelude:240: 5\n    if (rejected) throw last;\n                  ^\n", "5"),
    # Odd: what no program of V8 writes.
    ("", ""),
    ("no place at all", "no place at all"),
    ("<anonymous>:x: y\n", "<anonymous>:x: y"),
    ("<anonymous>:" + "9" * 5000 + ": y", "y (line 999999999)"),
]


@pytest.mark.parametrize(("account", "detail"), EXCEPTIONS)
def test_an_exception_is_explained_with_message_and_lines(account: str, detail: str) -> None:
    assert explain(account).detail == detail


def test_code_from_text_is_forbidden() -> None:
    account = "<anonymous>:1: EvalError: Code generation from strings disallowed for this context\neval('1')\n^\n"
    result = result_of_reply(ChildReply(kind="thrown", text=account, console="", truncated=False), 5)
    assert result.outcome == "forbidden"
    assert result.refusal is not None
    assert result.refusal.code == errors.JS_FORBIDDEN


def test_an_array_buffer_that_cannot_be_had_is_a_matter_of_memory() -> None:
    account = "<anonymous>:1: RangeError: Array buffer allocation failed\nnew ArrayBuffer(1e9)\n^\n\nRangeError: Array buffer allocation failed\n    at <anonymous>:1:1\n"
    result = result_of_reply(ChildReply(kind="thrown", text=account, console="kept", truncated=False), 5)
    assert (result.outcome, result.console) == ("memory", "kept")


def test_a_top_level_await_comes_with_advice() -> None:
    assert "async" in explain("<anonymous>:1: SyntaxError: await is only valid in async functions\nawait 1\n^^^^^\n").hint


@pytest.mark.parametrize(
    ("exit_code", "outcome"),
    [
        (-signal.SIGTRAP, "memory"),
        (-signal.SIGABRT, "memory"),
        (-signal.SIGKILL, "memory"),
        (-signal.SIGXCPU, "timed_out"),
        (-signal.SIGSEGV, "exception"),
        (-signal.SIGSYS, "exception"),
        (0, "exception"),
        (1, "exception"),
    ],
)
def test_a_death_without_a_word_has_an_outcome(exit_code: int, outcome: str) -> None:
    result = result_of_death(exit_code)
    assert result.outcome == outcome
    assert result.refusal is not None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"kind":"value","text":1,"console":"","truncated":false}',
        b'{"kind":"refused","text":null,"console":"","truncated":false}',
        b'{"kind":"value","text":null,"console":"","truncated":false,"outcome":"ok"}',
        b'{"kind":"value","text":null,"console":"\\ud800","truncated":false}',
        b'{"kind":"value","text":null,"console":"\xff","truncated":false}',
        json.dumps({"kind": "value", "text": None, "console": "x" * (MAX_RESULT_CHARACTERS + 1), "truncated": False}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_malformed_reply_is_none(body: bytes) -> None:
    assert parse_reply(body) is None


@given(st.binary(max_size=500))
def test_no_bytes_break_the_parser(body: bytes) -> None:
    reply = parse_reply(body)
    assert reply is None or isinstance(reply, ChildReply)


@given(
    st.builds(
        ChildReply,
        kind=st.sampled_from(["value", "thrown", "timed_out", "memory"]),
        text=st.none() | st.text(alphabet=st.sampled_from(" ^\n:<>anonymous1at") | st.characters(codec="utf-8"), max_size=3000),
        console=st.text(alphabet=st.characters(codec="utf-8"), max_size=100),
        truncated=st.booleans(),
    )
)
def test_every_reply_makes_a_result_that_can_be_sent(reply: ChildReply) -> None:
    result = result_of_reply(reply, 5)
    assert JsResult.model_validate_json(result.model_dump_json()) == result
    assert (result.refusal is None) == (result.outcome == "ok")
    assert result.refusal is None or len(result.refusal.detail) <= MAX_DETAIL_CHARACTERS
    assert result.outcome != "refused"
