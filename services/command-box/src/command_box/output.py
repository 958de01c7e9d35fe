"""Bounding what a command writes: its beginning and its end are kept, what lies between is counted."""

import codecs
from collections import deque

# What the live view gets of one stream; the result's beginning and end are kept beside it.
LIVE_CHARACTERS = 200_000


class HeadAndTail:
    """Keeps the first and the last half of `limit` characters of a stream of bytes in UTF-8.

    Invalid bytes become U+FFFD; a character is never cut, wherever the pieces are.
    """

    def __init__(self, limit: int) -> None:
        """`limit` is in characters, two at least."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head: list[str] = []
        self._head_length = 0
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._left_out = 0

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self._left_out > 0

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Take some bytes; the text that they complete."""
        text = self._decoder.decode(data, final)
        taken = text[: self._head_limit - self._head_length]
        self._head.append(taken)
        self._head_length += len(taken)
        rest = text[len(taken) :]
        if rest:
            self._tail.append(rest)
            self._tail_length += len(rest)
            self._trim()
        return text

    def text(self) -> str:
        """The beginning, a line that says how much is left out, and the end."""
        between = f"\n[… {self._left_out} characters left out …]\n" if self._left_out else ""
        return "".join(self._head) + between + "".join(self._tail)

    def _trim(self) -> None:
        while self._tail_length > self._tail_limit:
            first = self._tail.popleft()
            surplus = min(len(first), self._tail_length - self._tail_limit)
            if surplus < len(first):
                self._tail.appendleft(first[surplus:])
            self._left_out += surplus
            self._tail_length -= surplus
