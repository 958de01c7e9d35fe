"""URLs of hops: one meaning or a refusal; and the rules of redirects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import Refusal
from policy.fetching import MAX_REDIRECTS, Hop, first_hop, next_hop
from policy.urls import Target, parse_authority, parse_url

NORMALISED = [
    ("http://example.com", "http://example.com/"),
    ("HTTPS://EXAMPLE.COM:443/A%2FB?x=1", "https://example.com/A%2FB?x=1"),
    ("https://example.com:8443/", "https://example.com:8443/"),
    ("http://example.com:/", "http://example.com/"),
    ("http://example.com?x=1", "http://example.com/?x=1"),
    ("https://example.com/?next=http://127.0.0.1/#@10.0.0.1", "https://example.com/?next=http://127.0.0.1/"),
    ("https://example.com/p\u00e4th?q=\u00fc", "https://example.com/p%C3%A4th?q=%C3%BC"),
    ("https://example.com/a?b=c\\d", "https://example.com/a?b=c\\d"),
    ("https://[2606:4700::1]:8080/x", "https://[2606:4700::1]:8080/x"),
]

REFUSED = [
    ("file:///etc/hostname", errors.URL_SCHEME),
    ("gopher://127.0.0.1:6379/_PING", errors.URL_SCHEME),
    ("javascript:alert(1)", errors.URL_SCHEME),
    ("ftp://example.com/", errors.URL_SCHEME),
    ("example.com/", errors.URL_MALFORMED),
    ("//example.com/", errors.URL_MALFORMED),
    ("http:example.com", errors.URL_MALFORMED),
    ("http:/example.com", errors.URL_MALFORMED),
    ("http:///127.0.0.1/", errors.URL_MALFORMED),
    ("http://", errors.URL_MALFORMED),
    ("", errors.URL_MALFORMED),
    (" http://example.com/", errors.URL_MALFORMED),
    ("http://exam\tple.com/", errors.URL_MALFORMED),
    ("http://example.com/\r\nHost: x", errors.URL_MALFORMED),
    ("http://example.com/\u2028", errors.URL_MALFORMED),
    ("http://user:word@example.com/", errors.URL_MALFORMED),
    ("http://@example.com/", errors.URL_MALFORMED),
    ("http://127.0.0.1:6666\\@93.184.216.34/", errors.URL_MALFORMED),
    ("http://example.com\\@x/", errors.URL_MALFORMED),
    ("http://example.com/\\x", errors.URL_MALFORMED),
    ("http://example.com:0/", errors.URL_MALFORMED),
    ("http://example.com:65536/", errors.URL_MALFORMED),
    ("http://example.com:99999/", errors.URL_MALFORMED),
    ("http://example.com:000080/", errors.URL_MALFORMED),
    ("http://example.com:80:80/", errors.URL_MALFORMED),
    ("http://example.com:+80/", errors.URL_MALFORMED),
    ("http://example.com:\u0668\u0660/", errors.URL_MALFORMED),
    ("http://[::1]x/", errors.URL_MALFORMED),
    ("http://x[::1]/", errors.URL_MALFORMED),
    ("http://example.com/\ud800", errors.URL_MALFORMED),
    ("http://example.com/" + "a" * 9_000, errors.URL_MALFORMED),
]


@pytest.mark.parametrize(("text", "url"), NORMALISED)
def test_a_url_is_normalised(text: str, url: str) -> None:
    target = parse_url(text)
    assert isinstance(target, Target)
    assert target.url == url
    assert parse_url(target.url) == target


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=[ascii(text)[:60] for text, _ in REFUSED])
def test_a_doubtful_url_is_refused(text: str, code: str) -> None:
    refusal = parse_url(text)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_and_reads_the_same_again(tail: str) -> None:
    target = parse_url(f"http://{tail}")
    if isinstance(target, Target):
        assert parse_url(target.url) == target


def test_an_authority_without_a_default_needs_its_port() -> None:
    assert parse_authority("example.com:443", default_port=None) == ("example.com", 443)
    assert isinstance(parse_authority("example.com", default_port=None), Refusal)


def hop(url: str = "https://example.com/a/b?c", number: int = 0) -> Hop:
    target = parse_url(url)
    assert isinstance(target, Target)
    return Hop(target, number)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/x", "https://example.com/x"),
        ("x", "https://example.com/a/x"),
        ("?y", "https://example.com/a/b?y"),
        ("//other.example.org/x", "https://other.example.org/x"),
        ("http://other.example.org", "http://other.example.org/"),
        ("../../../x", "https://example.com/x"),
    ],
)
def test_a_location_is_resolved_against_its_hop(location: str, url: str) -> None:
    following = next_hop(hop(), 302, location)
    assert isinstance(following, Hop)
    assert following.target.url == url
    assert following.number == 1


@pytest.mark.parametrize(
    ("location", "code"),
    [
        (None, errors.URL_REDIRECT),
        ("", errors.URL_REDIRECT),
        ("\\\\127.0.0.1\\x", errors.URL_MALFORMED),
        ("/\\127.0.0.1", errors.URL_MALFORMED),
        ("\thttp://127.0.0.1", errors.URL_MALFORMED),
        (" https://other.example.org/x", errors.URL_MALFORMED),
        ("//other.exam\nple.org/x", errors.URL_MALFORMED),
        ("/a\tb", errors.URL_MALFORMED),
        ("ht\ntp://127.0.0.1", errors.URL_MALFORMED),
        ("file:///etc/passwd", errors.URL_SCHEME),
        ("http://[::1", errors.URL_MALFORMED),
        ("http://a@b.example.com/", errors.URL_MALFORMED),
    ],
)
def test_a_doubtful_location_is_refused(location: str | None, code: str) -> None:
    refusal = next_hop(hop(), 301, location)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


@pytest.mark.parametrize("status", [200, 204, 300, 304, 305, 404, 500])
def test_other_statuses_are_the_end(status: int) -> None:
    assert next_hop(hop(), status, "http://127.0.0.1/") is None


def test_five_redirects_are_followed_and_the_sixth_is_not() -> None:
    current: Hop | Refusal | None = first_hop("https://example.com/")
    for number in range(1, MAX_REDIRECTS + 1):
        assert isinstance(current, Hop)
        current = next_hop(current, 302, f"/{number}")
    assert isinstance(current, Hop)
    assert current.number == MAX_REDIRECTS
    refusal = next_hop(current, 302, "/6")
    assert isinstance(refusal, Refusal)
    assert refusal.code == errors.URL_REDIRECT
