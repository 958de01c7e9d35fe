"""One question, four panes; tools, approvals, stop, and streams that can be left and taken up again."""

import time

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api, Refused
from harness.events import Tab
from harness.recorded import RecordedModel, Script, call, text

from contracts.chats import CallPart, ModelRef, TextPart

NAMES = ["one", "two", "three", "four"]


@pytest.mark.proves("C1", "C6")
def test_four_panes_answer_at_once_with_the_real_model(
    embedded: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(embedded, prompts=NAMES, tools=False, max_tokens=40)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, "Write about the sea.")
    replies = tab.wait_for_end(exchange.exchange_id, 4, 90)
    texts = [tab.view.text(reply.reply_id) for reply in replies.values()]
    assert all(texts), "every pane said something"
    assert len(set(texts)) > 1
    # They stream side by side: the last pane begins before the first one ends.
    times = [reply.timings for reply in replies.values()]
    assert max(timing.first_token_at or 0 for timing in times) < max(timing.ended_at or 0 for timing in times)


@pytest.mark.proves("T5")
def test_a_file_is_written_and_read_in_the_workspace(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    script = Script(
        [call("write_file", path="notes/a.txt", content="forty-two"), call("read_file", path="notes/a.txt"), text("{results}")]
    )
    exchange = api.send(chat.chat_id, script.message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    assert [part.state for part in tab.view.calls_of(reply.reply_id)] == ["ok", "ok"]
    assert "forty-two" in tab.view.text(reply.reply_id)
    assert api.file(chat.chat_id, "notes/a.txt") == b"forty-two"
    assert api.files(chat.chat_id)["notes/a.txt"] == "file"


@pytest.mark.proves("T9")
def test_run_js_computes(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, Script([call("run_js", code="[6,7].reduce((a,b)=>a*b)"), text("{results}")]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    assert "42" in tab.view.text(reply.reply_id)


@pytest.mark.proves("T1", "T7")
def test_a_command_waits_for_the_person_and_runs_as_shown(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    line = "echo made > made.txt; for i in 1 2 3; do echo tick $i; sleep 0.3; done"
    exchange = api.send(chat.chat_id, Script([call("run_command", command=line), text("{results}")]).message)
    (approval,) = tab.wait(lambda view: view.pending() or None, 15, "an approval")
    assert approval.arguments == {"command": line}
    assert "made.txt" not in api.files(chat.chat_id)
    api.decide(approval, "allow")
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    assert "tick 3" in tab.view.text(reply.reply_id)
    assert api.file(chat.chat_id, "made.txt") == b"made\n"
    live = [received for received in tab.received if received.event.kind == "call_output"]
    assert len(live) > 1, "output came while the command ran"
    with pytest.raises(Refused):
        api.decide(approval, "allow")


@pytest.mark.proves("T2")
def test_a_declined_command_does_not_run(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api, recorded_model: RecordedModel
) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    script = Script([call("run_command", command="echo x > made.txt"), text("fine")])
    exchange = api.send(chat.chat_id, script.message)
    (approval,) = tab.wait(lambda view: view.pending() or None, 15, "an approval")
    api.decide(approval, "decline")
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    (part,) = tab.view.calls_of(reply.reply_id)
    assert part.state == "declined"
    assert api.files(chat.chat_id) == {}
    told = recorded_model.requests(script)[1]["request"]["messages"][-1]
    assert "declined" in told["content"]


@pytest.mark.proves("T1")
def test_a_tool_that_is_off_is_refused(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted)
    api.change_chat(chat.chat_id, policies={"write_file": "off"})
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, Script([call("write_file", path="a", content="x"), text("ok")]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    (part,) = tab.view.calls_of(reply.reply_id)
    assert part.refusal is not None
    assert part.refusal.code == "policy.off"
    assert api.files(chat.chat_id) == {}


@pytest.mark.proves("C2")
def test_one_pane_is_stopped_and_the_others_finish(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted, prompts=NAMES)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, Script([text("word " * 60, tokens_per_second=30)]).message)
    stopped = exchange.replies[1].reply_id
    tab.wait(lambda view: all(view.text(reply.reply_id) for reply in exchange.replies), 15, "text in all panes")
    assert api.act(stopped, "stop").status == "stopped"
    tab.wait_for_end(exchange.exchange_id, 4, 30)
    statuses = [reply.status for reply in api.chat(chat.chat_id).exchanges[0].replies]
    assert statuses == ["complete", "stopped", "complete", "complete"]


@pytest.mark.proves("C7")
def test_a_stream_left_and_taken_up_again_loses_and_doubles_nothing(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted, prompts=NAMES)
    tab = open_tab(chat)
    words = " ".join(f"w{number}" for number in range(80))
    exchange = api.send(chat.chat_id, Script([text(words, tokens_per_second=60)]).message)
    for size in (60, 120, 180):
        _wait_for_text(tab, exchange.replies[0].reply_id, size)
        tab.cut()
    tab.wait_for_end(exchange.exchange_id, 4, 30)
    assert tab.connections > 2
    stored = api.chat(chat.chat_id).exchanges[0].replies
    assert [reply.parts for reply in stored] == [(TextPart(kind="text", text=words),)] * 4
    assert [tab.view.text(reply.reply_id) for reply in stored] == [words] * 4


@pytest.mark.proves("C7")
def test_a_reply_goes_on_without_any_tab(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted)
    exchange = api.send(chat.chat_id, Script([text("alone " * 20, tokens_per_second=40)]).message)
    tab = open_tab(chat)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 20).values()
    assert reply.status == "complete"


@pytest.mark.proves("C14")
def test_a_model_without_tool_calls_is_held_to_the_schema(
    embedded: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(embedded, max_tokens=60)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, "Say hello.")
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 90).values()
    assert reply.status in ("complete", "stopped")
    parts = api.chat(chat.chat_id).exchanges[0].replies[0].parts
    assert parts
    assert all(isinstance(part, CallPart) or not part.text.startswith('{"') for part in parts)


@pytest.mark.parametrize(
    ("turn", "status", "code"),
    [
        ({"status": 500}, "failed", "model.refused"),
        ({"status": 404}, "failed", "model.refused"),
        ({"text": "some words", "cut": True}, "interrupted", "model."),
        ({"raw_chunks": ['data: {"error":{"message":"overloaded"}}\n\n']}, "failed", "model.stream_error"),
    ],
    ids=["500", "404", "cut", "error event"],
)
@pytest.mark.proves("C8")
def test_a_failing_endpoint_is_told_in_its_pane(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api, turn: dict[str, object], status: str, code: str
) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, Script([turn]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    assert reply.status == status
    assert reply.error is not None
    assert reply.error.code.startswith(code)


@pytest.mark.proves("C7")
def test_five_tabs_with_four_streaming_panes_each_stay_responsive(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chats = [new_chat(scripted, prompts=NAMES) for _ in range(5)]
    tabs = [open_tab(chat) for chat in chats]
    script = Script([text(" ".join(["word"] * 100), tokens_per_second=25)])
    exchanges = [api.send(chat.chat_id, script.message) for chat in chats]
    took = [_answer_seconds(api) for _ in range(10)]
    for tab, exchange in zip(tabs, exchanges, strict=True):
        tab.wait_for_end(exchange.exchange_id, 4, 60)
    assert max(took) < 1.5, f"a request took {max(took):.2f} s while twenty panes streamed"


def _wait_for_text(tab: Tab, reply_id: str, size: int) -> None:
    tab.wait(lambda view: len(view.text(reply_id)) > size, 20, "more text")


def _answer_seconds(api: Api) -> float:
    began = time.monotonic()
    api.http.get("/api/chats").raise_for_status()
    return time.monotonic() - began
