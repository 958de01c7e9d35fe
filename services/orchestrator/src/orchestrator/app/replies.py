"""Writing replies: one task for each, independent of any browser. A reply ends complete, stopped, failed or interrupted."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from contracts import errors
from contracts.chats import CallPart, Exchange, Pane, Reply, ReplyStatus, Usage
from contracts.errors import Refusal
from contracts.events import CallOutput
from contracts.tickets import Policy
from contracts.tool_jobs import Output
from contracts.tools import TOOLS, Tool
from orchestrator.adapters import event_store, store
from orchestrator.adapters.database import Database
from orchestrator.app.calls import CallContext, CallWatch, ToolCalls, begun, refused
from orchestrator.app.event_log import EventLog
from orchestrator.app.providers import Providers
from orchestrator.domain.conversation import conversation
from orchestrator.domain.draft import ReplyDraft, fold
from orchestrator.domain.errors import CoreError
from orchestrator.domain.pieces import AskedCall, TextPiece, TurnEnd
from orchestrator.domain.ports import Clock, ModelRequest

log = logging.getLogger(__name__)

# Hard caps of one reply, whatever the model says.
MAX_TURNS = 25
MAX_CALLS_IN_TURN = 8
# How long Stop waits until nothing of the reply is alive.
STOP_SECONDS = 7.0

INTERRUPTED = Refusal(
    code=errors.REPLY_INTERRUPTED,
    detail="Switchbox stopped while this reply was being written.",
    hint="Continue goes on from here.",
)

CUT_OFF = Refusal(
    code=errors.MODEL_CUT_OFF,
    detail="The reply reached its limit of tokens.",
    hint="Continue goes on from here; the pane's settings hold the limit.",
)


@dataclass
class _Live:
    draft: ReplyDraft
    task: asyncio.Task[None]


class Replies:
    """The replies being written now."""

    def __init__(self, database: Database, events: EventLog, calls: ToolCalls, providers: Providers, clock: Clock) -> None:
        """Nothing is written before `start`."""
        self._database = database
        self._events = events
        self._calls = calls
        self._providers = providers
        self._clock = clock
        self._live: dict[str, _Live] = {}
        self._closing = False
        # Held while a reply moves from memory to the store, and while a chat is read from both.
        self.settling = asyncio.Lock()

    def start(self, chat_id: str, pane: Pane, history: Sequence[Exchange], reply: Reply) -> None:
        """Begin, or go on with, a reply that is already stored. `history` ends with the exchange it answers."""
        draft = ReplyDraft(chat_id, reply)
        task = asyncio.create_task(self._write(draft, pane, history), name=f"reply-{reply.reply_id}")
        self._live[reply.reply_id] = _Live(draft, task)

    def live(self, reply_id: str) -> Reply | None:
        """A reply that is being written, as it is now."""
        live = self._live.get(reply_id)
        return None if live is None else live.draft.reply()

    def busy_panes(self, chat_id: str) -> frozenset[str]:
        """The panes of a chat in which a reply is being written."""
        return frozenset(live.draft.pane_id for live in self._live.values() if live.draft.chat_id == chat_id)

    async def stop(self, reply_id: str) -> None:
        """Stop a reply at whatever stage it is, and wait until it has ended."""
        live = self._live.get(reply_id)
        if live is None:
            return
        live.task.cancel()
        await asyncio.wait({live.task}, timeout=STOP_SECONDS)

    async def stop_chat(self, chat_id: str) -> None:
        """Stop all replies of a chat."""
        mine = [reply_id for reply_id, live in self._live.items() if live.draft.chat_id == chat_id]
        await asyncio.gather(*(self.stop(reply_id) for reply_id in mine))

    async def stop_all(self) -> None:
        """Stop everything: the core is going down. The replies are marked interrupted, not stopped."""
        self._closing = True
        await asyncio.gather(*(self.stop(reply_id) for reply_id in list(self._live)))

    async def recover(self) -> None:
        """Mark what a crash broke off as interrupted, with the text and calls that were kept."""
        for chat_id, stored, first_event_id in await self._database.run(store.unfinished_replies):
            kept = await self._database.run(event_store.of_reply, stored.reply_id, first_event_id)
            draft = fold(chat_id, stored, kept)
            _interrupt_calls(draft, self._clock())
            draft.change(status="interrupted", error=INTERRUPTED)
            await self._database.run(store.put_reply, chat_id, draft.reply(), 0)
            log.info("reply_recovered reply_id=%s", stored.reply_id)

    async def _write(self, draft: ReplyDraft, pane: Pane, history: Sequence[Exchange]) -> None:
        status: ReplyStatus
        error: Refusal | None = None
        self._publish_start(draft)
        try:
            status, error = await self._turns(draft, pane, history)
        except asyncio.CancelledError:
            status, error = ("interrupted", INTERRUPTED) if self._closing else ("stopped", None)
        except CoreError as exc:
            status, error = ("interrupted" if draft.parts() else "failed"), exc.refusal
        except Exception:
            log.exception("reply_failed reply_id=%s", draft.reply_id)
            status, error = (
                "failed",
                Refusal(
                    code=errors.INTERNAL,
                    detail="Something unexpected went wrong in the core.",
                    hint="Retry; the core's log has more.",
                ),
            )
        await asyncio.shield(self._settle(draft, status, error))

    async def _settle(self, draft: ReplyDraft, status: ReplyStatus, error: Refusal | None) -> None:
        timings = draft.timings.model_copy(update={"ended_at": self._clock()})
        async with self.settling:
            event = draft.change(status=status, error=error, timings=timings)
            await self._database.run(store.put_reply, draft.chat_id, draft.reply(), 0)
            self._live.pop(draft.reply_id, None)
            self._events.publish(event)

    async def _turns(self, draft: ReplyDraft, pane: Pane, history: Sequence[Exchange]) -> tuple[ReplyStatus, Refusal | None]:
        endpoint = await self._providers.endpoint(pane.model.provider_id)
        resume = bool(draft.parts())
        for _ in range(MAX_TURNS):
            request = ModelRequest(
                model=pane.model.model,
                talk=conversation(pane.system_prompt, history, pane.pane_id, draft.parts(), resume=resume),
                tools=await self._offered(draft.chat_id) if pane.tools and endpoint.tool_calls != "none" else (),
                temperature=pane.temperature,
                top_p=pane.top_p,
                max_tokens=pane.max_tokens or endpoint.default_max_tokens,
            )
            resume = False
            end = await self._respond(draft, endpoint.stream(request))
            if end.interrupted:
                return "interrupted", Refusal(
                    code=errors.MODEL_INTERRUPTED,
                    detail="The endpoint closed the connection before the reply was complete.",
                    hint="Continue goes on from here.",
                )
            if end.cut_off:
                return "stopped", CUT_OFF
            if not end.calls:
                return "complete", None
            await self._run_calls(draft, end.calls)
        return "stopped", Refusal(
            code=errors.POLICY_TURNS,
            detail=f"The reply was stopped after {MAX_TURNS} responses of the model.",
            hint="Continue goes on from here.",
        )

    async def _respond(self, draft: ReplyDraft, pieces: AsyncIterator[TextPiece | TurnEnd]) -> TurnEnd:
        async with contextlib.aclosing(pieces) as stream:  # type: ignore[type-var]  # endpoints are async generators
            async for piece in stream:
                if isinstance(piece, TurnEnd):
                    self._add_usage(draft, piece.usage)
                    return piece
                if draft.timings.first_token_at is None:
                    draft.change(timings=draft.timings.model_copy(update={"first_token_at": self._clock()}))
                self._events.publish(draft.add_text(piece.channel, piece.text))
        return TurnEnd(interrupted=True)

    async def _run_calls(self, draft: ReplyDraft, asked: Sequence[AskedCall]) -> None:
        """Run the calls of one response side by side; those beyond the cap are refused."""
        context = CallContext(draft.chat_id, draft.reply_id, draft.next_turn())
        for call in asked[MAX_CALLS_IN_TURN:]:
            refusal = Refusal(
                code=errors.POLICY_TOO_MANY_CALLS, detail=f"At most {MAX_CALLS_IN_TURN} calls in one response are run."
            )
            self._show(draft, refused(begun(call, context), refusal))
        async with asyncio.TaskGroup() as group:
            for call in asked[:MAX_CALLS_IN_TURN]:
                group.create_task(self._run_call(draft, call, context))

    async def _run_call(self, draft: ReplyDraft, asked: AskedCall, context: CallContext) -> None:
        offsets = {"stdout": 0, "stderr": 0}
        latest: list[CallPart] = []

        def changed(part: CallPart) -> None:
            latest[:] = [part]
            self._show(draft, part)

        def output(piece: Output) -> None:
            offset = offsets[piece.stream]
            offsets[piece.stream] += len(piece.text)
            self._events.publish(
                CallOutput(
                    chat_id=draft.chat_id,
                    reply_id=draft.reply_id,
                    call_id=latest[0].call_id,
                    stream=piece.stream,
                    offset=offset,
                    text=piece.text,
                )
            )

        try:
            await self._calls.run(asked, context, CallWatch(changed, output))
        except asyncio.CancelledError:
            for call in draft.open_calls():
                if latest and call.call_id == latest[0].call_id:
                    self._show(draft, _stopped(call, self._clock()))
            raise

    def _show(self, draft: ReplyDraft, part: CallPart) -> None:
        event = draft.set_call(part)
        self._events.publish(event)
        status: ReplyStatus = "waiting" if any(call.state == "waiting" for call in draft.open_calls()) else "running"
        if status != draft.status:
            self._events.publish(draft.change(status=status))

    async def _offered(self, chat_id: str) -> tuple[Tool, ...]:
        """The tools that are not Off: leaving the others out is comfort, `decide` is the guard."""
        chat = await self._database.run(store.chat, chat_id)
        policies: dict[str, Policy] = {} if chat is None else chat.policies
        return tuple(tool for name, tool in TOOLS.items() if policies.get(name, "off") != "off")

    def _publish_start(self, draft: ReplyDraft) -> None:
        timings = draft.timings
        started = timings if timings.started_at is not None else timings.model_copy(update={"started_at": self._clock()})
        self._events.publish(draft.change(status="running", timings=started))

    def _add_usage(self, draft: ReplyDraft, usage: Usage) -> None:
        """Tokens of all responses together; unknown stays unknown."""
        before = draft.usage
        draft.change(
            usage=Usage(
                input_tokens=_sum(before.input_tokens, usage.input_tokens),
                output_tokens=_sum(before.output_tokens, usage.output_tokens),
            )
        )


def _sum(first: int | None, second: int | None) -> int | None:
    return (first or 0) + (second or 0) if first is not None or second is not None else None


def _interrupt_calls(draft: ReplyDraft, now: int) -> None:
    for call in draft.open_calls():
        draft.set_call(_effect_unknown(call, now))


def _stopped(call: CallPart, now: int) -> CallPart:
    """An open call of a reply that was stopped: declined where it waited, stopped where it ran."""
    refusal = Refusal(code=errors.TOOL_STOPPED, detail="The reply was stopped.")
    return call.model_copy(
        update={"state": "declined" if call.state == "waiting" else "stopped", "refusal": refusal, "ended_at": now}
    )


def _effect_unknown(call: CallPart, now: int) -> CallPart:
    if call.state == "waiting":
        refusal = Refusal(code=errors.APPROVAL_STALE, detail="Switchbox stopped while this call waited; it was not run.")
        return call.model_copy(update={"state": "declined", "refusal": refusal, "ended_at": now})
    refusal = Refusal(
        code=errors.TOOL_EFFECT_UNKNOWN,
        detail="Switchbox stopped while this call ran. Whether it took effect is not known.",
        hint="Look at the workspace before you repeat it.",
    )
    return call.model_copy(update={"state": "failed", "refusal": refusal, "ended_at": now})
