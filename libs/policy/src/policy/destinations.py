"""May a host and port be reached, and at which addresses? Asked before the look-up, and again with its answers.

The caller dials one of the addresses of `Dial` and nothing else: the address that was judged is the one that is
connected to, and no name is looked up twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from contracts import errors
from contracts.errors import Refusal
from contracts.tickets import AllowedHost
from policy.addresses import IPAddress, IPNetwork, judge_address
from policy.hosts import Host, judge_name
from policy.urls import parse_authority


@dataclass(frozen=True)
class Dial:
    """Connect to one of these, in this order of preference."""

    addresses: tuple[IPAddress, ...]


@dataclass(frozen=True)
class LookUp:
    """Look this name up and hand all its answers to `judge_answers`."""

    name: str


@dataclass(frozen=True)
class OperatorRules:
    """What the operator of this machine says about its own network; all empty by default.

    `hosts` are reached whatever their addresses are, so the DNS of those names is trusted. `networks` count as public:
    for machines whose package mirrors have special addresses. `refused` are public by their number and still not to be
    reached: the machine's own public address, a company's public block, a local NAT64 prefix. It wins over the others.
    """

    hosts: frozenset[tuple[Host, int]] = frozenset()
    networks: tuple[IPNetwork, ...] = ()
    refused: tuple[IPNetwork, ...] = ()


NO_RULES = OperatorRules()


def judge_destination(
    host: Host, port: int, *, allowed_hosts: Iterable[AllowedHost] = (), operator: OperatorRules = NO_RULES
) -> Dial | LookUp | Refusal:
    """Judge a host before anything is looked up.

    A host and port that a person allowed is dialled at the address that was pinned then, and its name is never looked
    up again. `allowed_hosts` name hosts in their canonical form.
    """
    for allowed in allowed_hosts:
        if allowed.host == str(host) and allowed.port == port:
            return Dial((ip_address(allowed.address),))
    if not isinstance(host, str):
        return judge_answers(host, port, (host,), operator=operator)
    if (host, port) not in operator.hosts and (refusal := judge_name(host)):
        return refusal
    return LookUp(host)


def judge_answers(host: Host, port: int, answers: Sequence[IPAddress], *, operator: OperatorRules = NO_RULES) -> Dial | Refusal:
    """Judge all answers of one look-up; a single one that is not public refuses the name.

    Otherwise a retry could pick the bad answer, and a name that mixes both is not an ordinary site anyway.
    """
    if not answers:
        return Refusal(
            code=errors.HOST_UNRESOLVED, detail=f"The name {host} has no address.", hint="Check the spelling of the host."
        )
    for address in answers:
        if refusal := _judge_answer(host, port, address, operator):
            return refusal
    return Dial(tuple(answers))


def parse_operator_rules(allowed: Iterable[str], refused: Iterable[str]) -> OperatorRules:
    """Read an operator's lists: `host:port` or a CIDR block in `allowed`, CIDR blocks in `refused`.

    Raises:
        ValueError: an entry is neither; the message names it.
    """
    hosts: set[tuple[Host, int]] = set()
    networks: list[IPNetwork] = []
    for entry in allowed:
        if "/" in entry:
            networks.append(ip_network(entry))
            continue
        place = parse_authority(entry, default_port=None)
        if isinstance(place, Refusal):
            message = f"{entry!r} is neither host:port nor a CIDR block: {place.detail}"
            raise ValueError(message)  # noqa: TRY004 (a refusal is a value; its content is what is wrong)
        hosts.add(place)
    return OperatorRules(frozenset(hosts), tuple(networks), tuple(ip_network(entry) for entry in refused))


def _judge_answer(host: Host, port: int, address: IPAddress, operator: OperatorRules) -> Refusal | None:
    if any(address in network for network in operator.refused):
        return Refusal(
            code=errors.ADDRESS_OPERATOR,
            detail=f"{address} is in a network that the operator of this machine has closed.",
            hint="Its operator set EGRESS_OPERATOR_REFUSED.",
        )
    if (host, port) in operator.hosts or any(address in network for network in operator.networks):
        return None
    return judge_address(address)
