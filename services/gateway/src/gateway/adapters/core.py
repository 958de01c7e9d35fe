"""The core, over its Unix socket: one pooled HTTP client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

import local_socket
from gateway.domain.errors import CoreUnavailableError

CONNECT_SECONDS = 3.0
# Stopping a reply may take five seconds, and asking endpoints for their models longer.
ANSWER_SECONDS = 30.0
# The core sends a heartbeat each ten seconds; without any it is not there any more.
STREAM_IDLE_SECONDS = 35.0
MAX_REPLY_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class CoreReply:
    """A whole answer of the core."""

    status: int
    body: bytes


@dataclass(frozen=True)
class CoreStream:
    """An answer that is still coming. `size` is its length in bytes where the core says it."""

    status: int
    media_type: str
    size: int | None
    chunks: AsyncIterator[bytes]


class Core:
    """The client. Every failure is a CoreUnavailableError."""

    def __init__(self, socket: Path) -> None:
        """Nothing is opened before the first request."""
        self._client = local_socket.client(socket, timeout_seconds=None)

    async def close(self) -> None:
        """Close what is pooled."""
        await self._client.aclose()

    async def ask(self, method: str, target: str, body: bytes | None, request_id: str) -> CoreReply:
        """Send one request and read its answer, at most MAX_REPLY_BYTES.

        Raises:
            CoreUnavailableError: no answer, a broken one or one that is too long.
        """
        request = self._request(method, target, request_id, ANSWER_SECONDS, body)
        async with self._sent(request) as response:
            received = bytearray()
            async for chunk in _chunks(response):
                received += chunk
                if len(received) > MAX_REPLY_BYTES:
                    reason = "answer too long"
                    raise CoreUnavailableError(reason, sent=True)
            return CoreReply(response.status_code, bytes(received))

    @asynccontextmanager
    async def stream(self, target: str, request_id: str) -> AsyncIterator[CoreStream]:
        """Read an answer as it comes; leaving the context closes the connection.

        Raises:
            CoreUnavailableError: no answer, or (while reading) a broken one.
        """
        async with self._sent(self._request("GET", target, request_id, STREAM_IDLE_SECONDS)) as response:
            media_type = response.headers.get("content-type", "").split(";", 1)[0].strip().lower()
            length = response.headers.get("content-length", "")
            yield CoreStream(response.status_code, media_type, int(length) if length.isdecimal() else None, _chunks(response))

    def _request(
        self, method: str, target: str, request_id: str, read_seconds: float, body: bytes | None = None
    ) -> httpx2.Request:
        headers = {"X-Request-Id": request_id, "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        timeout = httpx2.Timeout(read_seconds, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS)
        return self._client.build_request(method, target, content=body, headers=headers, timeout=timeout)

    @asynccontextmanager
    async def _sent(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        try:
            response = await self._client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as exc:
            raise CoreUnavailableError(type(exc).__name__, sent=False) from exc
        except httpx2.HTTPError as exc:
            raise CoreUnavailableError(type(exc).__name__, sent=True) from exc
        try:
            yield response
        finally:
            await response.aclose()


async def _chunks(response: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    except httpx2.HTTPError as exc:
        raise CoreUnavailableError(type(exc).__name__, sent=True) from exc
