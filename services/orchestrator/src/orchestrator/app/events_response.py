"""Events as Server-Sent Events (WHATWG HTML, 9.2), with a heartbeat so that dead connections are noticed."""

import asyncio
from collections.abc import AsyncIterator

from orchestrator.adapters.event_store import NumberedEvent

HEARTBEAT_SECONDS = 10.0
HEARTBEAT = b": alive\n\n"


async def server_sent_events(batches: AsyncIterator[list[NumberedEvent]]) -> AsyncIterator[bytes]:
    """The bytes of a stream: each batch at once, a comment where nothing came for HEARTBEAT_SECONDS."""
    yield HEARTBEAT
    pending: asyncio.Task[list[NumberedEvent]] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(batches))
            done, _ = await asyncio.wait({pending}, timeout=HEARTBEAT_SECONDS)
            if not done:
                yield HEARTBEAT
                continue
            try:
                batch = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield b"".join(_frame(item) for item in batch)
    finally:
        if pending is not None:
            pending.cancel()


def _frame(item: NumberedEvent) -> bytes:
    number = f"id: {item.event_id}\n" if item.event_id else ""
    return f"{number}data: {item.document}\n\n".encode()
