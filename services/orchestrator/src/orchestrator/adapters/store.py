"""Reading and writing chats. Each function takes the connection of `Database.run` and is one step of a transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from contracts.api import Provider
from contracts.chats import Approval, ChatSummary, Exchange, Pane, PaneSettings, Reply
from contracts.tickets import Policy
from orchestrator.adapters import tables

UNFINISHED = ("queued", "running", "waiting")


@dataclass(frozen=True)
class ChatRow:
    """A chat without its exchanges. `workspace` is the name of its folder and is never shown."""

    summary: ChatSummary
    workspace: str
    network: bool
    policies: dict[str, Policy]
    panes: tuple[Pane, ...]


def add_chat(db: Connection, chat: ChatRow) -> None:
    """Store a new chat with its panes."""
    summary = chat.summary
    db.execute(
        sa.insert(tables.chats).values(
            **summary.model_dump(), workspace=chat.workspace, network=chat.network, policies=chat.policies
        )
    )
    _put_panes(db, summary.chat_id, chat.panes)


def save_chat(db: Connection, chat: ChatRow) -> None:
    """Store what a person changed: title, policies, network switch, panes."""
    changes = {
        "title": chat.summary.title,
        "updated_at": chat.summary.updated_at,
        "network": chat.network,
        "policies": chat.policies,
    }
    db.execute(sa.update(tables.chats).where(tables.chats.c.chat_id == chat.summary.chat_id).values(**changes))
    db.execute(sa.delete(tables.panes).where(tables.panes.c.chat_id == chat.summary.chat_id))
    _put_panes(db, chat.summary.chat_id, chat.panes)


def delete_chat(db: Connection, chat_id: str) -> None:
    """Remove a chat and all that belongs to it; its workspace stays on the disk."""
    db.execute(sa.delete(tables.chats).where(tables.chats.c.chat_id == chat_id))
    db.execute(sa.delete(tables.events).where(tables.events.c.chat_id == chat_id))


def chat(db: Connection, chat_id: str) -> ChatRow | None:
    """One chat, or None."""
    row = db.execute(sa.select(tables.chats).where(tables.chats.c.chat_id == chat_id)).mappings().first()
    if row is None:
        return None
    panes = db.execute(
        sa.select(tables.panes).where(tables.panes.c.chat_id == chat_id).order_by(tables.panes.c.position)
    ).mappings()
    return ChatRow(
        summary=_summary(row),
        workspace=row["workspace"],
        network=row["network"],
        policies=row["policies"],
        panes=tuple(
            Pane(pane_id=pane["pane_id"], position=pane["position"], **dict(PaneSettings.model_validate(pane["settings"])))
            for pane in panes
        ),
    )


def chats(db: Connection) -> tuple[ChatSummary, ...]:
    """All chats, the last changed first."""
    rows = db.execute(sa.select(tables.chats).order_by(tables.chats.c.updated_at.desc(), tables.chats.c.chat_id)).mappings()
    return tuple(_summary(row) for row in rows)


def exchanges(db: Connection, chat_id: str) -> tuple[Exchange, ...]:
    """A chat's exchanges with all their replies, oldest first. Replies being written are as they were when they began."""
    by_exchange: dict[str, list[Reply]] = {}
    rows = db.execute(sa.select(tables.replies.c.document).where(tables.replies.c.chat_id == chat_id).order_by(sa.text("rowid")))
    for (document,) in rows:
        reply = Reply.model_validate_json(document)
        by_exchange.setdefault(reply.exchange_id, []).append(reply)
    found = db.execute(
        sa.select(tables.exchanges).where(tables.exchanges.c.chat_id == chat_id).order_by(sa.text("rowid"))
    ).mappings()
    return tuple(
        Exchange(
            exchange_id=row["exchange_id"],
            text=row["text"],
            created_at=row["created_at"],
            replies=tuple(by_exchange.get(row["exchange_id"], ())),
        )
        for row in found
    )


def add_exchange(db: Connection, chat_id: str, exchange: Exchange, first_event_id: int) -> None:
    """Store a message and its replies as they begin; the chat becomes the last changed."""
    db.execute(
        sa.insert(tables.exchanges).values(
            exchange_id=exchange.exchange_id, chat_id=chat_id, text=exchange.text, created_at=exchange.created_at
        )
    )
    for reply in exchange.replies:
        put_reply(db, chat_id, reply, first_event_id)
    db.execute(sa.update(tables.chats).where(tables.chats.c.chat_id == chat_id).values(updated_at=exchange.created_at))


def put_reply(db: Connection, chat_id: str, reply: Reply, first_event_id: int) -> None:
    """Store a reply, new or changed; `first_event_id` is where its events since then begin."""
    values = {
        "reply_id": reply.reply_id,
        "chat_id": chat_id,
        "exchange_id": reply.exchange_id,
        "pane_id": reply.pane_id,
        "attempt": reply.attempt,
        "status": reply.status,
        "document": reply.model_dump_json(),
        "first_event_id": first_event_id,
    }
    statement = sqlite_insert(tables.replies).values(**values)
    db.execute(statement.on_conflict_do_update(index_elements=["reply_id"], set_=values))


def reply(db: Connection, reply_id: str) -> tuple[str, Reply] | None:
    """A reply and the chat it belongs to, or None."""
    columns = (tables.replies.c.chat_id, tables.replies.c.document)
    row = db.execute(sa.select(*columns).where(tables.replies.c.reply_id == reply_id)).first()
    return None if row is None else (row.chat_id, Reply.model_validate_json(row.document))


def unfinished_replies(db: Connection) -> list[tuple[str, Reply, int]]:
    """What a crash left: chat, reply as it began, and the id of its first event."""
    rows = db.execute(sa.select(tables.replies).where(tables.replies.c.status.in_(UNFINISHED))).mappings()
    return [(row["chat_id"], Reply.model_validate_json(row["document"]), row["first_event_id"]) for row in rows]


def put_approval(db: Connection, approval: Approval) -> None:
    """Store an approval, new or changed."""
    values = {
        "approval_id": approval.approval_id,
        "chat_id": approval.chat_id,
        "state": approval.state,
        "document": approval.model_dump_json(),
    }
    statement = sqlite_insert(tables.approvals).values(**values)
    db.execute(statement.on_conflict_do_update(index_elements=["approval_id"], set_=values))


def approval(db: Connection, approval_id: str) -> Approval | None:
    """One approval, or None."""
    document = db.scalar(sa.select(tables.approvals.c.document).where(tables.approvals.c.approval_id == approval_id))
    return None if document is None else Approval.model_validate_json(document)


def use_approval(db: Connection, approval_id: str) -> bool:
    """Mark an allowed approval as used; False when it is not, or no longer, to be used."""
    found = approval(db, approval_id)
    if found is None or found.state != "allowed":
        return False
    put_approval(db, found.model_copy(update={"state": "used"}))
    return True


def pending_approvals(db: Connection, chat_id: str | None = None) -> tuple[Approval, ...]:
    """The approvals that wait, of one chat or of all."""
    query = sa.select(tables.approvals.c.document).where(tables.approvals.c.state == "pending").order_by(sa.text("rowid"))
    if chat_id is not None:
        query = query.where(tables.approvals.c.chat_id == chat_id)
    return tuple(Approval.model_validate_json(document) for document in db.scalars(query))


def providers(db: Connection) -> tuple[Provider, ...]:
    """The endpoints that a person added."""
    rows = db.execute(sa.select(tables.providers).order_by(sa.text("rowid"))).mappings()
    return tuple(Provider(**row) for row in rows)


def add_provider(db: Connection, provider: Provider) -> None:
    """Store an endpoint."""
    db.execute(sa.insert(tables.providers).values(**provider.model_dump(exclude={"embedded"})))


def remove_provider(db: Connection, provider_id: str) -> bool:
    """Remove an endpoint; False when there is none of that id."""
    return db.execute(sa.delete(tables.providers).where(tables.providers.c.provider_id == provider_id)).rowcount > 0


def _put_panes(db: Connection, chat_id: str, panes: Sequence[Pane]) -> None:
    rows = [
        {
            "pane_id": pane.pane_id,
            "chat_id": chat_id,
            "position": pane.position,
            "settings": pane.model_dump(mode="json", exclude={"pane_id", "position"}),
        }
        for pane in panes
    ]
    db.execute(sa.insert(tables.panes), rows)


def _summary(row: sa.RowMapping) -> ChatSummary:
    return ChatSummary(chat_id=row["chat_id"], title=row["title"], created_at=row["created_at"], updated_at=row["updated_at"])
