"""What is asked for, and how a plain request is written anew for its server."""

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import Refusal
from egress.domain.head import parse_head
from egress.domain.requests import Forward, Tunnel, judge_request


def judge(head: str) -> Tunnel | Forward | Refusal:
    request = parse_head(head.replace("\n", "\r\n").encode())
    assert not isinstance(request, Refusal), request
    return judge_request(request)


TUNNELS = [
    ("CONNECT example.com:443 HTTP/1.1\nHost: example.com:443\n\n", Tunnel("example.com", 443)),
    ("CONNECT example.com:443 HTTP/1.1\nHost: EXAMPLE.com\n\n", Tunnel("example.com", 443)),
    ("CONNECT example.com:22 HTTP/1.0\n\n", Tunnel("example.com", 22)),
    ("CONNECT example.com.:443 HTTP/1.1\nHost: example.com:443\nContent-Length: 0\n\n", Tunnel("example.com", 443)),
]

REFUSED = [
    ("CONNECT example.com HTTP/1.1\nHost: example.com\n\n", errors.URL_MALFORMED),
    ("CONNECT example.com:0 HTTP/1.1\nHost: example.com:0\n\n", errors.URL_MALFORMED),
    ("CONNECT a@example.com:443 HTTP/1.1\nHost: example.com\n\n", errors.URL_MALFORMED),
    ("CONNECT http://example.com/ HTTP/1.1\nHost: example.com\n\n", errors.URL_MALFORMED),
    ("CONNECT 0x7f.1:443 HTTP/1.1\nHost: 0x7f.1:443\n\n", errors.ADDRESS_LOOPBACK),
    ("CONNECT example.com:443 HTTP/1.1\nHost: other.example.com:443\n\n", errors.REQUEST_MALFORMED),
    ("CONNECT example.com:443 HTTP/1.1\nHost: example.com:80\n\n", errors.REQUEST_MALFORMED),
    ("CONNECT example.com:443 HTTP/1.1\nHost: example.com\nContent-Length: 5\n\n", errors.REQUEST_MALFORMED),
    ("CONNECT example.com:443 HTTP/1.1\nHost: example.com\nTransfer-Encoding: chunked\n\n", errors.REQUEST_MALFORMED),
    ("GET / HTTP/1.1\nHost: example.com\n\n", errors.REQUEST_TARGET),
    ("OPTIONS * HTTP/1.1\nHost: example.com\n\n", errors.REQUEST_TARGET),
    ("GET https://example.com/ HTTP/1.1\nHost: example.com\n\n", errors.URL_SCHEME),
    ("GET ftp://example.com/ HTTP/1.1\nHost: example.com\n\n", errors.URL_SCHEME),
    ("GET http://u:p@example.com/ HTTP/1.1\nHost: example.com\n\n", errors.URL_MALFORMED),
    ("GET http://example.com/ HTTP/1.1\nHost: other.example.com\n\n", errors.REQUEST_MALFORMED),
    ("GET http://example.com/ HTTP/1.1\nHost: example.com:8080\n\n", errors.REQUEST_MALFORMED),
    ("GET http://example.com/ HTTP/1.1\nHost: \n\n", errors.REQUEST_MALFORMED),
    ("GET http://example.com/ HTTP/1.1\nHost: example.com, other.example.com\n\n", errors.REQUEST_MALFORMED),
    (
        "POST http://example.com/ HTTP/1.1\nHost: example.com\nContent-Length: 5\nConnection: Content-Length\n\n",
        errors.REQUEST_MALFORMED,
    ),
    ("GET http://example.com/ HTTP/1.1\nHost: example.com\nConnection: close, host\n\n", errors.REQUEST_MALFORMED),
]


@pytest.mark.parametrize(("head", "tunnel"), TUNNELS)
def test_connect_asks_for_a_tunnel(head: str, tunnel: Tunnel) -> None:
    assert judge(head) == tunnel


@pytest.mark.parametrize(("head", "code"), REFUSED)
def test_an_unclear_request_is_refused(head: str, code: str) -> None:
    refusal = judge(head)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_a_plain_request_is_written_anew_without_what_is_for_the_proxy() -> None:
    forward = judge(
        "GET http://Example.com:8080/a%2Fb?x=1 HTTP/1.1\nHost: example.com:8080\nProxy-Authorization: Bearer secret\n"
        "Proxy-Connection: keep-alive\nConnection: X-Hop, keep-alive\nX-Hop: 1\nKeep-Alive: 5\nTE: trailers\nUpgrade: websocket\n"
        "Accept: */*\nX-End: kept\nCookie: a=b\n\n"
    )
    assert isinstance(forward, Forward)
    assert (forward.host, forward.port) == ("example.com", 8080)
    assert forward.head == (
        b"GET /a%2Fb?x=1 HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nX-End: kept\r\nCookie: a=b\r\nConnection: close\r\n\r\n"
    )


def test_a_fragment_is_never_sent() -> None:
    forward = judge("GET http://example.com/a#b HTTP/1.1\nHost: example.com\n\n")
    assert isinstance(forward, Forward)
    assert forward.head.startswith(b"GET /a HTTP/1.1\r\n")


def test_http_1_0_stays_http_1_0() -> None:
    forward = judge("GET http://example.com/ HTTP/1.0\n\n")
    assert isinstance(forward, Forward)
    assert forward.head == b"GET / HTTP/1.0\r\nHost: example.com\r\nConnection: close\r\n\r\n"


def chunks(pieces: list[bytes]) -> bytes:
    return b"".join(b"%X;ext=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\nTrailer: x\r\n\r\n"


@given(st.lists(st.binary(max_size=50), max_size=6), st.lists(st.integers(1, 40), max_size=10), st.binary(max_size=60))
def test_a_chunked_body_reaches_the_server_as_one_request_however_it_is_cut(
    pieces: list[bytes], cuts: list[int], after: bytes
) -> None:
    forward = judge("POST http://example.com/ HTTP/1.1\nHost: example.com\nTransfer-Encoding: chunked\n\n")
    assert isinstance(forward, Forward)
    data, sent = chunks(pieces) + after, b""
    for cut in [*cuts, len(data)]:
        sent += forward.body.feed(data[:cut])
        data = data[cut:]
    assert forward.body.complete
    _assert_one_request(forward.head + sent, b"".join(pieces))


@given(st.binary(max_size=80), st.binary(max_size=60))
def test_a_body_of_known_length_ends_at_its_length(body: bytes, after: bytes) -> None:
    forward = judge(f"POST http://example.com/ HTTP/1.1\nHost: example.com\nContent-Length: {len(body)}\n\n")
    assert isinstance(forward, Forward)
    sent = forward.body.feed(body + after)
    assert forward.body.complete
    assert sent == body
    _assert_one_request(forward.head + sent, body)


def test_a_second_request_behind_the_first_is_never_passed_on() -> None:
    forward = judge("GET http://example.com/ HTTP/1.1\nHost: example.com\n\n")
    assert isinstance(forward, Forward)
    assert forward.body.feed(b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == b""
    assert forward.body.complete


@pytest.mark.parametrize(
    "body",
    [
        b"xyz\r\n",
        b"-1\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloX\r\n",
        b"5\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n",
        b"fffffffffffffffffffff\r\n",
        b"0\r\nbad trailer\r\n\r\n",
    ],
)
def test_a_body_that_is_framed_wrongly_is_an_error(body: bytes) -> None:
    forward = judge("POST http://example.com/ HTTP/1.1\nHost: example.com\nTransfer-Encoding: chunked\n\n")
    assert isinstance(forward, Forward)
    with pytest.raises(h11.RemoteProtocolError):
        forward.body.feed(body + b"\r\n" * 3)


@pytest.mark.parametrize("endless", [b"5;" + b"a" * 40_000, b"0\r\n" + b"Trailer: x\r\n" * 4_000])
def test_an_endless_extension_or_trailer_is_an_error(endless: bytes) -> None:
    forward = judge("POST http://example.com/ HTTP/1.1\nHost: example.com\nTransfer-Encoding: chunked\n\n")
    assert isinstance(forward, Forward)
    with pytest.raises(h11.RemoteProtocolError):
        forward.body.feed(endless)


def _assert_one_request(data: bytes, body: bytes) -> None:
    server = h11.Connection(h11.SERVER)
    server.receive_data(data)
    got = b""
    assert isinstance(server.next_event(), h11.Request)
    while isinstance(event := server.next_event(), h11.Data):
        got += event.data
    assert isinstance(event, h11.EndOfMessage)
    assert got == body
    assert server.trailing_data == (b"", False)
