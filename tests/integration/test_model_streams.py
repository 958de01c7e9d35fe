"""Streams of OpenAI-compatible endpoints, whole and broken (tests/cases/model_streams.json), through the whole stack."""

import json
from typing import Any

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api
from harness.recorded import Script, text
from harness.stack import ROOT

from contracts.chats import ModelRef

CASES = [
    case
    for case in json.loads((ROOT / "tests/cases/model_streams.json").read_text(encoding="utf-8"))["cases"]
    if case["input"]["api"] == "openai"
]
STATUSES = {"complete": {"complete"}, "interrupted": {"interrupted"}, "error": {"interrupted", "failed"}}
# The cases call a tool `read`: under the name of a tool that exists its arguments are looked at.
RENAMED = {"read": "read_file"}


def test_every_case_is_loaded() -> None:
    assert len(CASES) == 27


@pytest.mark.proves("C5", "C8")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_model_stream_case(case: dict[str, Any], scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    expected = case["expect"]
    chunks = [chunk.replace('"name": "read"', '"name": "read_file"') for chunk in case["input"]["chunks"]]
    chat = new_chat(scripted)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, Script([{"raw_chunks": chunks}, text("(after)")]).message)
    tab.wait_for_end(exchange.exchange_id, 1, 20)
    reply = api.chat(chat.chat_id).exchanges[0].replies[0]
    assert reply.status in STATUSES[expected["end"]], reply
    assert "".join(part.text for part in reply.parts if part.kind == "text").removesuffix("(after)") == expected["text"]
    calls = [part for part in reply.parts if part.kind == "call"]
    wished = expected["tool_calls"]
    assert [part.tool for part in calls] == [RENAMED.get(wish["name"], wish["name"]) for wish in wished]
    for part, wish in zip(calls, wished, strict=True):
        assert part.refusal is not None
        if wish.get("arguments_error"):
            assert (part.state, part.refusal.code) == ("refused", "policy.arguments")
        else:
            assert part.arguments == wish["arguments"]
            assert part.refusal.code == ("path.not_found" if part.tool == "read_file" else "policy.unknown_tool")
    if expected["end"] == "error":
        assert reply.error is not None
        assert all(word in reply.error.detail for word in expected.get("error_contains", ()))
