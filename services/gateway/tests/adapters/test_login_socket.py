import asyncio
import stat
from pathlib import Path

import pytest

from gateway.adapters import login_socket
from gateway.adapters.login_socket import serve_login_links


async def ask(path: Path) -> bytes:
    server = await serve_login_links(path, lambda: "the link")
    async with server:
        reader, writer = await asyncio.open_unix_connection(str(path))
        line = await asyncio.wait_for(reader.read(), timeout=5)
        writer.close()
    return line


async def test_the_own_user_gets_a_link_over_a_socket_that_is_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "private" / "login.sock"
    assert await ask(path) == b"the link\n"
    server = await serve_login_links(path, lambda: "the link")
    async with server:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_another_user_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may open the socket all the same (root may) is told nothing: the kernel's word on the uid decides."""
    monkeypatch.setattr(login_socket, "peer_uid", lambda _connection: 4_242)
    assert await ask(tmp_path / "login.sock") == b""
