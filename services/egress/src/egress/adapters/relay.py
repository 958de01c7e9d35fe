"""Two connections joined: what comes in at one side goes out at the other, no faster than that side takes it."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

import h11

from egress.domain.limits import Limits
from egress.domain.requests import Body

# What may wait for a slow reader, for each side, before its sender is paused.
HIGH_WATER_BYTES = 128 * 1024

# socket(7), SO_LINGER with a time of zero: closing sends a reset and not a FIN.
_RESET = struct.pack("ii", 1, 0)


class Relay:
    """The life of one joined pair. It ends when both sides have ended, one is lost, or a limit is reached."""

    def __init__(self, limits: Limits, *, ends_at: float, on_end: Callable[["Relay"], None]) -> None:
        """`ends_at` is in the loop's time; `on_end` is called once, when both connections are gone."""
        self._limits = limits
        self._ends_at = ends_at
        self._on_end = on_end
        self._clock = asyncio.get_running_loop().time
        self._sides: tuple[Side, ...] = ()
        self._closing = False
        self._last_activity = self._clock()
        self._transferred = 0

    def join(self, client: "Side", server: "Side") -> None:
        """Let the bytes flow. Both sides have a transport, with its reading paused."""
        self._sides = (client, server)
        client.peer, server.peer = server, client
        for side in self._sides:
            side.transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
            side.transport.resume_reading()
        if client.lost or server.lost:
            self.abort()

    def expired(self, now: float) -> bool:
        """Whether the pair has been idle, half closed or open for too long."""
        ending = self._closing or any(side.ended for side in self._sides)
        idle_limit = self._limits.half_closed_seconds if ending else self._limits.idle_seconds
        return now >= self._ends_at or now - self._last_activity > idle_limit

    def count(self, size: int) -> bool:
        """Note that bytes passed; False when they are more than may pass."""
        self._last_activity = self._clock()
        self._transferred += size
        limit = self._limits.bytes_per_connection
        return limit is None or self._transferred <= limit

    def side_ended(self) -> None:
        """A side has sent its last byte; when both have, what is buffered is flushed and both are closed."""
        if not self._closing and all(side.ended for side in self._sides):
            self._closing = True
            for side in self._sides:
                side.transport.close()

    def side_lost(self, side: "Side") -> None:
        """A connection is gone: the other goes too, or it is the end."""
        if side not in self._sides:
            return
        if all(each.lost for each in self._sides):
            self._on_end(self)
        elif not self._closing:
            self.abort()

    def abandon(self) -> None:
        """It is over before there was a pair to join."""
        self._on_end(self)

    def abort(self) -> None:
        """Reset both sides at once, so that nobody takes the cut for a proper end."""
        self._closing = True
        for side in self._sides:
            if not side.lost:
                side.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                side.transport.abort()


class Side(asyncio.Protocol):
    """One side of a relay; it hands on bytes, pressure and end."""

    transport: asyncio.Transport
    peer: "Side"

    def __init__(self, relay: Relay) -> None:
        """Made for a relay before there is a connection."""
        self.relay = relay
        self.ended = False
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hold what comes in until the pair is joined."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name
        self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Hand bytes on."""
        if self.relay.count(len(data)):
            self.peer.transport.write(data)
        else:
            self.relay.abort()

    def eof_received(self) -> bool:
        """Hand the end on; the other direction stays open."""
        self.ended = True
        if not self.peer.transport.is_closing():
            self.peer.transport.write_eof()
        self.relay.side_ended()
        return True

    def pause_writing(self) -> None:
        """This side is slow: stop reading from the other."""
        self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        """It has caught up."""
        self.peer.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """A lost side takes the other with it."""
        del exc  # A reset and a time-out come to the same.
        self.ended = self.lost = True
        self.relay.side_lost(self)


class RequestSide(Side):
    """The client's side of one plain HTTP request: the body is framed anew, and nothing after it is passed on."""

    def __init__(self, relay: Relay, body: Body) -> None:
        """`body` has been fed what came with the head."""
        super().__init__(relay)
        self._body = body

    def data_received(self, data: bytes) -> None:
        """Hand on what belongs to the request; anything after it is dropped and does not count as life."""
        if self._body.complete:
            return
        try:
            framed = self._body.feed(data)
        except h11.RemoteProtocolError:
            self.relay.abort()
            return
        if not self.relay.count(len(data)):
            self.relay.abort()
        elif framed:
            self.peer.transport.write(framed)

    def eof_received(self) -> bool:
        """A client that ends in the middle of its request gets no answer; after it, the answer still comes."""
        self.ended = True
        if self._body.complete:
            self.relay.side_ended()
        else:
            self.relay.abort()
        return True
