"""A real proxy on loopback, with a recording resolver, and a recording server behind it."""

import asyncio
import base64
import contextlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
import uvloop
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from contracts.egress_log import NetworkDecision
from contracts.tickets import NetworkGrant, Ticket, WorkspaceRef
from egress.adapters.dialler import TCPDialler
from egress.app.handler import Judges, Outside
from egress.app.wiring import build
from egress.domain.limits import Limits
from policy import tickets
from policy.addresses import IPAddress
from policy.destinations import OperatorRules

NOW = 1_800_000_000_000
KEY = Ed25519PrivateKey.generate()
LOOPBACK = OperatorRules(networks=(ip_network("127.0.0.0/8"),))


def make_ticket(**changes: Any) -> str:
    """A valid credential, or one with something wrong about it."""
    ticket = Ticket(
        audience="egress",
        call_id="c" * 32,
        chat_id="a" * 32,
        tool="run_command",
        arguments={},
        workspace=WorkspaceRef(name="b" * 32),
        policy="ask",
        policy_hash="0" * 64,
        network=NetworkGrant(enabled=True),
        stream="d" * 32,
        nonce=secrets.token_hex(16),
        epoch=1,
        issued_at=NOW - 1_000,
        deadline=NOW + 60_000,
        timeout_seconds=60,
    )
    return tickets.sign(ticket.model_copy(update=changes), KEY)


def basic(encoded: str, user: str = "ticket") -> str:
    """A header line with the credential."""
    return "Proxy-Authorization: Basic " + base64.b64encode(f"{user}:{encoded}".encode()).decode() + "\r\n"


@dataclass
class SpyResolver:
    """Answers from a table and remembers each look-up."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    delay: float = 0.0

    async def resolve(self, name: str, owner: str) -> tuple[IPAddress, ...]:
        """Look the table up."""
        del owner
        self.asked.append(name)
        await asyncio.sleep(self.delay)
        return tuple(ip_address(text) for text in self.answers.get(name, []))


@dataclass
class Decisions:
    """Keeps what was decided."""

    lines: list[NetworkDecision] = field(default_factory=list)

    def write(self, decision: NetworkDecision) -> None:
        """Keep one."""
        self.lines.append(decision)


@dataclass
class Origin:
    """A server that keeps what it gets and answers each connection with fixed bytes."""

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    got: bytearray = field(default_factory=bytearray)
    connections: int = 0
    port: int = 0
    # Answer at once and close, or answer when the client's side has ended (for tunnels).
    echo: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                self.got += data
                if self.echo:
                    writer.write(data)
                    await writer.drain()
                elif self.answer and b"\r\n\r\n" in self.got and not self.got.endswith(b"more\r\n"):
                    writer.write(self.answer)
                    break
        writer.close()


@dataclass
class Setup:
    """What a test talks to."""

    port: int
    origin: Origin
    resolver: SpyResolver
    decisions: Decisions
    proxy: Any

    async def talk(self, request: bytes | str, *, seconds: float = 5.0) -> bytes:
        """Send bytes to the proxy and read until it closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request.encode() if isinstance(request, str) else request)
        async with asyncio.timeout(seconds):
            answer = await reader.read()
        writer.close()
        return answer

    async def tunnel(self, target: str, credential: str) -> tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]:
        """Ask for a tunnel; the head of the answer, and the tunnel."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credential}\r\n".encode())
        async with asyncio.timeout(5):
            head = await reader.readuntil(b"\r\n\r\n")
        return head, reader, writer


Story = Callable[[Setup], Awaitable[None]]


def tell(
    story: Story,
    *,
    limits: Limits | None = None,
    operator: OperatorRules = LOOPBACK,
    resolver: SpyResolver | None = None,
    origin: Origin | None = None,
) -> None:
    """Run a story against a proxy and a server of its own."""

    async def main() -> None:
        behind, spy, kept = origin or Origin(), resolver or SpyResolver(), Decisions()
        server = await asyncio.start_server(behind.serve, "127.0.0.1", 0)
        behind.port = server.sockets[0].getsockname()[1]
        judges = Judges(KEY.public_key(), operator, limits or replace(Limits(), connect_seconds=3), ipv6=False, clock=lambda: NOW)
        proxy = build(judges, Outside(spy, TCPDialler(), kept))
        listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(proxy.serve("127.0.0.1", 0, listening.set_result))
        try:
            async with asyncio.timeout(30):
                await story(Setup(await listening, behind, spy, kept, proxy))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            server.close()

    uvloop.run(main())


@pytest.fixture(name="tell")
def _tell() -> Callable[..., None]:
    return tell


@pytest.fixture(name="make_ticket")
def _make_ticket() -> Callable[..., str]:
    return make_ticket


@pytest.fixture(name="basic")
def _basic() -> Callable[..., str]:
    return basic


@pytest.fixture(name="key")
def _key() -> Ed25519PrivateKey:
    return KEY


@pytest.fixture(name="now")
def _now() -> int:
    return NOW


@pytest.fixture(name="SpyResolver")
def _spy_resolver() -> type[SpyResolver]:
    return SpyResolver


@pytest.fixture(name="Origin")
def _origin() -> type[Origin]:
    return Origin
