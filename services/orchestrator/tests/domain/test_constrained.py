"""Tools through JSON: the answer grows, a call is read, and nothing that a model writes is an error."""

import json

from hypothesis import given
from hypothesis import strategies as st

from contracts.tools import TOOLS
from orchestrator.domain.constrained import partial_answer, read_reply, response_schema
from orchestrator.domain.pieces import AskedCall


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.booleans())
def test_the_answer_only_grows_and_ends_whole(answer: str, escaped: bool) -> None:
    reply = json.dumps({"answer": answer}, ensure_ascii=escaped)
    shown = [partial_answer(reply[:length]) for length in range(len(reply) + 1)]
    assert all(answer.startswith(piece) for piece in shown)
    assert read_reply(reply) == answer


@given(st.text())
def test_any_text_is_an_answer_or_a_call(text: str) -> None:
    assert isinstance(read_reply(text), str | AskedCall)


def test_a_call_is_read() -> None:
    assert read_reply('{"tool": "run_js", "arguments": {"code": "1"}}') == AskedCall("call_0", "run_js", {"code": "1"})


def test_a_call_that_holds_a_key_twice_is_not_run() -> None:
    assert isinstance(read_reply('{"tool": "run_js", "arguments": {"code": "1", "code": "2"}}'), str)


def test_the_schema_names_every_tool_offered() -> None:
    schema = response_schema(tuple(TOOLS.values()))
    named = [option["properties"]["tool"]["const"] for option in schema["anyOf"] if "tool" in option["properties"]]
    assert named == list(TOOLS)
