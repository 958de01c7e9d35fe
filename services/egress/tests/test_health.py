"""The health check passes only for a proxy that turns an empty-handed request away."""

import asyncio
import socket

from egress.health import check


def test_a_proxy_that_answers_407_is_healthy(tell) -> None:
    async def story(setup) -> None:
        assert await asyncio.to_thread(check, "127.0.0.1", setup.port)

    tell(story)


def test_a_server_that_answers_something_else_is_not(tell) -> None:
    async def story(setup) -> None:
        assert not await asyncio.to_thread(check, "127.0.0.1", setup.origin.port)

    tell(story)


def test_nobody_listening_is_not_healthy() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert not check("127.0.0.1", unused.getsockname()[1])
