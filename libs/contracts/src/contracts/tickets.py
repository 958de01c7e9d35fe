"""Tickets: the orchestrator's signed word that one call may run, and what an executor learns from it.

On the wire a ticket is `base64url(payload) "." base64url(signature)`, both without padding. The payload is the JSON
of `Ticket`; the Ed25519 signature (RFC 8032) is over `SIGNING_CONTEXT + payload`, so that the same key can never
have signed anything else of that form.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import Id, JsonObject, Message, Sha256, ToolName, UnixMilliseconds

SIGNING_CONTEXT = b"switchbox-ticket-v1\n"

# A ticket carries the arguments of its call: a file to be written is the largest of them.
MAX_TICKET_BYTES = 32 * 1024 * 1024

Audience = Literal["tool-runner", "command-box", "js-sandbox", "egress"]
Policy = Literal["auto", "ask", "off"]


class WorkspaceRef(Message):
    """The folder a call may use: `chats/<name>` below the workspaces' root, its name 128 random bits."""

    kind: Literal["chat"] = "chat"
    name: Id


class AllowedHost(Message):
    """An exact host and port that a person allowed although the address judge refuses it, with its address pinned."""

    host: Annotated[str, Field(min_length=1, max_length=253)]
    port: Annotated[int, Field(ge=1, le=65_535)]
    address: Annotated[str, Field(max_length=45)]


class NetworkGrant(Message):
    """What a call may reach through egress: nothing, or public addresses and what a person allowed."""

    enabled: bool = False
    allowed_hosts: Annotated[tuple[AllowedHost, ...], Field(max_length=64)] = ()


class ApprovalClaim(Message):
    """The approval a call runs under: it names the exact call by its hash and ends at a time."""

    approval_id: Id
    call_hash: Sha256
    expires_at: UnixMilliseconds


class Ticket(Message):
    """One call, for one executor, once, until a deadline.

    `policy` is the chat's policy for this tool at the moment of the call; an executor runs `decide` on it again.
    `epoch` is the Unix time in milliseconds at which the orchestrator last found Redis empty: a ticket of an earlier
    epoch is void. `stream` is the Redis stream that takes the call's output and result. A ticket for egress is a
    credential: it may be shown many times until its deadline, and carries no arguments.
    """

    kind: Literal["ticket"] = "ticket"
    audience: Audience
    call_id: Id
    chat_id: Id
    tool: ToolName
    arguments: JsonObject
    workspace: WorkspaceRef
    policy: Policy
    policy_hash: Sha256
    approval: ApprovalClaim | None = None
    network: NetworkGrant = NetworkGrant()
    stream: Id
    nonce: Id
    epoch: UnixMilliseconds
    issued_at: UnixMilliseconds
    deadline: UnixMilliseconds
    timeout_seconds: Annotated[float, Field(gt=0, le=600)]
