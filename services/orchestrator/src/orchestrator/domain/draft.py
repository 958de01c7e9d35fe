"""A reply while it is being written. Every change is an event; folding the events again gives the same reply."""

from collections.abc import Iterable, Sequence
from typing import Literal

from contracts.chats import CallPart, Part, Reply, ReplyStatus, TextPart, Timings, Usage
from contracts.errors import Refusal
from contracts.events import AnyEvent, CallChanged, ReplyChanged, TextDelta

Channel = Literal["text", "reasoning"]


class _GrowingText:
    """Text in pieces, with its length in code points."""

    def __init__(self, channel: Channel, text: str = "") -> None:
        self.channel = channel
        self.length = len(text)
        self._pieces = [text] if text else []

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)

    def part(self) -> TextPart:
        self._pieces = ["".join(self._pieces)]
        return TextPart(kind=self.channel, text=self._pieces[0])


class ReplyDraft:
    """The growing parts of one reply, and its status."""

    def __init__(self, chat_id: str, reply: Reply) -> None:
        """Begin with what `reply` has already (Continue goes on with it)."""
        self.chat_id = chat_id
        self._reply = reply
        self._parts: list[_GrowingText | CallPart] = [
            part if isinstance(part, CallPart) else _GrowingText(part.kind, part.text) for part in reply.parts
        ]

    @property
    def status(self) -> ReplyStatus:
        """The present status."""
        return self._reply.status

    @property
    def timings(self) -> Timings:
        """When it began, gave its first token, and ended; read for every piece, so without the parts."""
        return self._reply.timings

    @property
    def usage(self) -> Usage:
        """The tokens so far."""
        return self._reply.usage

    @property
    def pane_id(self) -> str:
        """The pane it is written in."""
        return self._reply.pane_id

    @property
    def reply_id(self) -> str:
        """The reply's id."""
        return self._reply.reply_id

    def parts(self) -> tuple[Part, ...]:
        """All parts so far."""
        return tuple(part if isinstance(part, CallPart) else part.part() for part in self._parts)

    def reply(self) -> Reply:
        """The whole reply so far."""
        return self._reply.model_copy(update={"parts": self.parts()})

    def add_text(self, channel: Channel, text: str) -> TextDelta:
        """Add text to the last part if it is of this channel, else begin a part."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _GrowingText) or last.channel != channel:
            last = _GrowingText(channel)
            self._parts.append(last)
        offset = last.length
        last.add(text)
        return TextDelta(
            chat_id=self.chat_id, reply_id=self.reply_id, part=len(self._parts) - 1, channel=channel, offset=offset, text=text
        )

    def set_call(self, call: CallPart) -> CallChanged:
        """Add a call, or replace the one of the same id."""
        place = next(
            (at for at, part in enumerate(self._parts) if isinstance(part, CallPart) and part.call_id == call.call_id), None
        )
        if place is None:
            place = len(self._parts)
            self._parts.append(call)
        else:
            self._parts[place] = call
        return CallChanged(chat_id=self.chat_id, reply_id=self.reply_id, part=place, call=call)

    def next_turn(self) -> int:
        """The number of the model's next response that asks for calls."""
        return max((part.turn for part in self._parts if isinstance(part, CallPart)), default=-1) + 1

    def open_calls(self) -> Sequence[CallPart]:
        """The calls that have not ended."""
        return [part for part in self._parts if isinstance(part, CallPart) and part.state in ("waiting", "running")]

    def change(
        self,
        *,
        status: ReplyStatus | None = None,
        error: Refusal | None = None,
        usage: Usage | None = None,
        timings: Timings | None = None,
    ) -> ReplyChanged:
        """Change what is not a part; the event carries no parts."""
        changes = {"status": status, "error": error, "usage": usage, "timings": timings}
        self._reply = self._reply.model_copy(update={name: value for name, value in changes.items() if value is not None})
        return ReplyChanged(chat_id=self.chat_id, reply=self._reply.model_copy(update={"parts": ()}))

    def apply(self, event: AnyEvent) -> None:
        """Fold one event of this reply that was kept before a crash."""
        match event:
            case TextDelta():
                while len(self._parts) <= event.part:
                    self._parts.append(_GrowingText(event.channel))
                part = self._parts[event.part]
                if isinstance(part, _GrowingText):
                    part.add(event.text[max(0, part.length - event.offset) :])
            case CallChanged():
                self.set_call(event.call)
            case ReplyChanged():
                self._reply = event.reply.model_copy(update={"parts": ()})
            case _:
                pass


def fold(chat_id: str, reply: Reply, events: Iterable[AnyEvent]) -> ReplyDraft:
    """The draft that `events` lead to, from the reply as it was stored when it began."""
    draft = ReplyDraft(chat_id, reply)
    for event in events:
        draft.apply(event)
    return draft
