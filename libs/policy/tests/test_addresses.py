"""The kind of an address, by table, by oracle, and in every form that carries it."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.addresses import IPV4_SPECIAL, IPV6_SPECIAL, AddressClass, classify_address, judge_address

KINDS = [
    # Public, among them the neighbours of special blocks.
    ("1.1.1.1", AddressClass.PUBLIC),
    ("9.255.255.255", AddressClass.PUBLIC),
    ("11.0.0.0", AddressClass.PUBLIC),
    ("100.63.255.255", AddressClass.PUBLIC),
    ("100.128.0.0", AddressClass.PUBLIC),
    ("126.255.255.255", AddressClass.PUBLIC),
    ("128.0.0.1", AddressClass.PUBLIC),
    ("172.15.255.255", AddressClass.PUBLIC),
    ("172.32.0.0", AddressClass.PUBLIC),
    ("192.0.1.0", AddressClass.PUBLIC),
    ("198.17.255.255", AddressClass.PUBLIC),
    ("198.20.0.0", AddressClass.PUBLIC),
    ("223.255.255.255", AddressClass.PUBLIC),
    ("2606:4700:4700::1111", AddressClass.PUBLIC),
    ("2001:200::1", AddressClass.PUBLIC),
    ("2a00:1450::1", AddressClass.PUBLIC),
    # IPv4, special.
    ("0.0.0.0", AddressClass.UNSPECIFIED),
    ("0.1.2.3", AddressClass.RESERVED),
    ("10.255.255.255", AddressClass.PRIVATE),
    ("100.64.0.0", AddressClass.SHARED),
    ("100.127.255.255", AddressClass.SHARED),
    ("100.100.100.200", AddressClass.METADATA),
    ("127.255.255.254", AddressClass.LOOPBACK),
    ("168.63.129.16", AddressClass.METADATA),
    ("169.254.0.1", AddressClass.LINK_LOCAL),
    ("169.254.169.254", AddressClass.METADATA),
    ("172.31.255.255", AddressClass.PRIVATE),
    ("192.0.0.9", AddressClass.RESERVED),
    ("192.168.0.0", AddressClass.PRIVATE),
    ("198.19.255.255", AddressClass.RESERVED),
    ("239.255.255.255", AddressClass.MULTICAST),
    ("255.255.255.255", AddressClass.RESERVED),
    # IPv6, special.
    ("::", AddressClass.UNSPECIFIED),
    ("::1", AddressClass.LOOPBACK),
    ("fe80::1", AddressClass.LINK_LOCAL),
    ("fe80::1%eth0", AddressClass.LINK_LOCAL),
    ("febf::1", AddressClass.LINK_LOCAL),
    ("fec0::1", AddressClass.PRIVATE),
    ("fd12:3456::1", AddressClass.PRIVATE),
    ("fd00:ec2::254", AddressClass.METADATA),
    ("ff02::1", AddressClass.MULTICAST),
    ("100::1", AddressClass.RESERVED),
    ("2001:2::1", AddressClass.RESERVED),
    ("2001:1ff:ffff::1", AddressClass.RESERVED),
    ("2001:db8::1", AddressClass.RESERVED),
    ("3fff:fff::1", AddressClass.RESERVED),
    ("5f00::1", AddressClass.RESERVED),
    ("4000::1", AddressClass.RESERVED),
    ("1fff::1", AddressClass.RESERVED),
    # IPv4 inside IPv6: the kind of what is inside, and never public.
    ("::ffff:10.0.0.1", AddressClass.PRIVATE),
    ("::ffff:1.1.1.1", AddressClass.TRANSITION),
    ("::ffff:0:127.0.0.1", AddressClass.LOOPBACK),
    ("::127.0.0.1", AddressClass.LOOPBACK),
    ("::1.1.1.1", AddressClass.TRANSITION),
    ("64:ff9b::169.254.169.254", AddressClass.METADATA),
    ("64:ff9b::1.1.1.1", AddressClass.TRANSITION),
    ("64:ff9b:1::127.0.0.1", AddressClass.LOOPBACK),
    ("64:ff9b:1:0a00:0:0100:101:101", AddressClass.TRANSITION),
    ("2002:0a00:1::", AddressClass.PRIVATE),
    ("2002:101:101::1", AddressClass.TRANSITION),
    ("2001:0:101:101::f5ff:fffe", AddressClass.PRIVATE),  # Teredo client 10.0.0.1
    ("2001:0:a00:1::fefe:fefe", AddressClass.PRIVATE),  # Teredo server 10.0.0.1
    ("2001:0:101:101::fefe:fefe", AddressClass.TRANSITION),
    ("2606:4700::5efe:10.0.0.1", AddressClass.PRIVATE),
    ("2606:4700::200:5efe:192.168.0.1", AddressClass.PRIVATE),
    ("2606:4700::5efe:1.1.1.1", AddressClass.TRANSITION),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_an_address_has_its_kind(text: str, kind: AddressClass) -> None:
    assert classify_address(ip_address(text)) is kind


@pytest.mark.parametrize("text", [text for text, kind in KINDS if kind is AddressClass.PUBLIC])
def test_a_public_address_is_not_refused(text: str) -> None:
    assert judge_address(ip_address(text)) is None


def test_a_refusal_carries_the_code_of_the_kind() -> None:
    refusal = judge_address(ip_address("10.0.0.1"))
    assert refusal is not None
    assert refusal.code == "address.private"
    assert "10.0.0.1" in refusal.detail


@pytest.mark.parametrize("network", [network for network, _ in (*IPV4_SPECIAL, *IPV6_SPECIAL)], ids=str)
def test_first_and_last_address_of_every_block_are_refused(network) -> None:
    assert judge_address(network[0])
    assert judge_address(network[-1])


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_here_that_python_does_not_call_global(address: IPv4Address) -> None:
    if classify_address(address) is AddressClass.PUBLIC:
        assert address.is_global
        assert not address.is_multicast


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_is_public_here_that_python_does_not_call_global(address: IPv6Address) -> None:
    if classify_address(address) is AddressClass.PUBLIC:
        assert address.is_global
        assert not address.is_multicast
        assert address.ipv4_mapped is None
        assert address.sixtofour is None
        assert address.teredo is None


@given(st.ip_addresses(v=4))
def test_every_ipv4_address_that_python_calls_global_is_public_but_for_named_blocks(address: IPv4Address) -> None:
    if address.is_global and classify_address(address) is not AddressClass.PUBLIC:
        assert any(address in network for network, _ in IPV4_SPECIAL)


@given(st.ip_addresses(v=4), st.integers(0, 2**16 - 1), st.integers(0, 2**64 - 1))
def test_an_ipv4_address_is_never_public_inside_an_ipv6_form(inner: IPv4Address, low: int, high: int) -> None:
    bits = int(inner)
    inverted = ~bits & 0xFFFF_FFFF
    forms = [
        0xFFFF << 32 | bits,
        bits,
        0xFFFF << 48 | bits,
        0x0064_FF9B << 96 | bits,
        0x0064_FF9B_0001 << 80 | low << 64 | bits,
        0x2002 << 112 | bits << 80 | low,
        0x2001_0000 << 96 | 0x0101_0101 << 64 | inverted,
        0x2001_0000 << 96 | bits << 64 | low,
        high << 64 | 0x0000_5EFE << 32 | bits,
        high << 64 | 0x0200_5EFE << 32 | bits,
    ]
    assert [IPv6Address(form) for form in forms if classify_address(IPv6Address(form)) is AddressClass.PUBLIC] == []
