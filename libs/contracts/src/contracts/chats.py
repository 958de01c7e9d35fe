"""Chats as the browser sees them: panes, exchanges, replies and the parts a reply is made of."""

from typing import Annotated, Literal

from pydantic import Field

from .base import Id, JsonObject, Message, Sha256, ToolName, UnixMilliseconds
from .egress_log import NetworkDecision
from .errors import Refusal
from .tickets import Policy

MAX_PANES = 4
MAX_MESSAGE_CHARACTERS = 400_000
MAX_SYSTEM_PROMPT_CHARACTERS = 100_000

ModelId = Annotated[str, Field(min_length=1, max_length=200)]
ReplyStatus = Literal["queued", "running", "waiting", "complete", "stopped", "interrupted", "failed"]
CallState = Literal["waiting", "running", "ok", "refused", "declined", "failed", "stopped", "timed_out"]


class ModelRef(Message):
    """A model of a provider."""

    provider_id: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]
    model: ModelId


class PaneSettings(Message):
    """What a person sets for one pane. `tools` false leaves all tools out of this pane's requests."""

    model: ModelRef
    system_prompt: Annotated[str, Field(max_length=MAX_SYSTEM_PROMPT_CHARACTERS)] = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    tools: bool = True


class Pane(PaneSettings):
    """A pane of a chat; its place (0 to 3, from the left) is `position`."""

    pane_id: Id
    position: Annotated[int, Field(ge=0, lt=MAX_PANES)]


class TextPart(Message):
    """Text of the model, or its reasoning where it gives some."""

    kind: Literal["text", "reasoning"]
    text: str


class CallPart(Message):
    """A tool call and what became of it. `arguments` is what the model asked, exactly.

    `turn` counts the model's responses in this reply, from 0: calls of one response were asked for together.
    `outside` says that `content` is outside text (a command had the network): the model gets it wrapped.
    """

    kind: Literal["call"] = "call"
    call_id: Id
    turn: Annotated[int, Field(ge=0)] = 0
    tool: Annotated[str, Field(max_length=200)]
    arguments: JsonObject
    state: CallState
    approval_id: Id | None = None
    content: str = ""
    outside: bool = False
    data: JsonObject = Field(default_factory=dict)
    refusal: Refusal | None = None
    truncated: bool = False
    network: tuple[NetworkDecision, ...] = ()
    started_at: UnixMilliseconds | None = None
    ended_at: UnixMilliseconds | None = None


Part = Annotated[TextPart | CallPart, Field(discriminator="kind")]


class Usage(Message):
    """Tokens of a reply as the endpoint reported them; None where it reported nothing."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class Timings(Message):
    """When a reply began, gave its first token, and ended."""

    started_at: UnixMilliseconds | None = None
    first_token_at: UnixMilliseconds | None = None
    ended_at: UnixMilliseconds | None = None


class Reply(Message):
    """One pane's answer to one message; `attempt` counts from 1, a retry adds one."""

    reply_id: Id
    exchange_id: Id
    pane_id: Id
    attempt: int
    model: ModelRef
    status: ReplyStatus
    parts: tuple[Part, ...] = ()
    error: Refusal | None = None
    usage: Usage = Usage()
    timings: Timings = Timings()


class Exchange(Message):
    """A person's message and the replies to it, of all panes and attempts, oldest first."""

    exchange_id: Id
    text: str
    created_at: UnixMilliseconds
    replies: tuple[Reply, ...] = ()


class Approval(Message):
    """A call that waits for a person. `call_hash` binds it: what is allowed is exactly what was shown, once."""

    approval_id: Id
    chat_id: Id
    reply_id: Id
    call_id: Id
    tool: ToolName
    arguments: JsonObject
    call_hash: Sha256
    network: bool
    created_at: UnixMilliseconds
    expires_at: UnixMilliseconds
    state: Literal["pending", "allowed", "declined", "expired", "used"]


class ChatSummary(Message):
    """A chat in the history."""

    chat_id: Id
    title: str
    created_at: UnixMilliseconds
    updated_at: UnixMilliseconds


class Chat(ChatSummary):
    """A whole chat. Events with an id above `last_event_id` are not in it yet."""

    panes: tuple[Pane, ...]
    policies: dict[ToolName, Policy]
    network: bool
    exchanges: tuple[Exchange, ...]
    approvals: tuple[Approval, ...]
    last_event_id: int
