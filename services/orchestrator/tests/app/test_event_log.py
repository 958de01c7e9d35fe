"""A stream can be left and taken up again at any id without losing or doubling a character."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from world import world

from contracts.events import ReplyChanged, TextDelta
from orchestrator.adapters.event_store import NumberedEvent, coalesce
from orchestrator.app.event_log import EventLog

CHAT, REPLY, OTHER = "c" * 32, "a" * 32, "b" * 32


def delta(reply_id: str, offset: int, text: str) -> TextDelta:
    """Text of part 0."""
    return TextDelta(chat_id=CHAT, reply_id=reply_id, part=0, channel="text", offset=offset, text=text)


def folded(events: list[TextDelta], texts: dict[str, str]) -> dict[str, str]:
    """What a tab that has `texts` shows after these events."""
    for event in events:
        before = texts.get(event.reply_id, "")
        texts[event.reply_id] = before + event.text[max(0, len(before) - event.offset) :]
    return texts


@given(st.lists(st.sampled_from([REPLY, OTHER]), min_size=1, max_size=30), st.integers(0, 30))
def test_coalesced_deltas_complete_a_tab_that_saw_any_part_of_them(order: list[str], seen: int) -> None:
    lengths = {REPLY: 0, OTHER: 0}
    numbered = []
    for number, reply_id in enumerate(order, start=1):
        event = delta(reply_id, lengths[reply_id], str(number % 10))
        lengths[reply_id] += 1
        numbered.append(NumberedEvent(number, event, event.model_dump_json()))
    whole = folded([item.event for item in numbered], {})
    shown = folded([item.event for item in numbered[:seen]], {})
    kept = coalesce(numbered)
    assert len(kept) <= 2
    assert folded([item.event for item in kept if item.event_id > seen], shown) == whole


async def first(log: EventLog, after: int) -> list[NumberedEvent]:
    """The first batch of a stream."""
    stream = log.stream(CHAT, after)
    async with asyncio.timeout(5):
        batch = await anext(stream)
    await stream.aclose()
    return batch


@settings(deadline=None, max_examples=5)
@given(st.integers(1, 20))
def test_a_stream_resumes_after_the_id_it_is_given(count: int) -> None:
    async def scene(folder: Path) -> None:
        async with world(folder) as core:
            start = core.events.last_id
            for number in range(count):
                core.events.publish(delta(REPLY, number, "x"))
            (joined,) = await first(core.events, start)
            assert joined.event == delta(REPLY, 0, "x" * count)
            assert joined.event_id == core.events.last_id

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scene(Path(folder)))


def test_live_events_follow_without_a_gap(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core:
            stream = core.events.stream(CHAT, core.events.last_id)
            task = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0.02)
            core.events.publish(delta(REPLY, 0, "now"))
            async with asyncio.timeout(5):
                (item,) = await task
            assert item.event == delta(REPLY, 0, "now")
            await stream.aclose()

    asyncio.run(scene())


def test_an_id_of_another_life_is_told_to_load_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core:
            for after in (0, core.events.last_id + 5):
                (item,) = await first(core.events, after)
                assert item.event.kind == "reset"

    asyncio.run(scene())


def test_ids_that_a_tab_may_have_seen_are_never_used_again(tmp_path: Path) -> None:
    async def scene() -> int:
        async with world(tmp_path) as core:
            core.events.publish(delta(REPLY, 0, "x"))
            return core.events.last_id

    seen = asyncio.run(scene())
    assert asyncio.run(scene()) > seen


def test_events_of_other_chats_are_not_shown(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core:
            start = core.events.last_id
            core.events.publish(delta(OTHER, 0, "x").model_copy(update={"chat_id": "e" * 32}))
            core.events.publish(delta(REPLY, 0, "mine"))
            (item,) = await first(core.events, start)
            assert not isinstance(item.event, ReplyChanged)
            assert item.event == delta(REPLY, 0, "mine")

    asyncio.run(scene())
