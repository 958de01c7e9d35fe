"""The peer's uid decides who is served."""

import asyncio
import contextlib
import os
from pathlib import Path

import httpx2
import pytest

import local_socket


async def echo(scope: dict, receive: object, send: object) -> None:
    """Answer 200 to everything."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"served"})


async def ask(path: Path, allowed_uids: frozenset[int]) -> str:
    """Serve at `path`, ask once, stop."""
    server = asyncio.create_task(local_socket.serve(echo, path, allowed_uids=allowed_uids))
    try:
        for _ in range(200):
            if path.exists():
                break
            await asyncio.sleep(0.01)
        async with local_socket.client(path, timeout_seconds=5) as http:
            return (await http.get("/")).text
    finally:
        server.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await server


def test_an_allowed_uid_is_served(tmp_path: Path) -> None:
    assert asyncio.run(ask(tmp_path / "s", frozenset({os.getuid()}))) == "served"


def test_another_uid_is_closed_on_unanswered(tmp_path: Path) -> None:
    with pytest.raises(httpx2.TransportError):
        asyncio.run(ask(tmp_path / "s", frozenset({os.getuid() + 1})))
