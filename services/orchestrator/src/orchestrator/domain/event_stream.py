"""Tidying Server-Sent Events as real endpoints send them, so that the SDK's stricter reader takes them.

What the WHATWG standard's reader forgives and the SDK does not: a byte-order mark at the start and events with empty
data. What even the standard drops and we keep: a last event whose blank line never came because the connection closed.
"""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 32 * 1024 * 1024


class EventTooLarge(ValueError):
    """An event is larger than any part of a reply."""


class EventStreamTidier:
    """Feed it bytes as they come; it gives whole events, each ended by a blank line."""

    def __init__(self) -> None:
        """Begin at the start of a stream."""
        self._rest = b""
        self._event: list[bytes] = []
        self._has_data = False
        self._size = 0
        self._at_start = True

    def feed(self, data: bytes) -> bytes:
        """The events that `data` completes.

        Raises:
            EventTooLarge: an event has grown beyond MAX_EVENT_BYTES.
        """
        self._rest += data
        if self._at_start:
            if len(self._rest) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(self._rest):
                return b""
            self._rest = self._rest.removeprefix(BYTE_ORDER_MARK)
            self._at_start = False
        # A CR at the very end may be the first half of CR LF.
        cut = max(self._rest.rfind(b"\n"), self._rest.rfind(b"\r", 0, -1)) + 1
        if self._size + len(self._rest) > MAX_EVENT_BYTES:
            raise EventTooLarge("The endpoint sent an event that is too large.")
        whole, self._rest = self._rest[:cut], self._rest[cut:]
        return b"".join(self._take(line) for line in whole.splitlines())

    def finish(self) -> bytes:
        """The last event, if its end never came."""
        return b"".join(self._take(line) for line in self._rest.splitlines()) + self._take(b"")

    def _take(self, line: bytes) -> bytes:
        if line:
            self._event.append(line)
            self._size += len(line)
            self._has_data = self._has_data or (line.startswith(b"data:") and bool(line[5:].strip()))
            return b""
        event = b"\n".join(self._event) + b"\n\n" if self._has_data else b""
        self._event, self._has_data, self._size = [], False, 0
        return event
