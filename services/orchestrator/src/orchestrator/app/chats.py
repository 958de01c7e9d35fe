"""What a person does with chats: begin, look, change, send, stop, retry, continue."""

from collections.abc import Sequence

from sqlalchemy import Connection

from contracts import api
from contracts.chats import Approval, Chat, ChatSummary, Exchange, ModelRef, Pane, PaneSettings, Reply
from contracts.events import ChatChanged, ExchangeAdded
from contracts.tickets import Policy
from contracts.tools import TOOLS
from orchestrator.adapters import store
from orchestrator.adapters.database import Database
from orchestrator.app.event_log import EventLog
from orchestrator.app.replies import Replies
from orchestrator.domain.errors import Conflict, NotFound
from orchestrator.domain.ids import new_id
from orchestrator.domain.ports import Clock

TITLE_CHARACTERS = 60


class Chats:
    """The chats of this installation."""

    def __init__(self, database: Database, events: EventLog, replies: Replies, clock: Clock) -> None:
        """All state is in the database and in `replies`."""
        self._database = database
        self._events = events
        self._replies = replies
        self._clock = clock

    async def list(self) -> tuple[ChatSummary, ...]:
        """All chats, the last changed first."""
        return await self._database.run(store.chats)

    async def create(self, new: api.NewChat) -> Chat:
        """Begin a chat, its tools at their default policies, its network switch off, its workspace empty."""
        now = self._clock()
        row = store.ChatRow(
            summary=ChatSummary(chat_id=new_id(), title=new.title, created_at=now, updated_at=now),
            workspace=new_id(),
            network=False,
            policies={tool.name: tool.default_policy for tool in TOOLS.values()},
            panes=_panes(new.panes, ()),
        )
        await self._database.run(store.add_chat, row)
        self._events.publish(ChatChanged(chat_id=row.summary.chat_id, chat=row.summary))
        return await self.get(row.summary.chat_id)

    async def get(self, chat_id: str) -> Chat:
        """A whole chat, with replies that are being written as they are at `last_event_id`."""
        async with self._replies.settling:
            row, exchanges, approvals = await self._database.run(_read, chat_id)
            exchanges = tuple(self._with_live(exchange) for exchange in exchanges)
            return Chat(
                **dict(row.summary),
                panes=row.panes,
                policies=row.policies,
                network=row.network,
                exchanges=exchanges,
                approvals=approvals,
                last_event_id=self._events.last_id,
            )

    async def change(self, chat_id: str, change: api.ChatChange) -> Chat:
        """Change title, policies, network switch or panes.

        Raises:
            NotFound: there is no such chat.
            Conflict: a policy is for a tool that does not exist, or a pane to be removed is busy.
        """
        unknown = set(change.policies or {}) - set(TOOLS)
        if unknown:
            raise Conflict(f"There is no tool named {min(unknown)!r}.")
        row = await self._row(chat_id)
        panes = row.panes if change.panes is None else _panes(change.panes, row.panes)
        removed = {pane.pane_id for pane in row.panes} - {pane.pane_id for pane in panes}
        if removed & self._replies.busy_panes(chat_id):
            raise Conflict("A pane that would be removed is writing a reply.", "Stop it first.")
        policies: dict[str, Policy] = {**row.policies, **(change.policies or {})}
        changed = store.ChatRow(
            summary=row.summary.model_copy(update={"title": change.title or row.summary.title, "updated_at": self._clock()}),
            workspace=row.workspace,
            network=row.network if change.network is None else change.network,
            policies=policies,
            panes=panes,
        )
        await self._database.run(store.save_chat, changed)
        self._events.publish(ChatChanged(chat_id=chat_id, chat=changed.summary))
        return await self.get(chat_id)

    async def delete(self, chat_id: str) -> None:
        """Stop what runs in it, then remove it."""
        await self._row(chat_id)
        await self._replies.stop_chat(chat_id)
        await self._database.run(store.delete_chat, chat_id)
        self._events.publish(ChatChanged(chat_id=chat_id, chat=None))

    async def send(self, chat_id: str, message: api.NewMessage) -> Exchange:
        """Send a message to all panes or to those named; each begins its reply at once.

        Raises:
            NotFound: there is no such chat, or no such pane in it.
            Conflict: a pane is still writing.
        """
        row = await self._row(chat_id)
        panes = _chosen(row.panes, message.pane_ids)
        if {pane.pane_id for pane in panes} & self._replies.busy_panes(chat_id):
            raise Conflict("A pane is still writing its reply.", "Wait for it, stop it, or send to the other panes.")
        history = await self._database.run(store.exchanges, chat_id)
        exchange_id = new_id()
        replies = tuple(_new_reply(exchange_id, pane.pane_id, pane.model, attempt=1) for pane in panes)
        exchange = Exchange(exchange_id=exchange_id, text=message.text, created_at=self._clock(), replies=replies)
        await self._database.run(store.add_exchange, chat_id, exchange, self._events.last_id)
        self._events.publish(ExchangeAdded(chat_id=chat_id, exchange=exchange))
        for pane, reply in zip(panes, replies, strict=True):
            self._replies.start(chat_id, pane, (*history, exchange), reply)
        if not row.summary.title:
            await self._name(row, message.text)
        return exchange

    async def stop(self, chat_id: str) -> None:
        """Stop all replies of a chat."""
        await self._row(chat_id)
        await self._replies.stop_chat(chat_id)

    async def stop_reply(self, reply_id: str) -> Reply:
        """Stop one reply; one that has ended stays as it is."""
        await self._replies.stop(reply_id)
        return (await self._stored(reply_id))[1]

    async def retry(self, reply_id: str) -> Reply:
        """Answer the same message again, in the same pane, as a new attempt.

        Raises:
            NotFound: the reply or its pane no longer exists.
            Conflict: the pane is busy, or the message is not the pane's last.
        """
        chat_id, reply = await self._stored(reply_id)
        pane, history = await self._place(chat_id, reply)
        attempts = [old.attempt for old in history[-1].replies if old.pane_id == reply.pane_id]
        again = _new_reply(reply.exchange_id, reply.pane_id, pane.model, attempt=max(attempts) + 1)
        await self._begin(chat_id, pane, history, again)
        return again

    async def go_on(self, reply_id: str) -> Reply:
        """Go on with a reply that was stopped, cut off or broken.

        Raises:
            NotFound: the reply or its pane no longer exists.
            Conflict: the pane is busy, the reply is complete, or the message is not the pane's last.
        """
        chat_id, reply = await self._stored(reply_id)
        pane, history = await self._place(chat_id, reply)
        if reply.status == "complete":
            raise Conflict("This reply is complete.", "Retry answers again.")
        again = reply.model_copy(update={"status": "queued", "error": None, "model": pane.model})
        await self._begin(chat_id, pane, history, again)
        return again

    async def _begin(self, chat_id: str, pane: Pane, history: Sequence[Exchange], reply: Reply) -> None:
        await self._database.run(store.put_reply, chat_id, reply, self._events.last_id + 1)
        self._replies.start(chat_id, pane, history, reply)

    async def _place(self, chat_id: str, reply: Reply) -> tuple[Pane, tuple[Exchange, ...]]:
        """The reply's pane, idle, and the chat's history up to the message that the reply answers."""
        row = await self._row(chat_id)
        pane = next((pane for pane in row.panes if pane.pane_id == reply.pane_id), None)
        if pane is None:
            raise NotFound("pane")
        if pane.pane_id in self._replies.busy_panes(chat_id):
            raise Conflict("This pane is still writing a reply.", "Wait for it or stop it.")
        history = await self._database.run(store.exchanges, chat_id)
        place = next(at for at, exchange in enumerate(history) if exchange.exchange_id == reply.exchange_id)
        later = [old for exchange in history[place + 1 :] for old in exchange.replies if old.pane_id == reply.pane_id]
        if later:
            raise Conflict("This pane has answered a later message.", "Only the reply to its last message can be written again.")
        return pane, history[: place + 1]

    async def _stored(self, reply_id: str) -> tuple[str, Reply]:
        async with self._replies.settling:
            found = await self._database.run(store.reply, reply_id)
            if found is None:
                raise NotFound("reply")
            return found[0], self._replies.live(reply_id) or found[1]

    async def _row(self, chat_id: str) -> store.ChatRow:
        row = await self._database.run(store.chat, chat_id)
        if row is None:
            raise NotFound("chat")
        return row

    async def _name(self, row: store.ChatRow, text: str) -> None:
        """A chat without a title takes the first line of its first message."""
        line = text.strip().splitlines()[0] if text.strip() else "Chat"
        title = line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"
        await self.change(row.summary.chat_id, api.ChatChange(title=title))

    def _with_live(self, exchange: Exchange) -> Exchange:
        return exchange.model_copy(
            update={"replies": tuple(self._replies.live(reply.reply_id) or reply for reply in exchange.replies)}
        )


def _read(db: Connection, chat_id: str) -> tuple[store.ChatRow, tuple[Exchange, ...], tuple[Approval, ...]]:
    row = store.chat(db, chat_id)
    if row is None:
        raise NotFound("chat")
    return row, store.exchanges(db, chat_id), store.pending_approvals(db, chat_id)


def _new_reply(exchange_id: str, pane_id: str, model: ModelRef, *, attempt: int) -> Reply:
    return Reply(reply_id=new_id(), exchange_id=exchange_id, pane_id=pane_id, attempt=attempt, model=model, status="queued")


def _panes(settings: Sequence[PaneSettings], old: Sequence[Pane]) -> tuple[Pane, ...]:
    """Panes with these settings; each keeps the identity of the old pane in its place."""
    ids = [old[place].pane_id if place < len(old) else new_id() for place in range(len(settings))]
    return tuple(Pane(pane_id=ids[place], position=place, **dict(setting)) for place, setting in enumerate(settings))


def _chosen(panes: Sequence[Pane], pane_ids: Sequence[str] | None) -> tuple[Pane, ...]:
    if pane_ids is None:
        return tuple(panes)
    if not set(pane_ids) <= {pane.pane_id for pane in panes}:
        raise NotFound("pane")
    return tuple(pane for pane in panes if pane.pane_id in pane_ids)
