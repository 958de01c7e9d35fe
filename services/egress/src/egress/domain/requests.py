"""What a request asks for: a tunnel, or one plain HTTP request that is written anew for its server."""

from dataclasses import dataclass
from typing import Literal

import h11

from contracts import errors
from contracts.errors import Refusal
from egress.domain.head import RequestHead, malformed
from policy.hosts import Host
from policy.urls import Target, parse_authority, parse_url

# RFC 9110 section 7.6.1, and what older software sends besides. Proxy-* is matched by its prefix.
_HOP_BY_HOP = frozenset({
    b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings",
})  # fmt: skip
# A Connection header that names one of these would have it removed, and the body's length with it.
_NEVER_HOP_BY_HOP = frozenset({b"host", b"content-length"})

Method = Literal["CONNECT", "HTTP"]


@dataclass(frozen=True)
class Tunnel:
    """CONNECT: bytes both ways to a host and port."""

    host: Host
    port: int
    method: Method = "CONNECT"


@dataclass(frozen=True)
class Forward:
    """One plain HTTP request: where to, the head to send there, and the reader of the body that follows."""

    host: Host
    port: int
    head: bytes
    body: "Body"
    method: Method = "HTTP"


def judge_request(request: RequestHead) -> Tunnel | Forward | Refusal:
    """What is asked for, or why it is not clear. Whether it may be reached is for `policy.destinations` to say."""
    return _tunnel(request) if request.method == "CONNECT" else _forward(request)


def _tunnel(request: RequestHead) -> Tunnel | Refusal:
    place = parse_authority(request.target, default_port=None)
    if isinstance(place, Refusal):
        return place
    if request.has_body:
        return malformed("CONNECT has no body.")
    host, port = place
    return _judge_host_header(request, host, port, default_port=port) or Tunnel(host, port)


def _forward(request: RequestHead) -> Forward | Refusal:
    if request.target.startswith("/") or request.target == "*":
        return Refusal(
            code=errors.REQUEST_TARGET, detail="This is a proxy, not a web server.", hint="Ask with a whole URL, or with CONNECT."
        )
    target = parse_url(request.target)
    if isinstance(target, Refusal):
        return target
    if target.scheme != "http":
        return Refusal(code=errors.URL_SCHEME, detail="Only http URLs are forwarded.", hint="Use CONNECT for https.")
    if refusal := _judge_host_header(request, target.host, target.port, default_port=80):
        return refusal
    head = _head_for_server(request, target)
    return head if isinstance(head, Refusal) else Forward(target.host, target.port, head, Body(request))


def _judge_host_header(request: RequestHead, host: Host, port: int, *, default_port: int) -> Refusal | None:
    value = request.headers.get(b"host")
    if value is None:  # h11 lets this pass for HTTP/1.0 only.
        return None
    if parse_authority(value.decode("latin-1"), default_port=default_port) == (host, port):
        return None
    return malformed("The Host header names another place than the request.")


def _head_for_server(request: RequestHead, target: Target) -> bytes | Refusal:
    connection = [value for name, value in request.raw_headers if name.lower() == b"connection"]
    named = {token.strip().lower() for value in connection for token in value.split(b",")}
    if named & _NEVER_HOP_BY_HOP:
        return malformed("The Connection header names a header that must not be removed.")
    lines = [
        f"{request.method} {target.path_and_query} HTTP/{request.version}".encode("ascii"),
        b"Host: " + target.authority.encode("ascii"),
    ]
    dropped = _HOP_BY_HOP | named | {b"host"}
    lines += [
        name + b": " + value
        for name, value in request.raw_headers
        if name.lower() not in dropped and not name.lower().startswith(b"proxy-")
    ]
    if request.chunked:
        lines.append(b"Transfer-Encoding: chunked")
    lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"


class Body:
    """The body of one request, read by h11 and framed anew, so that exactly one request reaches the server.

    Chunk extensions and trailers are dropped (RFC 9112 section 7.1.1, RFC 9110 section 6.5.1 allow it); what comes
    after the body is never passed on.
    """

    def __init__(self, request: RequestHead) -> None:
        """Take over the reader that has read the head."""
        self._connection = request.body
        self._chunked = request.chunked
        self.complete = False

    def feed(self, data: bytes) -> bytes:
        """What to send to the server for these bytes of the client.

        Raises:
            h11.RemoteProtocolError: the body is not framed as its head said.
        """
        if self.complete:
            return b""
        if data:
            self._connection.receive_data(data)
        out = bytearray()
        while not self.complete:
            event = self._connection.next_event()
            if isinstance(event, h11.Data):
                out += b"%x\r\n%b\r\n" % (len(event.data), event.data) if self._chunked else event.data
            elif isinstance(event, h11.EndOfMessage):
                out += b"0\r\n\r\n" if self._chunked else b""
                self.complete = True
            else:
                break
        return bytes(out)
