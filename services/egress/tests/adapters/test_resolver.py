"""Look-ups are absolute, shared, and bounded for each call."""

import asyncio
import socket
import threading
from ipaddress import ip_address

import pytest

from egress.adapters.resolver import LOOKUPS_PER_OWNER, SystemResolver


class FakeSystem:
    """The C library's look-up, held until it is let go."""

    def __init__(self) -> None:
        self.asked: list[tuple] = []
        self.go = threading.Event()

    def getaddrinfo(self, *arguments: object) -> list[tuple]:
        self.asked.append(arguments)
        assert self.go.wait(10)
        return [
            (None, None, None, "", ("1.1.1.1", 0)),
            (None, None, None, "", ("1.1.1.1", 0)),
            (None, None, None, "", ("1.0.0.1", 0)),
        ]


def test_a_name_is_asked_for_as_absolute_and_by_ipv4_only() -> None:
    system = FakeSystem()
    system.go.set()
    resolver = SystemResolver(ipv6=False, getaddrinfo=system.getaddrinfo)
    assert asyncio.run(resolver.resolve("example.com", "call")) == (ip_address("1.1.1.1"), ip_address("1.0.0.1"))
    assert system.asked == [("example.com.", None, socket.AF_INET, socket.SOCK_STREAM)]


def test_look_ups_of_one_name_share_an_answer_and_a_later_one_asks_again() -> None:
    async def main() -> None:
        system = FakeSystem()
        resolver = SystemResolver(ipv6=False, getaddrinfo=system.getaddrinfo)
        both = [asyncio.create_task(resolver.resolve("example.com", owner)) for owner in ("a", "b")]
        await asyncio.sleep(0.05)
        system.go.set()
        first, second = await asyncio.gather(*both)
        assert first == second
        assert len(system.asked) == 1
        await resolver.resolve("example.com", "a")
        assert len(system.asked) == 2

    asyncio.run(main())


def test_one_call_cannot_take_all_threads() -> None:
    async def main() -> None:
        system = FakeSystem()
        resolver = SystemResolver(ipv6=False, getaddrinfo=system.getaddrinfo)
        greedy = [asyncio.create_task(resolver.resolve(f"{number}.example.com", "greedy")) for number in range(40)]
        await asyncio.sleep(0.1)
        assert len(system.asked) == LOOKUPS_PER_OWNER
        other = asyncio.create_task(resolver.resolve("other.example.com", "other"))
        await asyncio.sleep(0.1)
        assert system.asked[-1][0] == "other.example.com."
        for task in greedy[:20]:
            task.cancel()
        await asyncio.sleep(0.05)
        assert len(system.asked) == LOOKUPS_PER_OWNER + 1
        system.go.set()
        await other
        await asyncio.gather(*greedy[20:])

    asyncio.run(main())


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_NONAME, "no"), UnicodeError("label too long"), OSError("x")])
def test_a_name_that_cannot_be_looked_up_has_no_address(error: Exception) -> None:
    def fail(*_: object) -> list:
        raise error

    assert asyncio.run(SystemResolver(ipv6=True, getaddrinfo=fail).resolve("example.com", "call")) == ()
