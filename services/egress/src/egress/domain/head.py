"""Reading the head of a request without room for two readings.

h11 parses; what it would take kindly is refused here (h11 0.16: bare LF as a line end, folded lines, control characters
in values, equal Content-Lengths, Transfer-Encoding beside Content-Length, HTTP versions it does not know). A proxy and
a server that read one head differently are what request smuggling lives from.
"""

import re
from dataclasses import dataclass

import h11

from contracts import errors
from contracts.errors import Refusal

MAX_HEAD_BYTES = 32 * 1024

_END = b"\r\n\r\n"
# Of the control characters a head has HTAB, CR and LF.
_FORBIDDEN = bytes({*range(0x20), 0x7F} - set(b"\t\r\n"))
# RFC 9110 section 8.6: digits only; 18 of them are more than anybody sends.
_CONTENT_LENGTH = re.compile(rb"[0-9]{1,18}")
_AT_MOST_ONCE = frozenset({b"host", b"content-length", b"transfer-encoding", b"proxy-authorization"})


@dataclass(frozen=True)
class RequestHead:
    """A head with one reading. Header names are in lower case in `headers`, as they came in `raw_headers`."""

    method: str
    target: str
    version: str
    headers: dict[bytes, bytes]
    raw_headers: tuple[tuple[bytes, bytes], ...]
    body: h11.Connection

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return b"transfer-encoding" in self.headers

    @property
    def has_body(self) -> bool:
        """Whether anything of the request follows the head."""
        return self.chunked or self.headers.get(b"content-length", b"0").strip(b"0") != b""


class HeadReader:
    """Collects bytes until a head is whole; each byte is looked at once, so that a slow sender costs nothing more."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> tuple[bytes, bytes] | Refusal | None:
        """The head and what followed it, a refusal as soon as it cannot become a head, or None for more to come."""
        seen = len(self._buffer)
        self._buffer += data
        end = self._buffer.find(_END, max(0, seen - len(_END) + 1))
        stop = len(self._buffer) if end < 0 else end + len(_END)
        if stop > MAX_HEAD_BYTES:
            return Refusal(code=errors.REQUEST_TOO_LARGE, detail=f"The request's head is longer than {MAX_HEAD_BYTES} bytes.")
        if self._buffer[seen:stop].translate(None, _FORBIDDEN) != self._buffer[seen:stop]:
            return malformed("The request's head holds a control character.")
        if end < 0:
            return None
        return bytes(self._buffer[:stop]), bytes(self._buffer[stop:])


def parse_head(head: bytes) -> RequestHead | Refusal:
    """Parse a whole head, as `HeadReader` gives it, or say why it has no single reading."""
    # RFC 9112 section 2.2 and 5.2: a CR or LF alone may be taken for a line end by others, and so may a folded line not.
    if not head.count(b"\r\n") == head.count(b"\r") == head.count(b"\n") or b"\n " in head or b"\n\t" in head:
        return malformed("The request's head holds a lone CR or LF, or a folded line.")
    fields = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    names = [name.lower() for name, _, _ in fields]
    # Looked at as it came: h11 makes one of equal lengths in a list.
    if not all(_CONTENT_LENGTH.fullmatch(value.strip(b" \t")) for name, _, value in fields if name.lower() == b"content-length"):
        return malformed("Content-Length is not a number.")
    if repeated := next((name for name in _AT_MOST_ONCE if names.count(name) > 1), None):
        return malformed(f"The header {repeated.decode()} stands there more than once.")
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
    try:
        connection.receive_data(head)
        event = connection.next_event()
    except h11.RemoteProtocolError as exc:
        return malformed(f"The request is not valid HTTP: {exc!s:.200}")
    if not isinstance(event, h11.Request):
        return malformed("The request is not valid HTTP.")
    request = RequestHead(
        method=event.method.decode("ascii"),
        target=event.target.decode("ascii"),
        version=event.http_version.decode("ascii"),
        headers=dict(event.headers),
        raw_headers=tuple(event.headers.raw_items()),
        body=connection,
    )
    return _judge_framing(request) or request


def malformed(detail: str) -> Refusal:
    """A request that cannot be read in exactly one way."""
    return Refusal(code=errors.REQUEST_MALFORMED, detail=detail)


def _judge_framing(request: RequestHead) -> Refusal | None:
    """RFC 9112 section 6: a body has one length, known from the head or from its chunks."""
    length = request.headers.get(b"content-length")
    if request.version not in ("1.0", "1.1"):
        return malformed("The HTTP version is neither 1.0 nor 1.1.")
    if not request.chunked:
        return None
    if length is not None:
        return malformed("Transfer-Encoding and Content-Length are both there.")
    if request.version == "1.0" or request.headers[b"transfer-encoding"].lower() != b"chunked":
        return malformed("Transfer-Encoding is not plainly 'chunked' in an HTTP/1.1 request.")
    return None
