"""What kind of address this is. Only one kind, public, may be dialled for a model or a command.

The tables follow IANA's special-purpose registries; each entry names the document that reserves it. Two choices are
stricter than the registries: whatever is listed there counts as not public, also where the registry says "globally
reachable" (anycast and tunnel services that no page is served from); and of IPv6 only the global unicast block
2000::/3 can be public at all.

What this cannot know: an operator's own NAT64 prefix (RFC 6052 lets any prefix carry IPv4), and that a public address
belongs to the very machine or company it runs in. For these there is `destinations.OperatorRules.refused`.
"""

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from contracts import errors
from contracts.errors import Refusal

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network


class AddressClass(StrEnum):
    """The kinds of address; the value of each but `PUBLIC` is the code of its refusal."""

    PUBLIC = "address.public"
    LOOPBACK = errors.ADDRESS_LOOPBACK
    UNSPECIFIED = errors.ADDRESS_UNSPECIFIED
    PRIVATE = errors.ADDRESS_PRIVATE
    LINK_LOCAL = errors.ADDRESS_LINK_LOCAL
    METADATA = errors.ADDRESS_METADATA
    SHARED = errors.ADDRESS_SHARED
    MULTICAST = errors.ADDRESS_MULTICAST
    RESERVED = errors.ADDRESS_RESERVED
    TRANSITION = errors.ADDRESS_TRANSITION


# https://www.iana.org/assignments/iana-ipv4-special-registry/ (as of 2025-10) and, for the metadata services, their
# vendors' pages. The first entry that holds an address decides.
IPV4_SPECIAL: tuple[tuple[IPv4Network, AddressClass], ...] = (
    # Instance metadata: AWS, Azure, Google Cloud, OpenStack and others ("IMDS").
    (IPv4Network("169.254.169.254/32"), AddressClass.METADATA),
    # AWS: credentials of ECS tasks and of EKS pods.
    (IPv4Network("169.254.170.2/32"), AddressClass.METADATA),
    (IPv4Network("169.254.170.23/32"), AddressClass.METADATA),
    # Azure's platform service, "What is IP address 168.63.129.16?": public by its looks, the host's by its function.
    (IPv4Network("168.63.129.16/32"), AddressClass.METADATA),
    # Alibaba Cloud's metadata service, inside the shared space.
    (IPv4Network("100.100.100.200/32"), AddressClass.METADATA),
    # Oracle Cloud's former metadata service, inside 192.0.0.0/24.
    (IPv4Network("192.0.0.192/32"), AddressClass.METADATA),
    # RFC 1122 section 3.2.1.3: this host; Linux connects it to loopback.
    (IPv4Network("0.0.0.0/32"), AddressClass.UNSPECIFIED),
    # RFC 791 section 3.2: this network.
    (IPv4Network("0.0.0.0/8"), AddressClass.RESERVED),
    # RFC 1918: private use.
    (IPv4Network("10.0.0.0/8"), AddressClass.PRIVATE),
    (IPv4Network("172.16.0.0/12"), AddressClass.PRIVATE),
    (IPv4Network("192.168.0.0/16"), AddressClass.PRIVATE),
    # RFC 6598: shared address space (carrier-grade NAT).
    (IPv4Network("100.64.0.0/10"), AddressClass.SHARED),
    # RFC 1122 section 3.2.1.3: loopback, the whole of it.
    (IPv4Network("127.0.0.0/8"), AddressClass.LOOPBACK),
    # RFC 3927: link-local.
    (IPv4Network("169.254.0.0/16"), AddressClass.LINK_LOCAL),
    # RFC 6890 section 2.1: IETF protocol assignments.
    (IPv4Network("192.0.0.0/24"), AddressClass.RESERVED),
    # RFC 5737: documentation.
    (IPv4Network("192.0.2.0/24"), AddressClass.RESERVED),
    (IPv4Network("198.51.100.0/24"), AddressClass.RESERVED),
    (IPv4Network("203.0.113.0/24"), AddressClass.RESERVED),
    # RFC 7535 and RFC 7534: AS112, the sink for reverse look-ups of private addresses.
    (IPv4Network("192.31.196.0/24"), AddressClass.RESERVED),
    (IPv4Network("192.175.48.0/24"), AddressClass.RESERVED),
    # RFC 7450: automatic multicast tunnelling.
    (IPv4Network("192.52.193.0/24"), AddressClass.RESERVED),
    # RFC 7526: the former 6to4 relay anycast.
    (IPv4Network("192.88.99.0/24"), AddressClass.RESERVED),
    # RFC 2544: benchmarking; some local proxies hand these out as stand-ins for real hosts.
    (IPv4Network("198.18.0.0/15"), AddressClass.RESERVED),
    # RFC 5771: multicast. Python calls most of it global.
    (IPv4Network("224.0.0.0/4"), AddressClass.MULTICAST),
    # RFC 1112 section 4 (class E) and RFC 919 (limited broadcast).
    (IPv4Network("240.0.0.0/4"), AddressClass.RESERVED),
)

# https://www.iana.org/assignments/iana-ipv6-special-registry/ (as of 2025-10). Forms that carry an IPv4 address are
# not here: see `embedded_ipv4`.
IPV6_SPECIAL: tuple[tuple[IPv6Network, AddressClass], ...] = (
    # AWS and Google Cloud: instance metadata over IPv6; AWS: credentials of EKS pods.
    (IPv6Network("fd00:ec2::254/128"), AddressClass.METADATA),
    (IPv6Network("fd00:ec2::23/128"), AddressClass.METADATA),
    (IPv6Network("fd20:ce::254/128"), AddressClass.METADATA),
    # RFC 4291 section 2.5.2 and 2.5.3.
    (IPv6Network("::/128"), AddressClass.UNSPECIFIED),
    (IPv6Network("::1/128"), AddressClass.LOOPBACK),
    # RFC 4193: unique local.
    (IPv6Network("fc00::/7"), AddressClass.PRIVATE),
    # RFC 4291 section 2.5.6: link-local.
    (IPv6Network("fe80::/10"), AddressClass.LINK_LOCAL),
    # RFC 3879: site-local, deprecated and still routed inside some sites.
    (IPv6Network("fec0::/10"), AddressClass.PRIVATE),
    # RFC 4291 section 2.7: multicast.
    (IPv6Network("ff00::/8"), AddressClass.MULTICAST),
    # RFC 2928: IETF protocol assignments (benchmarking, ORCHID, AMT, AS112, anycast services, drone identities).
    (IPv6Network("2001::/23"), AddressClass.RESERVED),
    # RFC 3849 and RFC 9637: documentation.
    (IPv6Network("2001:db8::/32"), AddressClass.RESERVED),
    (IPv6Network("3fff::/20"), AddressClass.RESERVED),
    # RFC 7534: AS112.
    (IPv6Network("2620:4f:8000::/48"), AddressClass.RESERVED),
    # RFC 3701: the former 6bone, given back.
    (IPv6Network("3ffe::/16"), AddressClass.RESERVED),
)

# RFC 4291 section 2.4 and IANA's IPv6 address space registry: the only block that global unicast is assigned from.
IPV6_GLOBAL_UNICAST = IPv6Network("2000::/3")

# IPv6 forms whose last 32 bits are an IPv4 address.
_IPV4_IN_LAST_32_BITS: tuple[IPv6Network, ...] = (
    # RFC 4291 section 2.5.5.2: IPv4-mapped.
    IPv6Network("::ffff:0:0/96"),
    # RFC 4291 section 2.5.5.1: IPv4-compatible, deprecated. `::` and `::1` lie in it and are looked up first.
    IPv6Network("::/96"),
    # RFC 2765 section 2.1: IPv4-translated, obsolete.
    IPv6Network("::ffff:0:0:0/96"),
    # RFC 6052 section 2.1: NAT64, well-known prefix.
    IPv6Network("64:ff9b::/96"),
    # RFC 8215: NAT64 for local use. A network may also put the address higher up (RFC 6052 section 2.2); then the
    # reason named here is another, but the address is refused all the same.
    IPv6Network("64:ff9b:1::/48"),
)
# RFC 3056: 6to4; the IPv4 address is in bits 16 to 47.
_6TO4 = IPv6Network("2002::/16")
# RFC 4380 section 4: Teredo; the server's address in bits 32 to 63, the client's inverted in the last 32.
_TEREDO = IPv6Network("2001::/32")
# RFC 5214 section 6.1: ISATAP; the upper half of the interface identifier, universal bit unset or set.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)

_SENTENCES = {
    AddressClass.LOOPBACK: "is this machine itself",
    AddressClass.UNSPECIFIED: "means any address of this machine",
    AddressClass.PRIVATE: "is in a private network",
    AddressClass.LINK_LOCAL: "is only valid on the local link",
    AddressClass.METADATA: "is a cloud platform's metadata service, which hands out credentials",
    AddressClass.SHARED: "is in the shared space of a carrier's network",
    AddressClass.MULTICAST: "is a multicast address",
    AddressClass.RESERVED: "is reserved for special purposes",
    AddressClass.TRANSITION: "is an IPv6 form that carries an IPv4 address",
}


def classify_address(address: IPAddress) -> AddressClass:
    """The kind of an address; an IPv6 form that carries an IPv4 address has the kind of that, and is never public."""
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in IPV4_SPECIAL if address in network), AddressClass.PUBLIC)
    special = next((kind for network, kind in IPV6_SPECIAL if address in network), None)
    if special is not None and special is not AddressClass.RESERVED:
        return special
    carried = embedded_ipv4(address)
    if carried:
        kinds = (classify_address(inner) for inner in carried)
        return next((kind for kind in kinds if kind is not AddressClass.PUBLIC), AddressClass.TRANSITION)
    if special is not None:
        return special
    return AddressClass.PUBLIC if address in IPV6_GLOBAL_UNICAST else AddressClass.RESERVED


def judge_address(address: IPAddress) -> Refusal | None:
    """None for a public address, else why not."""
    kind = classify_address(address)
    if kind is AddressClass.PUBLIC:
        return None
    return Refusal(
        code=kind.value,
        detail=f"{address} {_SENTENCES[kind]}; only public addresses can be reached from here.",
        hint="A person can allow this exact host and port.",
    )


def embedded_ipv4(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address may carry, empty if its form carries none.

    Two for Teredo: the client's and the server's.
    """
    bits = int(address)
    if any(address in network for network in _IPV4_IN_LAST_32_BITS):
        return (IPv4Address(bits & 0xFFFF_FFFF),)
    if address in _6TO4:
        return (IPv4Address(bits >> 80 & 0xFFFF_FFFF),)
    if address in _TEREDO:
        return (IPv4Address(~bits & 0xFFFF_FFFF), IPv4Address(bits >> 64 & 0xFFFF_FFFF))
    if bits >> 32 & 0xFFFF_FFFF in _ISATAP:
        return (IPv4Address(bits & 0xFFFF_FFFF),)
    return ()
