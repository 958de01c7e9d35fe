"""Services that crash and are restarted by the engine alone, in the middle of a call: told in time, and mended by itself."""

import time

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api, eventually
from harness.recorded import Script, call, text
from harness.stack import Stack

from contracts.chats import ModelRef

pytestmark = pytest.mark.proves("C7")

TOLD_WITHIN_SECONDS = 15
BACK_WITHIN_SECONDS = 40
PROGRAM = "const end=Date.now()+4500; while(Date.now()<end); 1"


@pytest.mark.parametrize("service", ["tool-runner", "command-box", "redis", "js-sandbox"])
def test_a_service_that_crashes_under_a_call_is_told_and_mends_itself(
    service: str, stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted, prompts=["victim", "other"])
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    tab = open_tab(chat)
    wish = call("run_js", code=PROGRAM) if service == "js-sandbox" else call("run_command", command="echo begun; sleep 50")
    slow = text("word " * 100, tokens_per_second=10)
    exchange = api.send(chat.chat_id, Script(panes={"victim": [wish, text("after")], "other": [slow]}).message)
    victim = exchange.replies[0].reply_id
    if service == "js-sandbox":
        tab.wait(lambda view: any(part.started_at for part in view.calls_of(victim)), 15, "a running program")
    else:
        tab.wait(lambda view: any("begun" in output for output in view.outputs.values()), 15, "a running command")
    crashed = time.monotonic()
    stack.crash(service)
    tab.wait(lambda view: all(part.state != "running" for part in view.calls_of(victim)), TOLD_WITHIN_SECONDS, "the call's end")
    print(f"{service}: told after {time.monotonic() - crashed:.1f} s")
    replies = tab.wait_for_end(exchange.exchange_id, 2, 30)
    (part,) = tab.view.calls_of(victim)
    assert part.refusal is not None
    assert part.refusal.code in {"tool.effect_unknown", "tool.unavailable", "tool.failed"}
    assert part.refusal.detail
    other = next(reply for reply in replies.values() if reply.reply_id != victim)
    assert other.status == "complete"

    def every_tool_works() -> None:
        again = new_chat(scripted)
        api.change_chat(again.chat_id, policies={"run_command": "auto"})
        three = [call("write_file", path="a", content="x"), call("run_js", code="1+1"), call("run_command", command="cat a")]
        question = api.send(again.chat_id, Script([*three, text("done")]).message)
        with api.tab(again.chat_id) as fresh:
            fresh.wait_for_end(question.exchange_id, 1, 30)
        states = [entry.state for entry in api.chat(again.chat_id).exchanges[0].replies[0].parts if entry.kind == "call"]
        assert states == ["ok", "ok", "ok"]

    eventually(every_tool_works, BACK_WITHIN_SECONDS, pause=1)


def test_calls_that_begin_together_after_a_restart_of_redis_all_run(
    stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    """The first calls of a new epoch: none may void the ticket of another."""
    stack.kill("redis")
    stack.start("redis", "tool-runner")
    chat = new_chat(scripted, panes=4)
    tab = open_tab(chat)
    four = {"calls": [{"name": "write_file", "arguments": {"path": f"{number}.txt", "content": "x"}} for number in range(4)]}
    exchange = api.send(chat.chat_id, Script([four, text("done")]).message)
    tab.wait_for_end(exchange.exchange_id, 4, 30)
    replies = api.chat(chat.chat_id).exchanges[0].replies
    assert [part.state for reply in replies for part in reply.parts if part.kind == "call"] == ["ok"] * 16
