"""The listening side: a client is heard until its request's head is whole, then handed to the handler.

Whoever has not shown a credential yet can hold little: a head has a size and a time, and when too many wait, the one
that has waited longest has to go, so that a crowd of silent connections shuts nobody out.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import cast

import structlog

from contracts import errors
from contracts.errors import Refusal
from egress.adapters.relay import Relay, Side
from egress.domain.answers import refusal_response
from egress.domain.head import HeadReader
from egress.domain.limits import Limits

# How long a client has to read a refusal and close, before the connection is cut.
LINGER_SECONDS = 2.0
SWEEP_SECONDS = 0.5

log = structlog.get_logger()

type Handler = Callable[["ClientConnection", bytes, bytes], Awaitable[None]]


class Listener:
    """All open connections of clients, and the clock that ends them."""

    def __init__(self, limits: Limits) -> None:
        """Nothing is open yet."""
        self.limits = limits
        self._waiting: dict[ClientConnection, None] = {}
        self._handled: set[ClientConnection] = set()
        self._relays: set[Relay] = set()

    async def serve(self, handler: Handler, host: str, port: int, on_listening: Callable[[int], None] = lambda _: None) -> None:
        """Listen until cancelled, then cut what is open.

        `handler` gets each connection with its request's head and what followed it; `on_listening` the port.
        """
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: ClientConnection(self, handler), host, port, backlog=512)
        on_listening(server.sockets[0].getsockname()[1])
        try:
            while True:
                await asyncio.sleep(SWEEP_SECONDS)
                self._sweep(loop.time())
        finally:
            server.close()
            for client in (*self._waiting, *self._handled):
                client.abort()
            for relay in [*self._relays]:
                relay.abort()

    def admit(self, client: "ClientConnection") -> None:
        """Keep a client that has not been heard yet, or that is being let go."""
        self._handled.discard(client)
        if len(self._waiting) >= self.limits.waiting:
            oldest = next(iter(self._waiting))
            self.forget(oldest)
            oldest.abort()
        self._waiting[client] = None

    def heard(self, client: "ClientConnection") -> None:
        """A head is whole: the client waits no longer, it is being handled."""
        self._waiting.pop(client, None)
        self._handled.add(client)

    def forget(self, client: "ClientConnection") -> None:
        """A client is gone, or has become the side of a relay."""
        self._waiting.pop(client, None)
        self._handled.discard(client)

    def relay(self, *, ends_at: float, on_end: Callable[[], None]) -> Relay:
        """A relay that is watched from now on; `on_end` is called once when it is over."""

        def ended(relay: Relay) -> None:
            self._relays.discard(relay)
            on_end()

        relay = Relay(self.limits, ends_at=ends_at, on_end=ended)
        self._relays.add(relay)
        return relay

    def _sweep(self, now: float) -> None:
        for client in [client for client in (*self._waiting, *self._handled) if now >= client.deadline]:
            client.abort()
        for relay in [relay for relay in self._relays if relay.expired(now)]:
            relay.abort()


class ClientConnection(asyncio.Protocol):
    """A client from its first byte to its tunnel, or to its refusal."""

    transport: asyncio.Transport

    def __init__(self, listener: Listener, handler: Handler) -> None:
        """Made for each accepted connection."""
        self._listener = listener
        self._handler = handler
        self._reader: HeadReader | None = HeadReader()
        self._task: asyncio.Task[None] | None = None
        self._clock = asyncio.get_running_loop().time
        self.deadline = self._clock() + listener.limits.head_seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the head."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name
        self._listener.admit(self)

    def data_received(self, data: bytes) -> None:
        """Collect the head; afterwards, drop what a refused client still sends."""
        if self._reader is None:
            return
        outcome = self._reader.feed(data)
        if outcome is None:
            return
        self._reader = None
        if isinstance(outcome, Refusal):
            self.refuse(outcome)
            return
        self.transport.pause_reading()
        # The handler bounds itself by connect_seconds; this is for the case that it does not.
        self.deadline = self._clock() + 2 * self._listener.limits.connect_seconds
        self._listener.heard(self)
        self._task = asyncio.create_task(self._handle(*outcome))

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop whatever was begun for the client."""
        del exc
        self._listener.forget(self)
        if self._task:
            self._task.cancel()

    def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal and close, leaving the client a moment to read it."""
        if self.transport.is_closing():
            return
        self._reader = None
        self.deadline = self._clock() + LINGER_SECONDS
        self._listener.admit(self)
        self.transport.write(refusal_response(refusal))
        self.transport.write_eof()
        self.transport.resume_reading()

    def become(self, side: Side) -> None:
        """Hand the connection over to a relay."""
        self._task = None
        self._listener.forget(self)
        self.transport.set_protocol(side)
        side.connection_made(self.transport)

    def abort(self) -> None:
        """Cut the connection."""
        self.transport.abort()

    async def _handle(self, head: bytes, rest: bytes) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            try:
                await self._handler(self, head, rest)
            except Exception:
                log.exception("request_failed")
                self.refuse(Refusal(code=errors.INTERNAL, detail="Something went wrong inside egress."))
