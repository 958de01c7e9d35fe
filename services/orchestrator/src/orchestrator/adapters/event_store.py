"""Keeping events: enough to resume a stream, and to rebuild the replies that a crash broke off."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from contracts.events import AnyEvent, TextDelta
from contracts.events import event as event_adapter
from orchestrator.adapters import tables

# What concerns all tabs, whatever chat they show.
GLOBAL_KINDS = ("approval_changed", "chat_changed")


@dataclass(frozen=True)
class NumberedEvent:
    """An event with its id and its JSON, made once for all who get it."""

    event_id: int
    event: AnyEvent
    document: str


def append(db: Connection, numbered: Sequence[NumberedEvent], now: int) -> None:
    """Keep events; text deltas that follow each other in one part become one row."""
    rows = [
        {
            "event_id": item.event_id,
            "chat_id": item.event.chat_id if item.event.kind != "reset" else "",
            "reply_id": _reply_id(item.event),
            "kind": item.event.kind,
            "document": item.document,
            "created_at": now,
        }
        for item in coalesce(numbered)
    ]
    if rows:
        db.execute(sa.insert(tables.events), rows)


def coalesce(numbered: Sequence[NumberedEvent]) -> list[NumberedEvent]:
    """Join each text delta to the one before it of the same part, where nothing of that reply lies between them.

    Panes stream at the same time, so the deltas of one part seldom lie side by side; the joined one takes the place
    and the id of the last.
    """
    kept: list[NumberedEvent | None] = []
    open_delta: dict[tuple[str, int], int] = {}
    for item in numbered:
        if isinstance(item.event, TextDelta):
            key = (item.event.reply_id, item.event.part)
            at = open_delta.get(key)
            before = kept[at] if at is not None else None
            if at is not None and before is not None and isinstance(before.event, TextDelta):
                joined = before.event.model_copy(update={"text": before.event.text + item.event.text})
                kept[at] = None
                item = NumberedEvent(item.event_id, joined, joined.model_dump_json())  # noqa: PLW2901 (the joined one stands for both)
            open_delta[key] = len(kept)
        else:
            reply_id = _reply_id(item.event)
            open_delta = {key: at for key, at in open_delta.items() if key[0] != reply_id}
        kept.append(item)
    return [item for item in kept if item is not None]


def after(db: Connection, chat_id: str, event_id: int, limit: int) -> list[NumberedEvent]:
    """The events of a chat, and those of all chats that concern every tab, after `event_id`."""
    query = (
        sa.select(tables.events.c.event_id, tables.events.c.document)
        .where(tables.events.c.event_id > event_id)
        .where((tables.events.c.chat_id == chat_id) | tables.events.c.kind.in_(GLOBAL_KINDS))
        .order_by(tables.events.c.event_id)
        .limit(limit)
    )
    return [NumberedEvent(number, event_adapter.validate_json(document), document) for number, document in db.execute(query)]


def of_reply(db: Connection, reply_id: str, from_id: int) -> list[AnyEvent]:
    """The events of one reply since `from_id`, for rebuilding it."""
    query = (
        sa.select(tables.events.c.document)
        .where(tables.events.c.reply_id == reply_id, tables.events.c.event_id >= from_id)
        .order_by(tables.events.c.event_id)
    )
    return [event_adapter.validate_json(document) for document in db.scalars(query)]


def last_id(db: Connection) -> int:
    """The highest id that is kept, 0 when there is none."""
    return db.scalar(sa.select(sa.func.max(tables.events.c.event_id))) or 0


def prune(db: Connection, before: int) -> int:
    """Drop events from before that time; the highest id dropped, 0 when none was."""
    old = tables.events.c.created_at < before
    highest = db.scalar(sa.select(sa.func.max(tables.events.c.event_id)).where(old)) or 0
    db.execute(sa.delete(tables.events).where(old))
    return highest


def _reply_id(event: AnyEvent) -> str | None:
    match event.kind:
        case "text_delta" | "call_changed" | "call_output":
            return event.reply_id
        case "reply_changed":
            return event.reply.reply_id
        case _:
            return None
