"""One request, from its head to its tunnel: who asks, what for, may they, and then dial what was judged."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from typing import Literal

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from contracts import errors
from contracts.egress_log import NetworkDecision
from contracts.errors import Refusal
from contracts.tickets import Ticket
from egress.adapters.listener import ClientConnection
from egress.adapters.relay import Relay, RequestSide, Side
from egress.domain.answers import ESTABLISHED, status_of
from egress.domain.credential import Admission, judge_grant
from egress.domain.head import RequestHead, parse_head
from egress.domain.limits import Limits, OpenCalls
from egress.domain.ports import DecisionLog, Dialler, Resolver
from egress.domain.requests import Forward, Method, Tunnel, judge_request
from policy.addresses import IPAddress
from policy.destinations import Dial, LookUp, OperatorRules, judge_answers, judge_destination
from policy.hosts import MAX_HOST_CHARACTERS

# More than a few addresses of one name are not tried; each has its share of the time.
ADDRESSES_TRIED = 4

# 502 and 504: it was allowed and did not work.
_STATUS_OF_FAILURES = frozenset({502, 504})

log = structlog.get_logger()


@dataclass(frozen=True)
class Place:
    """What a request asked for, as it is reported."""

    method: Method
    host: str
    port: int


@dataclass(frozen=True)
class Judges:
    """What decides: the orchestrator's public key, the operator's rules, the limits, and the wall clock in Unix ms."""

    key: Ed25519PublicKey
    operator: OperatorRules
    limits: Limits
    ipv6: bool
    clock: Callable[[], int]


@dataclass(frozen=True)
class Outside:
    """What acts."""

    resolver: Resolver
    dialler: Dialler
    decisions: DecisionLog


class RequestHandler:
    """Handles requests. Nothing is looked up or dialled for a client that has not shown a valid ticket."""

    def __init__(self, judges: Judges, outside: Outside, new_relay: Callable[..., Relay]) -> None:
        """`new_relay` is `Listener.relay`."""
        self._judges = judges
        self._outside = outside
        self._new_relay = new_relay
        self._open = OpenCalls(judges.limits)
        self._admission = Admission(judges.key)

    async def handle(self, client: ClientConnection, head: bytes, rest: bytes) -> None:
        """Answer one request; `rest` is what came after its head."""
        request = parse_head(head)
        if isinstance(request, Refusal):
            _refuse(client, request)
            return
        ticket = self._admission.admit(request.headers.get(b"proxy-authorization"), self._judges.clock())
        if isinstance(ticket, Refusal):
            _refuse(client, ticket)
            return
        asked = judge_request(request)
        verdict = judge_grant(ticket) or asked
        if isinstance(verdict, Refusal):
            self._report(ticket, _place(request, asked), verdict)
            client.refuse(verdict)
            return
        await self._connect(client, ticket, verdict, rest)

    async def _connect(self, client: ClientConnection, ticket: Ticket, asked: Tunnel | Forward, rest: bytes) -> None:
        report = partial(self._report, ticket, Place(asked.method, str(asked.host), asked.port))
        if not self._open.enter(ticket.call_id):
            refusal = Refusal(code=errors.NETWORK_BUSY, detail="Too many connections are open at once.", hint="Close some first.")
            report(refusal)
            client.refuse(refusal)
            return
        leave = partial(self._open.leave, ticket.call_id)
        joined = False
        try:
            relay = self._new_relay(ends_at=self._end_of(ticket), on_end=leave)
            server = await self._open_server(ticket, asked, partial(Side, relay))
            if isinstance(server, Refusal):
                report(server)
                client.refuse(server)
                return
            joined = True
        finally:
            if not joined:
                relay.abandon()
        report(None, str(server.transport.get_extra_info("peername")[0]))
        _join(client, server, asked, rest)

    def _end_of(self, ticket: Ticket) -> float:
        left = (ticket.deadline - self._judges.clock()) / 1_000
        return asyncio.get_running_loop().time() + min(self._judges.limits.total_seconds, left)

    async def _open_server(self, ticket: Ticket, asked: Tunnel | Forward, side: Callable[[], Side]) -> Side | Refusal:
        try:
            async with asyncio.timeout(self._judges.limits.connect_seconds):
                verdict = await self._judge(ticket, asked)
                return verdict if isinstance(verdict, Refusal) else await self._dial(verdict.addresses, asked.port, side)
        except TimeoutError:
            return Refusal(code=errors.HOST_TIMED_OUT, detail=f"The name {asked.host} could not be looked up in time.")

    async def _judge(self, ticket: Ticket, asked: Tunnel | Forward) -> Dial | Refusal:
        operator = self._judges.operator
        verdict = judge_destination(asked.host, asked.port, allowed_hosts=ticket.network.allowed_hosts, operator=operator)
        if isinstance(verdict, LookUp):
            answers = await self._outside.resolver.resolve(verdict.name, ticket.call_id)
            verdict = judge_answers(verdict.name, asked.port, answers, operator=operator)
        return verdict

    async def _dial(self, addresses: tuple[IPAddress, ...], port: int, side: Callable[[], Side]) -> Side | Refusal:
        usable = [address for address in addresses if self._judges.ipv6 or isinstance(address, IPv4Address)][:ADDRESSES_TRIED]
        refusal = Refusal(
            code=errors.ADDRESS_FAMILY, detail="This host is reachable over IPv6 only, which is switched off in egress."
        )
        for address in usable:
            try:
                async with asyncio.timeout(self._judges.limits.connect_seconds / (len(usable) + 1)):
                    return await self._outside.dialler.dial(address, port, side)
            except TimeoutError:
                refusal = Refusal(code=errors.HOST_TIMED_OUT, detail=f"{address} did not answer on port {port} in time.")
            except OSError as exc:
                why = f"{exc.strerror or exc!s:.200}"
                refusal = Refusal(code=errors.HOST_UNREACHABLE, detail=f"{address} cannot be reached on port {port}: {why}.")
        return refusal

    def _report(self, ticket: Ticket, place: Place, refusal: Refusal | None, address: str | None = None) -> None:
        decision = NetworkDecision(
            call_id=ticket.call_id,
            time=self._judges.clock(),
            method=place.method,
            host=place.host[:MAX_HOST_CHARACTERS],
            port=place.port,
            outcome=_outcome(refusal),
            code=refusal.code if refusal else None,
            address=address,
        )
        self._outside.decisions.write(decision)
        # What went through is in the decisions; in the log it would only cost, unless somebody asked for it.
        write = log.info if refusal else log.debug
        write("decided", **decision.model_dump(exclude={"kind", "time"}, exclude_none=True))


def _refuse(client: ClientConnection, refusal: Refusal) -> None:
    """Refuse a client without a valid ticket: there is no call that it could be reported for."""
    log.info("turned_away", code=refusal.code)
    client.refuse(refusal)


def _outcome(refusal: Refusal | None) -> Literal["connected", "refused", "failed"]:
    if refusal is None:
        return "connected"
    return "failed" if status_of(refusal.code) in _STATUS_OF_FAILURES else "refused"


def _place(request: RequestHead, asked: Tunnel | Forward | Refusal) -> Place:
    """What to report of a request that was refused, which may not name a place at all."""
    if isinstance(asked, Refusal):
        return Place("CONNECT" if request.method == "CONNECT" else "HTTP", request.target, 0)
    return Place(asked.method, str(asked.host), asked.port)


def _join(client: ClientConnection, server: Side, asked: Tunnel | Forward, rest: bytes) -> None:
    relay = server.relay
    if isinstance(asked, Tunnel):
        side = Side(relay)
        client.become(side)
        side.transport.write(ESTABLISHED)
        relay.join(side, server)
        if rest:
            side.data_received(rest)
        return
    request_side = RequestSide(relay, asked.body)
    client.become(request_side)
    server.transport.write(asked.head)
    relay.join(request_side, server)
    request_side.data_received(rest)
