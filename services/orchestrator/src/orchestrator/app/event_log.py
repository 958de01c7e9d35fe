"""Events: numbered, handed to whoever listens at once, and kept in batches, so that a stream can be resumed."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from contracts.events import AnyEvent, Reset
from orchestrator.adapters import event_store
from orchestrator.adapters.database import Database
from orchestrator.adapters.event_store import NumberedEvent
from orchestrator.domain.ports import Clock

log = logging.getLogger(__name__)

FLUSH_SECONDS = 0.05
REPLAY_BATCH = 1_000
MAX_BEHIND = 20_000
KEPT_MILLISECONDS = 24 * 3600 * 1000
# After a crash the last events may not have been kept; ids that a tab may have seen are never used again.
GAP_AFTER_START = 1_000_000

RESET = NumberedEvent(0, Reset(), Reset().model_dump_json())


@dataclass(eq=False)
class _Listener:
    chat_id: str
    queue: list[NumberedEvent] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    lost: bool = False

    def put(self, item: NumberedEvent) -> None:
        if len(self.queue) >= MAX_BEHIND:
            self.lost = True
        else:
            self.queue.append(item)
        self.wake.set()


class EventLog:
    """All events of all chats, in one order."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Nothing may be published before `open`."""
        self._database = database
        self._clock = clock
        self._pending: list[NumberedEvent] = []
        self._flushing = asyncio.Lock()
        self._flush_task: asyncio.Task[None] | None = None
        self._listeners: set[_Listener] = set()
        self._first_id = 0
        self._next_id = 0

    async def open(self) -> None:
        """Go on after the last id kept; drop what is older than a day."""
        last = await self._database.run(event_store.last_id)
        await self._database.run(event_store.prune, self._clock() - KEPT_MILLISECONDS)
        self._first_id = self._next_id = last + GAP_AFTER_START

    @property
    def last_id(self) -> int:
        """The id of the last event published."""
        return self._next_id - 1

    def publish(self, event: AnyEvent) -> None:
        """Number an event and hand it out; it is kept within FLUSH_SECONDS."""
        item = NumberedEvent(self._next_id, event, event.model_dump_json())
        self._next_id += 1
        self._pending.append(item)
        for listener in self._listeners:
            if event.kind in event_store.GLOBAL_KINDS or _chat_id(event) == listener.chat_id:
                listener.put(item)
        if self._flush_task is None or self._flush_task.done():
            self._flush_task = asyncio.create_task(self._flush_soon())

    async def flush(self) -> None:
        """Keep all that was published until now."""
        async with self._flushing:
            batch, self._pending = self._pending, []
            if batch:
                await self._database.run(event_store.append, batch, self._clock())

    async def stream(self, chat_id: str, after: int) -> AsyncIterator[list[NumberedEvent]]:
        """The events of a chat after that id, then those to come, in batches; `RESET` when they are no longer kept."""
        if not self._first_id - 1 <= after <= self.last_id:
            yield [RESET]
            return
        listener = _Listener(chat_id)
        self._listeners.add(listener)
        try:
            await self.flush()
            while rows := await self._database.run(event_store.after, chat_id, after, REPLAY_BATCH):
                after = rows[-1].event_id
                yield rows
            while not listener.lost:
                await listener.wake.wait()
                listener.wake.clear()
                batch, listener.queue = listener.queue, []
                new = [item for item in batch if item.event_id > after]
                if new:
                    yield new
            yield [RESET]
        finally:
            self._listeners.discard(listener)

    async def close(self) -> None:
        """Keep what is still pending."""
        await self.flush()

    async def _flush_soon(self) -> None:
        await asyncio.sleep(FLUSH_SECONDS)
        try:
            await self.flush()
        except Exception:
            log.exception("events_not_kept")


def _chat_id(event: AnyEvent) -> str | None:
    return None if event.kind == "reset" else event.chat_id
