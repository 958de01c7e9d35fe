"""A head has one reading, however it is cut into pieces; anything doubtful is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import Refusal
from egress.domain.head import MAX_HEAD_BYTES, HeadReader, RequestHead, parse_head

PLAIN = b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nX-A: b\tc\xe9\r\n\r\n"
START = b"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\n"

# What the reader refuses before h11 sees it, and what h11 or the framing judge refuses after.
DOUBTFUL = {
    "bare LF as line end": b"GET http://example.com/ HTTP/1.1\nHost: example.com\n\n\r\n\r\n",
    "bare LF in a value": START + b"X: a\nTransfer-Encoding: chunked\r\n\r\n",
    "bare CR in a value": START + b"X: a\rTransfer-Encoding: chunked\r\n\r\n",
    "NUL in a value": START + b"X: a\x00b\r\n\r\n",
    "NUL in the request line": b"GET http://example.com/\x00 HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "control character in a value": START + b"X: a\x1bb\r\n\r\n",
    "DEL in a value": START + b"X: a\x7fb\r\n\r\n",
    "vertical tab around chunked": START + b"Transfer-Encoding:\x0bchunked\r\n\r\n",
    "folded line": START + b"X: a\r\n b\r\n\r\n",
    "folded line with a tab": START + b"Transfer-Encoding: \r\n\tchunked\r\n\r\n",
    "folded first line": b"GET http://example.com/ HTTP/1.1\r\n Host: example.com\r\n\r\n",
    "empty line first": b"\r\n" + PLAIN,
    "space before colon": START + b"Transfer-Encoding : chunked\r\n\r\n",
    "tab before colon": START + b"Content-Length\t: 5\r\n\r\n",
    "no colon": START + b"Content-Length 5\r\n\r\n",
    "empty name": START + b": 5\r\n\r\n",
    "both lengths": START + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "both lengths the other way round": START + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    "two different lengths": START + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
    "two equal lengths": START + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
    "two equal lengths in two cases": START + b"Content-Length: 5\r\ncontent-length: 5\r\n\r\n",
    "lengths in a list": START + b"Content-Length: 5, 5\r\n\r\n",
    "signed length": START + b"Content-Length: +5\r\n\r\n",
    "negative length": START + b"Content-Length: -5\r\n\r\n",
    "hexadecimal length": START + b"Content-Length: 0x5\r\n\r\n",
    "length with underscore": START + b"Content-Length: 1_0\r\n\r\n",
    "empty length": START + b"Content-Length: \r\n\r\n",
    "huge length": START + b"Content-Length: " + b"9" * 19 + b"\r\n\r\n",
    "identity": START + b"Transfer-Encoding: identity\r\n\r\n",
    "gzip, chunked": START + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "chunked, identity": START + b"Transfer-Encoding: chunked, identity\r\n\r\n",
    "chunked twice": START + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "chunked twice in a list": START + b"Transfer-Encoding: chunked, chunked\r\n\r\n",
    "quoted chunked": START + b'Transfer-Encoding: "chunked"\r\n\r\n',
    "xchunked": START + b"Transfer-Encoding: xchunked\r\n\r\n",
    "empty transfer encoding": START + b"Transfer-Encoding: \r\n\r\n",
    "chunked in HTTP/1.0": b"POST http://example.com/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "two hosts": b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: example.com\r\n\r\n",
    "no host in HTTP/1.1": b"GET http://example.com/ HTTP/1.1\r\nX: y\r\n\r\n",
    "two credentials": PLAIN[:-2] + b"Proxy-Authorization: Bearer a\r\nProxy-Authorization: Bearer b\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\nHost: a\r\n\r\n",
    "HTTP/1.2": b"GET http://example.com/ HTTP/1.2\r\nHost: example.com\r\n\r\n",
    "HTTP/0.9": b"GET http://example.com/\r\n\r\n",
    "no version": b"GET http://example.com/ \r\nHost: example.com\r\n\r\n",
    "two spaces": b"GET  http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "space in the target": b"GET http://example.com/a b HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "non-ASCII target": b"GET http://example.com/\xc3\xa4 HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "TLS instead of HTTP": b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
}


def read(data: bytes) -> RequestHead | Refusal | None:
    outcome = HeadReader().feed(data)
    return parse_head(outcome[0]) if isinstance(outcome, tuple) else outcome


@pytest.mark.parametrize("head", DOUBTFUL.values(), ids=DOUBTFUL.keys())
def test_a_doubtful_head_is_refused(head: bytes) -> None:
    refusal = read(head)
    assert isinstance(refusal, Refusal), refusal
    assert refusal.code == errors.REQUEST_MALFORMED


def test_an_ordinary_head_is_read() -> None:
    request = read(PLAIN)
    assert isinstance(request, RequestHead)
    assert (request.method, request.target, request.version) == ("GET", "http://example.com/", "1.1")
    assert request.headers[b"x-a"] == b"b\tc\xe9"
    assert not request.has_body


@pytest.mark.parametrize(
    ("line", "has_body"), [(b"Content-Length: 0", False), (b"Content-Length: 10", True), (b"Transfer-Encoding: Chunked", True)]
)
def test_a_body_is_seen_by_its_framing(line: bytes, has_body: bool) -> None:
    request = read(START + line + b"\r\n\r\n")
    assert isinstance(request, RequestHead)
    assert request.has_body is has_body


def test_a_head_that_never_ends_is_refused_at_its_limit() -> None:
    reader = HeadReader()
    outcome = reader.feed(b"GET http://example.com/ HTTP/1.1\r\n")
    fed = 0
    while outcome is None and fed < 2 * MAX_HEAD_BYTES:
        outcome = reader.feed(b"X: " + b"a" * 100 + b"\r\n")
        fed += 105
    assert isinstance(outcome, Refusal)
    assert outcome.code == errors.REQUEST_TOO_LARGE
    assert fed <= MAX_HEAD_BYTES


@given(st.sampled_from([PLAIN, *DOUBTFUL.values()]), st.binary(max_size=20), st.lists(st.integers(1, 200), max_size=8))
def test_the_way_a_head_is_cut_into_pieces_changes_nothing(head: bytes, rest: bytes, cuts: list[int]) -> None:
    reader, data, outcome = HeadReader(), head + rest, None
    for cut in [*cuts, len(data)]:
        piece, data = data[:cut], data[cut:]
        outcome = reader.feed(piece)
        if outcome is not None:
            break
    whole = HeadReader().feed(head + rest)
    if isinstance(whole, tuple):
        assert isinstance(outcome, tuple)
        assert outcome[0] == whole[0]
        assert outcome[1] + data == whole[1]
    else:
        assert isinstance(outcome, Refusal) == isinstance(whole, Refusal)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert read(b"GET http://example.com/ HTTP/1.1\r\n" + data + b"\r\n\r\n") is not None
