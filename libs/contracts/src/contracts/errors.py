"""The stable codes of refusals and errors, and their form.

A code never changes its meaning; a retired one stays here with a comment. The same codes stand in the API, in what a
model is told, and in the audit log.
"""

from typing import Annotated

from pydantic import Field

from .base import Message

Code = Annotated[str, Field(pattern=r"^[a-z_]+(\.[a-z_]+)+$", max_length=64)]


class Refusal(Message):
    """Why something was not done: a stable code, a sentence for a person, and what would make it work."""

    code: Code
    detail: Annotated[str, Field(max_length=2_000)]
    hint: Annotated[str, Field(max_length=2_000)] = ""


class ErrorBody(Message):
    """The body of every answer of the API whose status is 400 or above."""

    code: Code
    detail: str
    hint: str = ""
    request_id: str = ""


# --- the gateway and egress: judged before a request reaches a route or a host ---
REQUEST_HOST = "request.host"
REQUEST_TARGET = "request.target"
REQUEST_ORIGIN = "request.origin"
REQUEST_FETCH_SITE = "request.fetch_site"
REQUEST_METHOD = "request.method"
REQUEST_CONTENT_TYPE = "request.content_type"
REQUEST_BODY = "request.body"
REQUEST_TOO_LARGE = "request.too_large"
REQUEST_NOT_FOUND = "request.not_found"
REQUEST_MALFORMED = "request.malformed"
REQUEST_TIMED_OUT = "request.timed_out"
REQUEST_TOO_MANY = "request.too_many"
SESSION_MISSING = "session.missing"
SESSION_INVALID = "session.invalid"
SESSION_EXPIRED = "session.expired"
LOGIN_CODE = "login.code"
LOGIN_TOO_MANY = "login.too_many"

# --- what is asked for is not there, or not possible now ---
NOT_FOUND = "state.not_found"
CONFLICT = "state.conflict"
CORE_UNAVAILABLE = "core.unavailable"
INTERNAL = "internal.error"

# --- policy: the decision about a tool call ---
POLICY_OFF = "policy.off"
POLICY_UNKNOWN_TOOL = "policy.unknown_tool"
POLICY_ARGUMENTS = "policy.arguments"
POLICY_TURNS = "policy.turns"
POLICY_TOO_MANY_CALLS = "policy.too_many_calls"
APPROVAL_DECLINED = "approval.declined"
APPROVAL_EXPIRED = "approval.expired"
APPROVAL_STALE = "approval.stale"
APPROVAL_MISMATCH = "approval.mismatch"

# --- tickets: what an executor checks before it acts ---
TICKET_MISSING = "ticket.missing"
TICKET_MALFORMED = "ticket.malformed"
TICKET_SIGNATURE = "ticket.signature"
TICKET_AUDIENCE = "ticket.audience"
TICKET_EXPIRED = "ticket.expired"
TICKET_EPOCH = "ticket.epoch"
TICKET_USED = "ticket.used"
TICKET_TOOL = "ticket.tool"

# --- workspace paths ---
PATH_ESCAPES = "path.escapes"
PATH_ABSOLUTE = "path.absolute"
PATH_DRIVE = "path.drive"
PATH_UNC = "path.unc"
PATH_DEVICE_NAME = "path.device_name"
PATH_STREAM = "path.stream"
PATH_TRAILING = "path.trailing"
PATH_BAD_CHARACTER = "path.bad_character"
PATH_SYMLINK = "path.symlink"
PATH_TOO_LONG = "path.too_long"
PATH_NOT_A_FILE = "path.not_a_file"
PATH_NOT_FOUND = "path.not_found"
PATH_EXISTS = "path.exists"
PATH_NOT_EMPTY = "path.not_empty"
FILE_TOO_LARGE = "file.too_large"
FILE_BINARY = "file.binary"
FILE_UNREADABLE = "file.unreadable"
QUOTA_CHAT = "quota.chat"
QUOTA_DISK = "quota.disk"

# --- addresses ---
ADDRESS_LOOPBACK = "address.loopback"
ADDRESS_UNSPECIFIED = "address.unspecified"
ADDRESS_PRIVATE = "address.private"
ADDRESS_LINK_LOCAL = "address.link_local"
ADDRESS_METADATA = "address.metadata"
ADDRESS_SHARED = "address.shared"
ADDRESS_MULTICAST = "address.multicast"
ADDRESS_RESERVED = "address.reserved"
ADDRESS_TRANSITION = "address.transition"
ADDRESS_OPERATOR = "address.operator"
ADDRESS_FAMILY = "address.family"
HOST_BLOCKED = "host.blocked"
HOST_UNRESOLVED = "host.unresolved"
HOST_UNREACHABLE = "host.unreachable"
HOST_TIMED_OUT = "host.timed_out"
URL_SCHEME = "url.scheme"
URL_MALFORMED = "url.malformed"
URL_REDIRECT = "url.redirect"
NETWORK_OFF = "network.off"
NETWORK_BUSY = "network.busy"

# --- running a tool ---
TOOL_FAILED = "tool.failed"
TOOL_STOPPED = "tool.stopped"
TOOL_TIMED_OUT = "tool.timed_out"
TOOL_UNAVAILABLE = "tool.unavailable"
TOOL_EFFECT_UNKNOWN = "tool.effect_unknown"
TOOL_BAD_RESULT = "tool.bad_result"
TOOL_RESULT_TOO_LARGE = "tool.result_too_large"
SEAL_UNAVAILABLE = "seal.unavailable"
JS_EXCEPTION = "js.exception"
JS_FORBIDDEN = "js.forbidden"
JS_TIMED_OUT = "js.timed_out"
JS_MEMORY = "js.memory"

# --- talking to a model ---
MODEL_UNREACHABLE = "model.unreachable"
MODEL_REFUSED = "model.refused"
MODEL_STREAM = "model.stream_error"
MODEL_INTERRUPTED = "model.interrupted"
MODEL_CUT_OFF = "model.cut_off"
MODEL_REDIRECT = "model.redirect"
REPLY_INTERRUPTED = "reply.interrupted"
