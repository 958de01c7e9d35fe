"""Names are looked up by the C library in threads of our own, since a slow name holds its thread for seconds."""

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any
from weakref import WeakValueDictionary

from policy.addresses import IPAddress

THREADS = 24
# So that one call whose names are slow leaves threads to the others.
LOOKUPS_PER_OWNER = 8


class SystemResolver:
    """The system's resolver, without its search list. Look-ups of one name at one time share an answer."""

    def __init__(self, *, ipv6: bool, getaddrinfo: Callable[..., list[Any]] = socket.getaddrinfo) -> None:
        """Without `ipv6` only IPv4 addresses are asked for."""
        self._getaddrinfo = getaddrinfo
        self._family = socket.AF_UNSPEC if ipv6 else socket.AF_INET
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolver")
        self._pending: dict[str, asyncio.Task[tuple[IPAddress, ...]]] = {}
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def resolve(self, name: str, owner: str) -> tuple[IPAddress, ...]:
        """All addresses of a name, in the resolver's order; none if it has none or no server answers.

        A caller that gives up leaves the look-up running: its thread cannot be stopped, so it keeps its place.
        """
        task = self._pending.get(name)
        if task is None:
            task = self._pending[name] = asyncio.create_task(self._in_turn(name, owner))
            task.add_done_callback(lambda _: self._pending.pop(name, None))
        return await asyncio.shield(task)

    async def _in_turn(self, name: str, owner: str) -> tuple[IPAddress, ...]:
        turn = self._turns.setdefault(owner, asyncio.Semaphore(LOOKUPS_PER_OWNER))
        async with turn:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._look_up, name)

    def close(self) -> None:
        """Begin no look-up any more; those under way are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _look_up(self, name: str) -> tuple[IPAddress, ...]:
        try:
            # The final dot makes the name absolute: no domain of a search list is ever appended to it.
            found = self._getaddrinfo(f"{name}.", None, self._family, socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        return tuple(dict.fromkeys(ip_address(entry[4][0]) for entry in found))
