"""One tool call, from what a model asked for to its result: judge, ask if need be, judge again, sign, run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from contracts import errors
from contracts.base import JsonObject
from contracts.chats import Approval, CallPart
from contracts.egress_log import NetworkDecision
from contracts.errors import Refusal
from contracts.tickets import ApprovalClaim, NetworkGrant, Ticket, WorkspaceRef
from contracts.tool_jobs import Output, ToolResult
from contracts.tools import TOOLS, Tool
from orchestrator.adapters import store
from orchestrator.adapters.database import Database
from orchestrator.app.approvals import APPROVAL_SECONDS, Approvals, claim
from orchestrator.app.network_log import NetworkLog
from orchestrator.domain.errors import EpochUnavailable
from orchestrator.domain.ids import new_id
from orchestrator.domain.pieces import AskedCall
from orchestrator.domain.ports import Clock, EpochSource, Executor
from orchestrator.domain.results import unavailable
from policy.canonical import NotCanonical, canonical_hash
from policy.decide import Ask, ToolCall, decide

# How long a queued call may wait for a worker before its ticket is void.
QUEUE_SECONDS = 120


@dataclass(frozen=True)
class CallContext:
    """Where a call comes from."""

    chat_id: str
    reply_id: str
    # Which response of the model, in this reply.
    turn: int


@dataclass(frozen=True)
class CallWatch:
    """Who is told of a call's progress."""

    changed: Callable[[CallPart], None]
    output: Callable[[Output], None]


class ToolCalls:
    """Every call of every pane goes through `run`."""

    def __init__(
        self,
        database: Database,
        approvals: Approvals,
        executors: Mapping[str, Executor],
        epoch: EpochSource,
        network: NetworkLog,
        clock: Clock,
    ) -> None:
        """`executors` maps an audience to whoever runs its calls."""
        self._database = database
        self._approvals = approvals
        self._executors = executors
        self._epoch = epoch
        self._network = network
        self._clock = clock

    async def run(self, asked: AskedCall, context: CallContext, watch: CallWatch) -> CallPart:
        """Run a call to its end; the part returned has ended.

        Being cancelled declines the call where it waits, and stops it where it runs.
        """
        part = begun(asked, context)
        watch.changed(part)
        try:
            part = await self._judge_and_run(asked, part, context, watch)
        except NotCanonical as exc:
            part = refused(part, Refusal(code=errors.POLICY_ARGUMENTS, detail=f"The arguments cannot be signed: {exc}"))
        part = part.model_copy(update={"ended_at": self._clock()})
        watch.changed(part)
        return part

    async def _judge_and_run(self, asked: AskedCall, part: CallPart, context: CallContext, watch: CallWatch) -> CallPart:
        tool = TOOLS.get(asked.name)
        problem = check_arguments(tool, asked)
        chat = await self._database.run(store.chat, context.chat_id)
        if chat is None:
            return refused(part, Refusal(code=errors.NOT_FOUND, detail="The chat was deleted."))
        call = ToolCall(asked.name, part.arguments, WorkspaceRef(name=chat.workspace), chat.network)
        decision = decide(call, chat.policies, (), self._clock())
        # A call that policy refuses is refused for that, whatever its arguments are like.
        if not isinstance(decision, Refusal) and problem is not None:
            return refused(part, problem)
        approval: Approval | None = None
        if isinstance(decision, Ask):
            approval = await self._ask(part, call, context, watch, decision.call_hash)
            part = part.model_copy(update={"approval_id": approval.approval_id})
            if approval.state != "allowed":
                return not_allowed(part, approval)
            # Policies may have changed while the call waited: decide afresh, with the approval.
            chat = await self._database.run(store.chat, context.chat_id) or chat
            call = ToolCall(asked.name, part.arguments, WorkspaceRef(name=chat.workspace), chat.network)
            decision = decide(call, chat.policies, (claim(approval),), self._clock())
        if isinstance(decision, Refusal):
            return refused(part, decision)
        if isinstance(decision, Ask):
            return refused(
                part,
                Refusal(code=errors.APPROVAL_MISMATCH, detail="What would run is no longer what was shown.", hint="Ask again."),
            )
        assert tool is not None  # noqa: S101 (policies name no tool that is not in TOOLS; check_arguments has refused it)
        return await self._execute(tool, part, call, context, watch, chat, approval if decision.approval_id else None)

    async def _ask(self, part: CallPart, call: ToolCall, context: CallContext, watch: CallWatch, call_hash: str) -> Approval:
        now = self._clock()
        approval = Approval(
            approval_id=new_id(),
            chat_id=context.chat_id,
            reply_id=context.reply_id,
            call_id=part.call_id,
            tool=call.tool,
            arguments=call.arguments,
            call_hash=call_hash,
            network=call.network,
            created_at=now,
            expires_at=now + APPROVAL_SECONDS * 1000,
            state="pending",
        )
        watch.changed(part.model_copy(update={"state": "waiting", "approval_id": approval.approval_id}))
        return await self._approvals.ask(approval)

    async def _execute(
        self,
        tool: Tool,
        part: CallPart,
        call: ToolCall,
        context: CallContext,
        watch: CallWatch,
        chat: store.ChatRow,
        approval: Approval | None,
    ) -> CallPart:
        approved: ApprovalClaim | None = None
        if approval is not None:
            taken = await self._approvals.use(approval)
            if isinstance(taken, Refusal):
                return refused(part, taken)
            approved = taken
        part = part.model_copy(update={"state": "running", "started_at": self._clock()})
        watch.changed(part)
        try:
            epoch = await self._epoch.current()
        except EpochUnavailable:
            return ended(part, unavailable("redis"))
        now = self._clock()
        ticket = Ticket(
            audience=tool.audience,
            call_id=part.call_id,
            chat_id=context.chat_id,
            tool=tool.name,
            arguments=call.arguments,
            workspace=call.workspace,
            policy=chat.policies[tool.name],
            policy_hash=canonical_hash(dict(chat.policies)),
            approval=approved,
            network=NetworkGrant(enabled=call.network),
            stream=new_id(),
            nonce=new_id(),
            epoch=epoch,
            issued_at=now,
            deadline=now + int((QUEUE_SECONDS + tool.timeout_seconds) * 1000),
            timeout_seconds=tool.timeout_seconds,
        )
        seen: list[NetworkDecision] = []

        def asked_network(decision: NetworkDecision) -> None:
            seen.append(decision)
            watch.changed(part.model_copy(update={"network": tuple(seen)}))

        self._network.open(part.call_id, asked_network)
        try:
            result = await self._executors[tool.audience].run(tool, ticket, watch.output)
        finally:
            self._network.close(part.call_id)
        outside = call.network and tool.queue in ("commands", "fetch")
        return ended(part.model_copy(update={"network": tuple(seen), "outside": outside}), result)


def check_arguments(tool: Tool | None, asked: AskedCall) -> Refusal | None:
    """Whether the arguments are what the tool takes; None when they are."""
    if tool is None:
        return Refusal(code=errors.POLICY_UNKNOWN_TOOL, detail=f"There is no tool named {asked.name!r}.")
    if asked.arguments is None:
        return Refusal(code=errors.POLICY_ARGUMENTS, detail=asked.problem, hint="Send one JSON object with the tool's arguments.")
    try:
        tool.arguments.model_validate(asked.arguments)
    except ValidationError as exc:
        return Refusal(
            code=errors.POLICY_ARGUMENTS, detail=describe(exc), hint=f"Arguments of {tool.name}: {_names(tool.schema())}."
        )
    return None


def describe(exc: ValidationError) -> str:
    """What is wrong with a message, in one line, without repeating its content."""
    problems = [f"{'.'.join(str(step) for step in error['loc']) or 'body'}: {error['msg']}" for error in exc.errors()[:5]]
    return "; ".join(problems)[:1_000]


def begun(asked: AskedCall, context: CallContext) -> CallPart:
    """The call as it is shown first."""
    name, arguments = asked.name[:200] or "?", asked.arguments or {}
    return CallPart(call_id=new_id(), turn=context.turn, tool=name, arguments=arguments, state="running")


def refused(part: CallPart, refusal: Refusal) -> CallPart:
    """The call was refused and not run."""
    return part.model_copy(update={"state": "refused", "refusal": refusal})


def not_allowed(part: CallPart, approval: Approval) -> CallPart:
    """A person declined the call, or nobody answered in time."""
    if approval.state == "declined":
        refusal = Refusal(code=errors.APPROVAL_DECLINED, detail="The person declined this call.")
        return part.model_copy(update={"state": "declined", "refusal": refusal})
    return refused(part, Refusal(code=errors.APPROVAL_EXPIRED, detail="Nobody answered in time.", hint="Ask again."))


def ended(part: CallPart, result: ToolResult) -> CallPart:
    """The call ran, or was refused by whoever was to run it."""
    return part.model_copy(
        update={
            "state": result.outcome,
            "content": result.content,
            "data": result.data,
            "refusal": result.refusal,
            "truncated": result.truncated,
        }
    )


def _names(schema: JsonObject) -> str:
    return ", ".join(schema.get("properties", {}))
