"""Host texts: one canonical form or a refusal, whatever the spelling."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import Refusal
from policy.addresses import IPV4_SPECIAL, AddressClass, classify_address
from policy.destinations import Dial, LookUp, judge_answers, judge_destination
from policy.hosts import host_text, judge_name, parse_host
from policy.urls import parse_url

CANONICAL = [
    ("example.com", "example.com"),
    ("EXAMPLE.com.", "example.com"),
    ("a_b.example.com", "a_b.example.com"),
    ("10.example.com", "10.example.com"),
    ("b\u00fccher.example.com", "xn--bcher-kva.example.com"),
    ("\uff45xample.com", "example.com"),
    ("local\u00adhost", "localhost"),
    ("1.1.1.1", IPv4Address("1.1.1.1")),
    ("127.0.0.1", IPv4Address("127.0.0.1")),
    ("[2606:4700::1]", IPv6Address("2606:4700::1")),
    ("[::FFFF:127.0.0.1]", IPv6Address("::ffff:127.0.0.1")),
]

REFUSED = [
    # Spellings of 127.0.0.1 that programs understand: refused as loopback.
    ("2130706433", errors.ADDRESS_LOOPBACK),
    ("0x7f000001", errors.ADDRESS_LOOPBACK),
    ("0X7F000001", errors.ADDRESS_LOOPBACK),
    ("0x7f.1", errors.ADDRESS_LOOPBACK),
    ("0177.0.0.1", errors.ADDRESS_LOOPBACK),
    ("0177.0x0.0.01", errors.ADDRESS_LOOPBACK),
    ("017700000001", errors.ADDRESS_LOOPBACK),
    ("127.1", errors.ADDRESS_LOOPBACK),
    ("127.0.1", errors.ADDRESS_LOOPBACK),
    ("127.0.0.1.", errors.ADDRESS_LOOPBACK),
    ("127\u30020\u30020\u30021", errors.ADDRESS_LOOPBACK),
    ("\uff11\uff12\uff17.0.0.1", errors.ADDRESS_LOOPBACK),
    ("\u2460\u2461\u2466.0.0.1", errors.ADDRESS_LOOPBACK),
    ("0", errors.ADDRESS_UNSPECIFIED),
    ("0x", errors.ADDRESS_UNSPECIFIED),
    ("0xa9fea9fe", errors.ADDRESS_METADATA),
    # Unusual spellings of public addresses, and numbers that are no address.
    ("16843009", errors.URL_MALFORMED),
    ("1.1", errors.URL_MALFORMED),
    ("1.1.1.1.", errors.URL_MALFORMED),
    ("010.8.8.8", errors.URL_MALFORMED),
    ("1.1.1.256", errors.URL_MALFORMED),
    ("1.1.1.1.1", errors.URL_MALFORMED),
    ("4294967296", errors.URL_MALFORMED),
    ("09.0.0.1", errors.URL_MALFORMED),
    ("example.0x7f", errors.URL_MALFORMED),
    ("1..1", errors.URL_MALFORMED),
    ("0" * 40 + "1", errors.URL_MALFORMED),
    # No host at all, or one that cannot be.
    ("", errors.URL_MALFORMED),
    (".", errors.URL_MALFORMED),
    ("example..com", errors.URL_MALFORMED),
    ("example.com..", errors.URL_MALFORMED),
    (".example.com", errors.URL_MALFORMED),
    ("-a.example.com", errors.URL_MALFORMED),
    ("a b.example.com", errors.URL_MALFORMED),
    ("a/b.example.com", errors.URL_MALFORMED),
    ("a\x00.example.com", errors.URL_MALFORMED),
    ("%31%32%37.0.0.1", errors.URL_MALFORMED),
    ("\uff0531.example.com", errors.URL_MALFORMED),
    ("ex\u200dample.com", errors.URL_MALFORMED),
    ("\u202eexample.com", errors.URL_MALFORMED),
    ("x" * 64 + ".com", errors.URL_MALFORMED),
    (".".join(["abcdefgh"] * 29), errors.URL_MALFORMED),
    ("[::1", errors.URL_MALFORMED),
    ("[fe80::1%eth0]", errors.URL_MALFORMED),
    ("[fe80::1%25eth0]", errors.URL_MALFORMED),
    ("[127.0.0.1]", errors.URL_MALFORMED),
    ("[::1]x", errors.URL_MALFORMED),
]

BLOCKED = [
    "localhost", "redis", "egress", "foo.localhost", "printer.local", "metadata.google.internal", "metadata.goog",
    "host.docker.internal", "gateway.docker.internal", "instance-data.ec2.internal", "localhost.localdomain", "nas.lan",
    "router.home.arpa", "x.home", "wiki.corp", "a.invalid", "a.test", "a.onion", "redis.switchbox_jobs", "redis.a1",
]  # fmt: skip

ORDINARY = [
    "example.com",
    "localhost.example.com",
    "internal.example.com",
    "xn--bcher-kva.de",
    "a.b.c.museum",
    "lan.de",
    "x.xn--p1ai",
]


@pytest.mark.parametrize(("text", "host"), CANONICAL)
def test_a_host_has_one_canonical_form(text: str, host: object) -> None:
    assert parse_host(text) == host


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=[ascii(text)[:40] for text, _ in REFUSED])
def test_an_odd_spelling_is_refused_with_its_reason(text: str, code: str) -> None:
    refusal = parse_host(text)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


@pytest.mark.parametrize("name", BLOCKED)
def test_a_local_name_is_refused_before_it_is_looked_up(name: str) -> None:
    refusal = judge_name(name)
    assert refusal is not None
    assert refusal.code == errors.HOST_BLOCKED


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_name_is_not_refused(name: str) -> None:
    assert judge_name(name) is None


@st.composite
def spelled_ipv4(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """An address of a special block, in one of the ways that some program understands."""
    network = draw(st.sampled_from([network for network, _ in IPV4_SPECIAL]))
    address = network[draw(st.integers(0, network.num_addresses - 1))]
    octets = list(address.packed)
    parts = draw(st.integers(1, 4))
    numbers = [*octets[: parts - 1], int.from_bytes(bytes(octets[parts - 1 :]))]
    styles = [str, hex, lambda n: hex(n).upper(), lambda n: f"0{n:o}", lambda n: f"0x{n:010x}", lambda n: f"{n:04o}"]
    text = draw(st.sampled_from([".", "\u3002", "\uff0e", "\uff61"])).join(draw(st.sampled_from(styles))(n) for n in numbers)
    if draw(st.booleans()):
        text = text.translate({ord(digit): 0xFF10 + int(digit) for digit in "0123456789"})
    if draw(st.booleans()):
        text = "".join(f"%{ord(c):02x}" if c.isascii() and c.isdigit() and draw(st.booleans()) else c for c in text)
    return address, text + draw(st.sampled_from(["", ".", ":80", ":"]))


@given(spelled_ipv4(), st.sampled_from(["http", "https"]))
def test_no_spelling_of_a_special_ipv4_address_is_ever_dialled(spelled: tuple[IPv4Address, str], scheme: str) -> None:
    assert _dialled(f"{scheme}://{spelled[1]}/") == ()


@given(st.ip_addresses(v=6), st.sampled_from(["compressed", "exploded"]), st.booleans())
def test_no_spelling_of_a_special_ipv6_address_is_ever_dialled(address: IPv6Address, form: str, upper: bool) -> None:
    text = getattr(address, form)
    dialled = _dialled(f"http://[{text.upper() if upper else text}]/")
    assert dialled == ((address,) if classify_address(address) is AddressClass.PUBLIC else ())


@given(st.text(max_size=40))
def test_any_text_is_read_into_a_canonical_host_or_refused(text: str) -> None:
    host = parse_host(text)
    if not isinstance(host, Refusal):
        assert parse_host(host_text(host)) == host
        assert host_text(host).isascii()


@given(st.lists(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)), max_size=4))
def test_one_answer_that_is_not_public_refuses_the_name(answers: list) -> None:
    verdict = judge_answers("example.com", 443, answers)
    all_public = bool(answers) and all(classify_address(answer) is AddressClass.PUBLIC for answer in answers)
    assert isinstance(verdict, Dial) == all_public


def _dialled(url: str) -> tuple:
    target = parse_url(url)
    if isinstance(target, Refusal):
        return ()
    verdict = judge_destination(target.host, target.port)
    assert not isinstance(verdict, LookUp), f"{url} was taken for a name"
    return verdict.addresses if isinstance(verdict, Dial) else ()


def test_a_mixed_answer_gives_the_reason_of_the_bad_one() -> None:
    verdict = judge_answers("example.com", 80, [ip_address("1.1.1.1"), ip_address("192.168.0.10")])
    assert isinstance(verdict, Refusal)
    assert verdict.code == errors.ADDRESS_PRIVATE
