"""Five tabs with four streaming panes each: every word is on the screen's side of the stack soon after it was said."""

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api
from harness.recorded import Script, text

from contracts import events
from contracts.chats import ModelRef

TABS, PANES = 5, 4
WORDS, WORDS_PER_SECOND = 150, 20
# What a person does not notice, with room for a slow machine; the worst word may take longer than most.
USUAL_LAG_SECONDS, WORST_LAG_SECONDS = 0.5, 2.0


@pytest.mark.proves("C7")
def test_words_reach_five_tabs_of_four_panes_without_delay(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chats = [new_chat(scripted, panes=PANES) for _ in range(TABS)]
    tabs = [open_tab(chat) for chat in chats]
    # Each word is the time at which the model sent it.
    script = Script([text("{now} " * WORDS, tokens_per_second=WORDS_PER_SECOND)])
    exchanges = [api.send(chat.chat_id, script.message) for chat in chats]
    for tab, exchange in zip(tabs, exchanges, strict=True):
        replies = tab.wait_for_end(exchange.exchange_id, PANES, 60)
        assert {reply.status for reply in replies.values()} == {"complete"}
    lags = sorted(
        received.at - float(received.event.text.split()[-1])
        for tab in tabs
        for received in tab.received
        if isinstance(received.event, events.TextDelta) and received.event.text.endswith(" ")
    )
    assert len(lags) > TABS * PANES * WORDS / 4, "most words came as events of their own or joined to a few"
    usual, worst = lags[int(len(lags) * 0.95)], lags[-1]
    print(f"lag of {len(lags)} pieces: p50 {lags[len(lags) // 2]:.3f} s, p95 {usual:.3f} s, worst {worst:.3f} s")
    assert usual < USUAL_LAG_SECONDS
    assert worst < WORST_LAG_SECONDS
