"""Serve an ASGI application on a Unix socket to certain users only."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from local_socket.peer import peer_uid

log = logging.getLogger(__name__)


async def serve(app: Any, path: Path, *, allowed_uids: frozenset[int], shutdown_seconds: int = 5) -> None:
    """Serve until SIGTERM or SIGINT, then give open requests `shutdown_seconds`.

    The socket is connectable by every uid; a connection of a uid that is not in `allowed_uids` is closed before a byte
    of it is read.
    """
    config = uvicorn.Config(
        app,
        uds=str(path),
        http=_protocol(allowed_uids),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=shutdown_seconds,
        timeout_keep_alive=60,
    )
    await uvicorn.Server(config).serve()


def _protocol(allowed_uids: frozenset[int]) -> type[HttpToolsProtocol]:
    class PeerCheckedProtocol(HttpToolsProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it the same way
            super().connection_made(transport)
            uid = peer_uid(transport.get_extra_info("socket"))
            if uid not in allowed_uids:
                log.warning("connection_refused peer_uid=%d", uid)
                transport.abort()

    return PeerCheckedProtocol
