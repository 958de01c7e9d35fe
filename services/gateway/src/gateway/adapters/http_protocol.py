"""uvicorn's HTTP protocol with what a judge of requests needs and uvicorn leaves out.

- The request target exactly as sent: uvicorn keeps the path of `GET http://elsewhere/x` and drops the host.
- A bound on the size and the time of a request's head, and on the number of connections: uvicorn has none, and all this
  comes before a session is asked for.
- Errors of the parser are answered in the API's form.
"""

import asyncio
import json
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from contracts import errors
from contracts.errors import ErrorBody
from gateway.domain import headers
from gateway.domain.requests import is_printable, origin_form

# The key of the ASGI scope's `extensions` under which the target is found.
TARGET = "switchbox.target"

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
MAX_CONNECTIONS = 512


class GatewayProtocol(HttpToolsProtocol):
    """One connection.

    `_in_head` is true while bytes of a request's head, or none yet, are awaited; `_heads` counts the whole ones.
    """

    _in_head = True
    _head_bytes = 0
    _heads = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it the same way
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave no timer behind."""
        self._forget_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and count what has not become a whole head yet."""
        if self.transport.is_closing():
            return
        if self._in_head:
            self._watch_head()
        # What ends a body is no part of a head, though a head is awaited after it.
        began_in_head, heads = self._in_head, self._heads
        super().data_received(data)
        if began_in_head and self._in_head and self._heads == heads:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._answer_and_close(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, errors.REQUEST_TOO_LARGE, "The request's headers are too large."
                )

    def on_headers_complete(self) -> None:
        """Keep the target as sent; what uvicorn parses next is its path and query."""
        self._in_head, self._head_bytes = False, 0
        self._heads += 1
        self._forget_timer()
        self.scope["extensions"] = {TARGET: {"value": self.url}}
        self.url = _parseable(self.url)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """What comes next is another head."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """The parser gave up."""
        del msg
        self._answer_and_close(HTTPStatus.BAD_REQUEST, errors.REQUEST_MALFORMED, "This is not an HTTP/1.1 request.")

    def _watch_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_too_slow)

    def _forget_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_too_slow(self) -> None:
        self._head_timer = None
        if self._head_bytes or not self._answering():
            self._answer_and_close(HTTPStatus.REQUEST_TIMEOUT, errors.REQUEST_TIMED_OUT, "The request did not arrive in time.")

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _answer_and_close(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Say why, unless an answer to an earlier request of this connection is under way, and close."""
        if not self.transport.is_closing():
            if not self._answering():
                self.transport.write(_answer(status, code, detail))
            self.transport.close()


def _parseable(url: bytes) -> bytes:
    """The path and query; `/` for what the parser could not read, which the judge refuses by the kept target anyway."""
    path = origin_form(url)
    readable = is_printable(path) and not path.startswith(b"//")
    return path if readable else b"/"


def _answer(status: HTTPStatus, code: str, detail: str) -> bytes:
    body = json.dumps(ErrorBody(code=code, detail=detail).model_dump()).encode()
    lines = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers.with_defaults(lines))
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() + head + b"\r\n" + body
