"""Builds the proxy from its settings; tests hand in their own outside."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from egress.adapters.decisions_socket import DecisionsSocket
from egress.adapters.dialler import TCPDialler
from egress.adapters.listener import Listener
from egress.adapters.resolver import SystemResolver
from egress.app.handler import Judges, Outside, RequestHandler
from egress.app.settings import Settings


@dataclass(frozen=True)
class Proxy:
    """A proxy that is ready to listen."""

    listener: Listener
    handler: RequestHandler

    async def serve(self, host: str, port: int, on_listening: Callable[[int], None] = lambda _: None) -> None:
        """Serve until cancelled."""
        await self.listener.serve(self.handler.handle, host, port, on_listening)


def build(judges: Judges, outside: Outside) -> Proxy:
    """Put the parts together."""
    listener = Listener(judges.limits)
    return Proxy(listener, RequestHandler(judges, outside, listener.relay))


def read_judges(settings: Settings) -> Judges:
    """What decides, from the settings and the key file.

    Raises:
        ValueError: the key is not an Ed25519 public key in PEM, or a list cannot be read.
        OSError: there is no key file.
    """
    key = load_pem_public_key(settings.public_key_file.read_bytes())
    if not isinstance(key, Ed25519PublicKey):
        message = f"{settings.public_key_file} (EGRESS_PUBLIC_KEY_FILE) is not an Ed25519 key"
        raise ValueError(message)  # noqa: TRY004 (a value in a file, not a type in the code)
    return Judges(key, settings.operator_rules(), settings.limits(), settings.ipv6, lambda: time.time_ns() // 1_000_000)


async def run(settings: Settings, judges: Judges, on_listening: Callable[[int], None]) -> None:
    """Run the proxy and the line to the orchestrator until cancelled."""
    resolver = SystemResolver(ipv6=settings.ipv6)
    decisions = DecisionsSocket(settings.decisions_socket)
    proxy = build(judges, Outside(resolver, TCPDialler(), decisions))
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(decisions.run())
            tasks.create_task(proxy.serve(settings.listen_host, settings.port, on_listening))
    finally:
        resolver.close()
