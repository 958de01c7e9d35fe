"""The event stream of a tab: Server-Sent Events whose data is the JSON of one `Event`.

The id of an event counts up over all chats and over restarts. A tab that comes back asks for what is after the last
id it saw; where that is no longer kept it gets a `Reset` and loads the chat again. Text comes with the offset it
belongs at, so that a piece that comes twice changes nothing.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from .base import Id, Message
from .chats import Approval, CallPart, ChatSummary, Exchange, Reply


class ExchangeAdded(Message):
    """A message was sent; its replies follow as `ReplyChanged`."""

    kind: Literal["exchange_added"] = "exchange_added"
    chat_id: Id
    exchange: Exchange


class ReplyChanged(Message):
    """A reply began, waits, goes on or ended. Its parts are not in it (they have come as deltas) unless it just began."""

    kind: Literal["reply_changed"] = "reply_changed"
    chat_id: Id
    reply: Reply


class TextDelta(Message):
    """Text for the part at index `part` of a reply; `offset` counts the characters (code points) before it in that part."""

    kind: Literal["text_delta"] = "text_delta"
    chat_id: Id
    reply_id: Id
    part: int
    channel: Literal["text", "reasoning"]
    offset: int
    text: str


class CallChanged(Message):
    """The tool call at index `part` of a reply is new or has changed."""

    kind: Literal["call_changed"] = "call_changed"
    chat_id: Id
    reply_id: Id
    part: int
    call: CallPart


class CallOutput(Message):
    """What a running command wrote; `offset` counts the characters before it in that stream."""

    kind: Literal["call_output"] = "call_output"
    chat_id: Id
    reply_id: Id
    call_id: Id
    stream: Literal["stdout", "stderr"]
    offset: int
    text: str


class ApprovalChanged(Message):
    """An approval is asked for, or no longer waits."""

    kind: Literal["approval_changed"] = "approval_changed"
    chat_id: Id
    approval: Approval


class ChatChanged(Message):
    """A chat was renamed or deleted, or its panes, policies or network switch changed: load it again."""

    kind: Literal["chat_changed"] = "chat_changed"
    chat_id: Id
    chat: ChatSummary | None


class Reset(Message):
    """What was asked for is no longer kept: load the chat again and go on from its `last_event_id`."""

    kind: Literal["reset"] = "reset"


Event = Annotated[
    ExchangeAdded | ReplyChanged | TextDelta | CallChanged | CallOutput | ApprovalChanged | ChatChanged | Reset,
    Field(discriminator="kind"),
]
AnyEvent = ExchangeAdded | ReplyChanged | TextDelta | CallChanged | CallOutput | ApprovalChanged | ChatChanged | Reset
event: TypeAdapter[AnyEvent] = TypeAdapter(Event)
