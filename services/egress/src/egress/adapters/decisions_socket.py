"""Decisions go to the orchestrator as lines on a Unix socket; the proxy never waits for it."""

import asyncio
import contextlib
import socket
from pathlib import Path

import structlog

from contracts.egress_log import NetworkDecision

QUEUE_LINES = 2_000
MAX_BACKOFF_SECONDS = 2.0

log = structlog.get_logger()


class DecisionsSocket:
    """A client that reconnects. Lines wait in a bounded queue; what finds it full is dropped, counted and logged."""

    def __init__(self, path: Path, *, queue_lines: int = QUEUE_LINES) -> None:
        self._path = path
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(queue_lines)
        self.dropped = 0

    def write(self, decision: NetworkDecision) -> None:
        """Queue one line, or drop it when the queue is full."""
        try:
            self._lines.put_nowait(decision.model_dump_json().encode() + b"\n")
        except asyncio.QueueFull:
            self.dropped += 1
            if self.dropped.bit_count() == 1:  # 1, 2, 4, 8 …: loud at first, never a flood
                log.warning("decisions_dropped", total=self.dropped)

    async def run(self) -> None:
        """Send lines until cancelled. A line whose sending failed is sent again on the next connection."""
        line: bytes | None = None
        backoff, told = 0.05, False
        while True:
            with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
                connection.setblocking(False)
                loop = asyncio.get_running_loop()
                try:
                    await loop.sock_connect(connection, str(self._path))
                    log.info("decisions_connected", waiting=self._lines.qsize())
                    backoff, told = 0.05, False
                    while True:
                        line = line or await self._next_line(connection)
                        await loop.sock_sendall(connection, line)
                        line = None
                except OSError as exc:
                    if not told:  # once for each time that it goes, not for each attempt to get it back
                        log.warning("decisions_disconnected", error=type(exc).__name__)
                    told = True
            await asyncio.sleep(backoff)
            backoff = min(MAX_BACKOFF_SECONDS, backoff * 2)

    async def _next_line(self, connection: socket.socket) -> bytes:
        """The next line to send.

        The core never answers, so whatever can be read means that it is gone: noticed at once, and not with the first
        line of a call that would then come too late.

        Raises:
            ConnectionResetError: the other end closed.
        """
        gone = asyncio.ensure_future(asyncio.get_running_loop().sock_recv(connection, 1))
        taken = asyncio.ensure_future(self._lines.get())
        try:
            await asyncio.wait({gone, taken}, return_when=asyncio.FIRST_COMPLETED)
            if taken.done():
                return taken.result()
            raise ConnectionResetError
        finally:
            gone.cancel()
            taken.cancel()
            await asyncio.wait({gone, taken})
