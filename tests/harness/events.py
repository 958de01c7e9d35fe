"""A browser tab's event stream, read as the browser reads it: resumed by event id, and closed from another thread."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from contracts import events
from contracts.chats import Approval, CallPart, Chat, Exchange, Reply, TextPart

T = TypeVar("T")

ENDED = frozenset({"complete", "stopped", "interrupted", "failed"})
# The longest silence of a stream: the core's heartbeats come more often.
SILENCE_SECONDS = 60
RECONNECT_SECONDS = 0.2


@dataclass(frozen=True)
class Received:
    """One event as it came."""

    event_id: int
    event: events.AnyEvent
    at: float


class EventStream:
    """One connection to `GET /api/events`; iterating gives events until either side closes."""

    def __init__(self, port: int, token: str, chat_id: str, after: int) -> None:
        """Connect and send the request.

        Raises:
            OSError, http.client.HTTPException: no connection, or the answer is not a stream.
        """
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SILENCE_SECONDS)
        connection.request("GET", f"/api/events?chat={chat_id}&after={after}", headers={"X-Switchbox-Session": token})
        self._socket: socket.socket = connection.sock
        self._response = connection.getresponse()
        if self._response.status != http.client.OK:
            raise http.client.HTTPException(f"{self._response.status}: {self._response.read()[:400]!r}")

    def __iter__(self) -> Iterator[Received]:
        """Events as they come; a cut connection ends it like a closed one."""
        event_id, data = 0, b""
        for line in self._lines():
            name, _, value = line.partition(b":")
            if name == b"id":
                event_id = int(value)
            elif name == b"data":
                data += value.removeprefix(b" ")
            elif not line and data:
                yield Received(event_id, events.event.validate_json(data), time.time())
                data = b""

    def _lines(self) -> Iterator[bytes]:
        try:
            while line := self._response.readline():
                yield line.rstrip(b"\r\n")
        except (OSError, http.client.HTTPException):
            return

    def close(self) -> None:
        """Cut the connection, from any thread."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


@dataclass
class View:
    """A chat as a tab knows it: what it was when loaded, and the events since."""

    replies: dict[str, Reply] = field(default_factory=dict)
    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    calls: dict[tuple[str, int], CallPart] = field(default_factory=dict)
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    exchanges: dict[str, Exchange] = field(default_factory=dict)

    @classmethod
    def of(cls, chat: Chat) -> Self:
        """The view of a chat just loaded."""
        view = cls(approvals={approval.approval_id: approval for approval in chat.approvals})
        for exchange in chat.exchanges:
            view.exchanges[exchange.exchange_id] = exchange
            for reply in exchange.replies:
                view.take_reply(reply)
        return view

    def take_reply(self, reply: Reply) -> None:
        """A whole reply; its parts, if it has any, replace what is known."""
        self.replies[reply.reply_id] = reply
        for index, part in enumerate(reply.parts):
            if isinstance(part, TextPart):
                self.texts[reply.reply_id, index] = part.text
            else:
                self.calls[reply.reply_id, index] = part

    def apply(self, event: events.AnyEvent) -> None:
        """Take one event in. A gap in a text is an error of the stream: the offset says where a piece belongs."""
        match event:
            case events.ExchangeAdded(exchange=exchange):
                self.exchanges[exchange.exchange_id] = exchange
                for reply in exchange.replies:
                    self.take_reply(reply)
            case events.ReplyChanged(reply=reply):
                self.take_reply(reply)
            case events.TextDelta(reply_id=reply_id, part=part, offset=offset, text=text):
                self._put(self.texts, (reply_id, part), offset, text)
            case events.CallOutput(call_id=call_id, stream=stream, offset=offset, text=text):
                self._put(self.outputs, (call_id, stream), offset, text)
            case events.CallChanged(reply_id=reply_id, part=part, call=call):
                self.calls[reply_id, part] = call
            case events.ApprovalChanged(approval=approval):
                self.approvals[approval.approval_id] = approval
            case _:
                pass

    @staticmethod
    def _put(texts: dict[T, str], key: T, offset: int, piece: str) -> None:
        known = texts.get(key, "")
        assert offset <= len(known), f"text is missing before {piece[:40]!r}: {len(known)} characters known, offset {offset}"
        texts[key] = known[:offset] + piece + known[offset + len(piece) :]

    def text(self, reply_id: str) -> str:
        """All text of a reply, reasoning excluded where it came as a part of its own."""
        return "".join(self.texts[key] for key in sorted(self.texts) if key[0] == reply_id)

    def calls_of(self, reply_id: str) -> list[CallPart]:
        """The tool calls of a reply, in order."""
        return [self.calls[key] for key in sorted(self.calls) if key[0] == reply_id]

    def by_pane(self, exchange_id: str) -> dict[str, Reply]:
        """The last attempt of each pane at an exchange."""
        found = sorted((r for r in self.replies.values() if r.exchange_id == exchange_id), key=lambda reply: reply.attempt)
        return {reply.pane_id: reply for reply in found}

    def pending(self) -> list[Approval]:
        """The approvals that wait."""
        return [approval for approval in self.approvals.values() if approval.state == "pending"]

    def summary(self) -> str:
        """For a failed wait: every reply, its state, the end of its text and its calls."""
        lines = []
        for reply in self.replies.values():
            calls = [(call.tool, call.state, call.refusal.code if call.refusal else "") for call in self.calls_of(reply.reply_id)]
            lines.append(
                f"{reply.reply_id[:6]} {reply.status} {self.text(reply.reply_id)[-120:]!r} calls={calls} error={reply.error}"
            )
        return "\n".join(lines)


class Tab:
    """A tab that follows one chat, and comes back by itself after the connection was lost."""

    def __init__(self, port: int, token: str, chat_id: str, load: Callable[[str], Chat]) -> None:
        """Load the chat and begin to follow it."""
        self._port, self._token, self._chat_id, self._load = port, token, chat_id, load
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._stream: EventStream | None = None
        self._failure: BaseException | None = None
        self.received: list[Received] = []
        self.connections = 0
        self.resets = 0
        chat = load(chat_id)
        self.view, self.last_event_id = View.of(chat), chat.last_event_id
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Nothing more to open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the tab."""
        self.close()

    def wait(self, condition: Callable[[View], T | None], seconds: float, what: str) -> T:
        """Wait until the condition gives something that is not None or False, and give that.

        Raises:
            AssertionError: it did not within `seconds`; the message shows the view.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                found = condition(self.view)
                if found is not None and found is not False:
                    return found
                left = deadline - time.monotonic()
                if self._failure is not None or left <= 0:
                    raise AssertionError(f"not within {seconds} s: {what} (failure: {self._failure!r})\n{self.view.summary()}")
                self._changed.wait(left)

    def wait_for_end(self, exchange_id: str, panes: int, seconds: float) -> dict[str, Reply]:
        """Wait until this many panes have ended their reply to an exchange; the replies by pane."""

        def ended(view: View) -> dict[str, Reply] | None:
            replies = view.by_pane(exchange_id)
            return replies if sum(reply.status in ENDED for reply in replies.values()) >= panes else None

        return self.wait(ended, seconds, f"{panes} ended replies to {exchange_id[:6]}")

    def cut(self) -> None:
        """Lose the connection; the tab comes back."""
        if self._stream is not None:
            self._stream.close()

    def close(self) -> None:
        """Follow no more."""
        self._closed.set()
        self.cut()
        self._thread.join(timeout=10)

    def _follow(self) -> None:
        while not self._closed.is_set():
            try:
                self._stream = EventStream(self._port, self._token, self._chat_id, self.last_event_id)
            except (OSError, http.client.HTTPException):
                self._closed.wait(RECONNECT_SECONDS)
                continue
            self.connections += 1
            try:
                for received in self._stream:
                    self._take(received)
            except BaseException as exc:
                with self._changed:
                    self._failure = exc
                    self._changed.notify_all()
                return

    def _take(self, received: Received) -> None:
        if isinstance(received.event, events.Reset):
            chat = self._load(self._chat_id)
            with self._changed:
                self.resets += 1
                self.view, self.last_event_id = View.of(chat), chat.last_event_id
                self._changed.notify_all()
            return
        with self._changed:
            assert received.event_id > self.last_event_id, f"event {received.event_id} after {self.last_event_id}"
            self.received.append(received)
            self.view.apply(received.event)
            self.last_event_id = received.event_id
            self._changed.notify_all()
