"""The one decision about a tool call. Panes, router and every executor ask this function; nothing else says yes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts import errors
from contracts.base import JsonObject
from contracts.errors import Refusal
from contracts.tickets import ApprovalClaim, Policy, Ticket, WorkspaceRef
from policy.canonical import canonical_hash


@dataclass(frozen=True)
class ToolCall:
    """What is to be done: a tool, its arguments, and the workspace and network it would have."""

    tool: str
    arguments: JsonObject
    workspace: WorkspaceRef
    network: bool


@dataclass(frozen=True)
class Allow:
    """It may run now; `approval_id` is the approval it runs under, if its policy asks for one."""

    approval_id: str | None = None


@dataclass(frozen=True)
class Ask:
    """It may run once a person has allowed exactly the call of this hash."""

    call_hash: str


Decision = Allow | Ask | Refusal


def decide(call: ToolCall, policies: Mapping[str, Policy], approvals: Sequence[ApprovalClaim], now: int) -> Decision:
    """Judge a call against the policies in force and the approvals that fit this call; `now` is Unix time in ms.

    A tool that no policy names is refused. Auto allows, Off refuses, Ask needs an approval that names this exact call
    and has not expired. That an approval is used only once is the caller's affair: it hands in unused ones only.

    Raises:
        policy.canonical.NotCanonical: the arguments have no canonical form.
    """
    match policies.get(call.tool):
        case None:
            return Refusal(code=errors.POLICY_UNKNOWN_TOOL, detail=f"There is no tool named {call.tool!r}.")
        case "off":
            return Refusal(
                code=errors.POLICY_OFF,
                detail=f"{call.tool} is switched off in this chat.",
                hint="A person can set it to Ask or Auto in the chat's tool policies.",
            )
        case "auto":
            return Allow()
        case "ask":
            return _approved(hash_call(call), approvals, now)


def hash_call(call: ToolCall) -> str:
    """The hash that binds an approval to a call: tool, arguments, workspace and network switch."""
    return canonical_hash(
        {
            "tool": call.tool,
            "arguments": call.arguments,
            "workspace": call.workspace.model_dump(mode="json"),
            "network": call.network,
        }
    )


def decide_ticket(ticket: Ticket, now: int) -> Decision:
    """The executor's own judgement: the same function, on what the ticket carries and nothing else."""
    call = ToolCall(ticket.tool, ticket.arguments, ticket.workspace, ticket.network.enabled)
    approvals = () if ticket.approval is None else (ticket.approval,)
    return decide(call, {ticket.tool: ticket.policy}, approvals, now)


def _approved(call_hash: str, approvals: Sequence[ApprovalClaim], now: int) -> Decision:
    fitting = [approval for approval in approvals if approval.call_hash == call_hash]
    live = [approval for approval in fitting if now < approval.expires_at]
    if live:
        return Allow(approval_id=live[0].approval_id)
    if fitting:
        return Refusal(code=errors.APPROVAL_EXPIRED, detail="The approval has expired.", hint="Ask again.")
    return Ask(call_hash)
