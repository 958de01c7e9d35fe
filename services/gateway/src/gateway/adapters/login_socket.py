"""Login links for whoever may run programs as the gateway inside its container (`docker compose exec`), and nobody else.

A Unix socket in the container's own tmpfs, mode 0600, whose server asks the kernel for the caller's uid. A connection gets
one line, the link, and is closed.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

import structlog

from local_socket import peer_uid

log = structlog.get_logger()


async def serve_login_links(path: Path, new_link: Callable[[], str]) -> asyncio.Server:
    """Listen at `path`; each caller of our own uid gets a fresh link."""

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = peer_uid(writer.get_extra_info("socket"))
        if uid == os.getuid():
            writer.write(new_link().encode() + b"\n")
            await writer.drain()
        else:
            log.warning("login_link_refused", peer_uid=uid)
        writer.close()

    return await asyncio.start_unix_server(answer, sock=_listener(path))


def _listener(path: Path) -> socket.socket:
    """Bound under a umask, so that the socket is never open to others, not even for a moment."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    return listener
