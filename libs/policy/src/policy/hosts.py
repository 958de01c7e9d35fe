"""What a host text means, whichever way it is written, and which names are refused before anybody looks them up.

Two programs that read one host text differently are the root of most bypasses, so nothing is guessed here: a text has
one canonical form (a lower-case ASCII name, or an address in its usual form) or it is refused. The other spellings of
IPv4 that inet_aton(3) and browsers take (decimal, octal, hexadecimal, fewer parts) are understood only to name the
right reason.
"""

import re
from ipaddress import IPv4Address, IPv6Address

import idna

from contracts import errors
from contracts.errors import Refusal
from policy.addresses import IPAddress, judge_address

MAX_HOST_CHARACTERS = 253

# An address, or a name in lower-case ASCII without the final dot.
Host = str | IPv4Address | IPv6Address

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
# inet_aton(3): one to four numbers. Longer ones only pad with zeros.
_IPV4_PARTS = 4
_MAX_NUMBER_CHARACTERS = 20
_TOP_LEVEL = re.compile(r"[a-z]{2,63}|xn--[a-z0-9-]{1,59}")

# Names that mean something only on this machine or in its network, with everything below them.
BLOCKED_SUFFIXES = frozenset({
    # RFC 6761: localhost, names that must not resolve, and test names.
    "localhost", "invalid", "test", "example",
    # RFC 6762 (multicast DNS), RFC 8375, RFC 7686 (Tor), RFC 9476.
    "local", "home.arpa", "onion", "alt",
    # ICANN board resolution 2024.07.29.06: reserved for private use. Covers host.docker.internal,
    # gateway.docker.internal, host.containers.internal, metadata.google.internal and instance-data.ec2.internal.
    "internal",
    # RFC 6762 appendix G and ICANN's name-collision reports: what private networks call themselves.
    "localdomain", "localdomain4", "localdomain6", "intranet", "private", "corp", "home", "lan", "mail",
    # Google Cloud's other name of its metadata server.
    "metadata.goog",
})  # fmt: skip


def parse_host(text: str) -> Host | Refusal:
    """Read a host as a URL has it (IPv6 in brackets): its canonical form, or why it has none.

    An address comes back whatever its kind, and a name whatever it is called: judging them is another step.
    """
    if not text:
        return _malformed("There is no host in it.")
    if text.startswith("["):
        return _ipv6(text)
    if "%" in text:
        return _malformed("The host is percent-encoded.")
    name = _ascii_name(text)
    if isinstance(name, Refusal):
        return name
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(text, labels)
    if len(name.removesuffix(".")) > MAX_HOST_CHARACTERS or not all(_LABEL.fullmatch(label) for label in labels):
        return _malformed("The host is not a valid name.")
    return ".".join(labels)


def judge_name(name: str) -> Refusal | None:
    """None for a name that may be looked up, else why not. `name` is what `parse_host` gave."""
    labels = name.split(".")
    if len(labels) == 1:
        return _blocked(name, "has no dot and means something only inside a local network")
    if any(".".join(labels[start:]) in BLOCKED_SUFFIXES for start in range(len(labels))):
        return _blocked(name, "means something only on this machine or in its network")
    if not _TOP_LEVEL.fullmatch(labels[-1]):
        return _blocked(name, "does not end in a top-level domain")
    return None


def host_text(host: Host) -> str:
    """The host as it stands in a URL and in a Host header."""
    return f"[{host}]" if isinstance(host, IPv6Address) else str(host)


def _ascii_name(text: str) -> str | Refusal:
    if text.isascii():
        return text.lower()
    try:
        # UTS 46 mapping folds full-width digits and other dots; IDNA 2008 then refuses what no registry would register.
        return idna.encode(text, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        return _malformed("The host is not a valid internationalised name.")


def _ipv6(text: str) -> IPAddress | Refusal:
    if not text.endswith("]") or "%" in text:
        return _malformed("The IPv6 address is not in brackets, or it has a zone.")
    try:
        return IPv6Address(text[1:-1])
    except ValueError:
        return _malformed("The host is not a valid IPv6 address.")


def _ipv4(text: str, labels: list[str]) -> IPAddress | Refusal:
    try:
        return IPv4Address(text)
    except ValueError:
        address = _loose_ipv4(labels)
    if address is None:
        return _malformed("The host ends in a number and is not an IPv4 address.")
    return judge_address(address) or _malformed(f"The address is written in an unusual way; it may mean {address}.")


def _loose_ipv4(labels: list[str]) -> IPv4Address | None:
    """The IPv4 parser of the WHATWG URL standard, section 3.5: what inet_aton(3) takes."""
    if len(labels) > _IPV4_PARTS or not all(_NUMBER.fullmatch(label) for label in labels):
        return None
    numbers = [_number(label) for label in labels]
    last = numbers.pop()
    if None in numbers or last is None:
        return None
    value = last
    if last >= 256 ** (_IPV4_PARTS - len(numbers)):
        return None
    for position, number in enumerate(numbers):
        if number is None or number >> 8:
            return None
        value += number << 8 * (3 - position)
    return IPv4Address(value)


def _number(label: str) -> int | None:
    if len(label) > _MAX_NUMBER_CHARACTERS:
        return None
    try:
        if label.startswith("0x"):
            return int(label[2:] or "0", 16)
        return int(label, 8) if label.startswith("0") else int(label)
    except ValueError:
        return None


def _malformed(detail: str) -> Refusal:
    return Refusal(
        code=errors.URL_MALFORMED, detail=detail, hint="Write the host as a plain name, or as an address in its usual form."
    )


def _blocked(name: str, why: str) -> Refusal:
    return Refusal(
        code=errors.HOST_BLOCKED,
        detail=f"The name {name} {why}.",
        hint="A person can allow this exact host and port.",
    )
