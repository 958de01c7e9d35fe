"""The core with its real database, events and use cases; only the executors are replaced, by one that a test steers."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from contracts import api
from contracts.chats import Approval, Chat, ModelRef, PaneSettings, Reply
from contracts.tickets import Ticket
from contracts.tool_jobs import ToolResult
from contracts.tools import Tool
from orchestrator.adapters.database import Database
from orchestrator.app.approvals import Approvals
from orchestrator.app.calls import ToolCalls
from orchestrator.app.chats import Chats
from orchestrator.app.event_log import EventLog
from orchestrator.app.network_log import NetworkLog
from orchestrator.app.providers import Providers
from orchestrator.app.replies import Replies
from orchestrator.domain.ports import OnOutput


@dataclass
class SteeredExecutor:
    """Takes the tickets it is given; answers `result`, or waits for ever when there is none."""

    result: ToolResult | None = field(default_factory=lambda: ToolResult(outcome="ok", content="done"))
    tickets: list[Ticket] = field(default_factory=list)
    stopped: int = 0

    async def run(self, _tool: Tool, ticket: Ticket, _on_output: OnOutput) -> ToolResult:
        """See `Executor.run`."""
        self.tickets.append(ticket)
        try:
            return self.result or await asyncio.Event().wait() or ToolResult(outcome="failed")
        except asyncio.CancelledError:
            self.stopped += 1
            raise


class FixedEpoch:
    """One epoch for ever."""

    async def current(self) -> int:
        """See `EpochSource.current`."""
        return 1


@dataclass
class World:
    """What a test steers and looks at."""

    database: Database
    events: EventLog
    chats: Chats
    replies: Replies
    approvals: Approvals
    providers: Providers
    executor: SteeredExecutor

    async def chat(self, url: str, panes: int = 1, **policies: str) -> Chat:
        """A chat whose panes all ask the endpoint at `url`."""
        provider = await self.providers.add(api.NewProvider(name="scripted", base_url=url))
        pane = PaneSettings(model=ModelRef(provider_id=provider.provider_id, model="m"))
        chat = await self.chats.create(api.NewChat(panes=(pane,) * panes))
        return await self.chats.change(chat.chat_id, api.ChatChange(policies=policies)) if policies else chat

    async def ask(self, chat: Chat, text: str = "hello") -> Reply:
        """Send a message and wait for the first pane's reply to end."""
        exchange = await self.chats.send(chat.chat_id, api.NewMessage(text=text))
        return await self.ended(chat.chat_id, exchange.replies[0].reply_id)

    async def reply(self, chat_id: str, reply_id: str) -> Reply:
        """The reply as the chat shows it now."""
        chat = await self.chats.get(chat_id)
        return next(reply for exchange in chat.exchanges for reply in exchange.replies if reply.reply_id == reply_id)

    async def ended(self, chat_id: str, reply_id: str) -> Reply:
        """The reply once it has ended."""
        return await until(
            lambda: self.reply(chat_id, reply_id), lambda reply: reply.status not in ("queued", "running", "waiting")
        )

    async def pending(self, chat_id: str) -> Approval:
        """The one approval that waits, once it does."""
        chat = await until(lambda: self.chats.get(chat_id), lambda chat: bool(chat.approvals))
        (approval,) = chat.approvals
        return approval


async def until[T](look: Callable[[], Awaitable[T]], good: Callable[[T], bool]) -> T:
    """Look again until it is good, for five seconds at most."""
    async with asyncio.timeout(5):
        while not good(value := await look()):
            await asyncio.sleep(0.005)
        return value


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    """A core whose data lies in `folder`; it is shut down at the end."""
    ticks = itertools.count(1_700_000_000_000)
    clock = lambda: next(ticks)  # noqa: E731 (a clock that never stands still)
    database = Database(folder / "switchbox.db")
    events = EventLog(database, clock)
    approvals = Approvals(database, events, clock)
    providers = Providers(database, "http://127.0.0.1:1/v1")
    executor = SteeredExecutor()
    executors = {"tool-runner": executor, "js-sandbox": executor}
    calls = ToolCalls(database, approvals, executors, FixedEpoch(), NetworkLog(), clock)
    replies = Replies(database, events, calls, providers, clock)
    chats = Chats(database, events, replies, clock)
    await database.open()
    await events.open()
    await replies.recover()
    await approvals.end_stale()
    try:
        yield World(database, events, chats, replies, approvals, providers, executor)
    finally:
        await replies.stop_all()
        await events.close()
        await providers.close()
        await database.close()
