"""Services die in the middle of replies: the pane says so in time, the others go on, and the next question works."""

import time
from collections.abc import Callable

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api
from harness.recorded import Script, call, text
from harness.stack import Stack

from contracts.chats import ModelRef, Reply

pytestmark = pytest.mark.proves("C7")

TOLD_WITHIN_SECONDS = 15
SLOW = text("word " * 40, tokens_per_second=8)
LONG_PROGRAM = "const end=Date.now()+4500; while(Date.now()<end); 1"


def _code(reply: Reply) -> str:
    calls = [part.refusal.code for part in reply.parts if part.kind == "call" and part.refusal]
    return (calls or [reply.error.code if reply.error else ""])[0]


def _text(reply: Reply) -> str:
    return "".join(part.text for part in reply.parts if part.kind == "text")


@pytest.mark.parametrize("service", ["tool-runner", "redis", "js-sandbox"])
def test_a_service_that_dies_under_a_call_is_told_and_comes_back(
    service: str, stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted, prompts=["victim", "other"])
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    tab = open_tab(chat)
    wish = call("run_js", code=LONG_PROGRAM) if service == "js-sandbox" else call("run_command", command="echo begun; sleep 40")
    script = Script(panes={"victim": [wish, text("after")], "other": [SLOW]})
    exchange = api.send(chat.chat_id, script.message)
    victim = exchange.replies[0].reply_id
    if service == "js-sandbox":
        tab.wait(lambda view: any(part.started_at for part in view.calls_of(victim)), 15, "a running program")
    else:
        tab.wait(lambda view: any("begun" in output for output in view.outputs.values()), 15, "a running command")
    stack.kill(service)
    killed = time.monotonic()
    tab.wait(lambda view: all(part.state != "running" for part in view.calls_of(victim)), TOLD_WITHIN_SECONDS, "the call's end")
    assert time.monotonic() - killed <= TOLD_WITHIN_SECONDS
    tab.wait_for_end(exchange.exchange_id, 2, 30)
    replies = api.chat(chat.chat_id).exchanges[0].replies
    assert _code(replies[0]) in ("tool.effect_unknown", "tool.unavailable", "tool.failed")
    assert replies[1].status == "complete"
    stack.start(service)
    _works_again(api, new_chat(scripted), open_tab)


def test_the_embedded_model_that_dies_is_told_and_comes_back(
    stack: Stack, scripted: ModelRef, embedded: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    real, other = new_chat(embedded, tools=False, max_tokens=400), new_chat(scripted)
    real_tab, other_tab = open_tab(real), open_tab(other)
    exchange = api.send(real.chat_id, "Tell a very long story.")
    other_exchange = api.send(other.chat_id, Script([SLOW]).message)
    real_tab.wait(lambda view: bool(view.text(exchange.replies[0].reply_id)), 60, "some text")
    stack.kill("local-model")
    (reply,) = real_tab.wait_for_end(exchange.exchange_id, 1, TOLD_WITHIN_SECONDS).values()
    assert reply.status == "interrupted"
    assert reply.error is not None
    assert real_tab.view.text(reply.reply_id)
    (other_reply,) = other_tab.wait_for_end(other_exchange.exchange_id, 1, 30).values()
    assert other_reply.status == "complete"
    stack.start("local-model")
    again = api.send(real.chat_id, "Say yes.")
    (reply,) = real_tab.wait_for_end(again.exchange_id, 1, 90).values()
    assert reply.status in ("complete", "stopped")


def test_a_killed_core_leaves_partial_texts_with_continue(
    stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted, prompts=["one", "two"])
    tab = open_tab(chat)
    script = Script([text("word " * 60, tokens_per_second=10), text("the rest")])
    exchange = api.send(chat.chat_id, script.message)
    tab.wait(lambda view: all(len(view.text(reply.reply_id)) > 40 for reply in exchange.replies), 20, "text in both panes")
    tab.close()
    stack.kill("orchestrator")
    stack.start("orchestrator", "gateway")
    replies = api.chat(chat.chat_id).exchanges[0].replies
    assert [reply.status for reply in replies] == ["interrupted", "interrupted"]
    for reply in replies:
        assert tab.view.text(reply.reply_id)[:40] == _text(reply)[:40]
    again = open_tab(chat)
    api.act(replies[0].reply_id, "continue")
    done = again.wait(lambda view: view.replies[replies[0].reply_id].status == "complete" or None, 20, "the continued reply")
    assert done
    assert again.view.text(replies[0].reply_id).endswith("the rest")


def _works_again(api: Api, chat: object, open_tab: Callable[..., object]) -> None:
    tab = open_tab(chat)
    script = Script([call("write_file", path="a", content="x"), call("run_js", code="1+1"), text("done")])
    exchange = api.send(chat.chat_id, script.message)  # type: ignore[attr-defined]
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()  # type: ignore[attr-defined]
    states = [part.state for part in api.chat(chat.chat_id).exchanges[0].replies[0].parts if part.kind == "call"]  # type: ignore[attr-defined]
    assert (reply.status, states) == ("complete", ["ok", "ok"])
