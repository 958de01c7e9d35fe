"""Warm children, each for one program; refilled in the background."""

import asyncio
import contextlib
import itertools
import socket
from collections import deque
from dataclasses import dataclass, field

import structlog

from js_sandbox.adapters.child import ChildLimits
from js_sandbox.adapters.frames import LENGTH, MAX_ANSWER_BYTES, MAX_REASON_BYTES, READY, frame
from js_sandbox.adapters.zygote_process import ZygoteProcess
from js_sandbox.domain.errors import NoChild

log = structlog.get_logger()

_WARM_UP_SECONDS = 10.0
_TAKE_SECONDS = 10.0
_RETRY_SECONDS = 0.5
# Making more at once makes none of them ready sooner, and takes the processor from programs that run.
_WARMING_AT_ONCE = 2


@dataclass(eq=False)
class Child:
    """A process for one program. `ended` has its exit code once it has been reaped."""

    number: int
    connection: socket.socket
    ended: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def ask(self, work: bytes, seconds: float) -> bytes | None:
        """Hand over the work and take the answer; None when the child ends without one, or answers too much.

        Raises:
            TimeoutError: there was no answer in time.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(seconds):
            with contextlib.suppress(ConnectionError):
                await loop.sock_sendall(self.connection, frame(work))
                (length,) = LENGTH.unpack(await self._exactly(LENGTH.size))
                if length <= MAX_ANSWER_BYTES:
                    return await self._exactly(length)
        return None

    async def _exactly(self, count: int) -> bytes:
        loop = asyncio.get_running_loop()
        received = bytearray()
        while len(received) < count:
            piece = await loop.sock_recv(self.connection, count - len(received))
            if not piece:
                raise ConnectionResetError
            received += piece
        return bytes(received)


class Pool:
    """Keeps `size` children warm and hands out at most `max_running` at once. A child is never taken back."""

    def __init__(self, limits: ChildLimits, *, size: int, max_running: int) -> None:
        """Nothing starts before `open`."""
        self._limits = limits
        self._size = size
        self._free = asyncio.Semaphore(max_running)
        self._zygote: ZygoteProcess | None = None
        self._numbers = itertools.count(1)
        self._children: dict[int, Child] = {}
        self._warm: deque[Child] = deque()
        self._some_warm = asyncio.Event()
        self._warming: set[asyncio.Task[None]] = set()
        self._restart: asyncio.TimerHandle | None = None
        self._open = False

    @property
    def warm(self) -> int:
        """How many children are ready."""
        return len(self._warm)

    @property
    def alive(self) -> int:
        """How many children there are, ready or not."""
        return len(self._children)

    def open(self) -> None:
        """Start the zygote and the first children."""
        self._open = True
        self._start_zygote()

    async def close(self) -> None:
        """End every child and the zygote, and wait until they are gone."""
        self._open = False
        if self._restart is not None:
            self._restart.cancel()
        for task in self._warming:
            task.cancel()
        if self._zygote is not None:
            await self._zygote.stop()
        self._all_gone()

    async def take(self, seconds: float = _TAKE_SECONDS) -> Child:
        """A warm child, which is the caller's until `discard`. Waits while too many are running.

        Raises:
            NoChild: none became ready in time.
        """
        await self._free.acquire()
        try:
            async with asyncio.timeout(seconds):
                await self._until_warm()
        except BaseException as exc:
            self._free.release()
            if isinstance(exc, TimeoutError):
                message = "no process became ready"
                raise NoChild(message) from exc
            raise
        child = self._warm.popleft()
        child.ended.add_done_callback(lambda _future: self._free.release())
        self._refill()
        return child

    async def is_ready(self, seconds: float) -> bool:
        """Whether programs can be run: a child is ready, or is so within this time, or all that may run are running."""
        if self._free.locked():
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._until_warm()
        except TimeoutError:
            return False
        return True

    def discard(self, child: Child) -> None:
        """End the child if it still lives. `child.ended` tells when it is gone; only then may another take its place."""
        child.connection.close()
        if self._zygote is not None and not child.ended.done():
            self._zygote.kill(child.number)

    async def _until_warm(self) -> None:
        while not self._warm:
            self._some_warm.clear()
            await self._some_warm.wait()

    def _refill(self) -> None:
        while self._open and self._zygote is not None and len(self._warming) < min(_WARMING_AT_ONCE, self._size - self.warm):
            task = asyncio.get_running_loop().create_task(self._warm_up(self._zygote))
            self._warming.add(task)
            task.add_done_callback(self._warmed_up)

    def _warmed_up(self, task: asyncio.Task[None]) -> None:
        # A child may have been taken before its task was seen to be done, so look again what is missing.
        self._warming.discard(task)
        self._refill()

    async def _warm_up(self, zygote: ZygoteProcess) -> None:
        number = next(self._numbers)
        try:
            child = self._children[number] = Child(number, zygote.fork(number))
        except NoChild:
            # The zygote's end is reported by itself, and starts another.
            return
        try:
            async with asyncio.timeout(_WARM_UP_SECONDS):
                answer = await asyncio.get_running_loop().sock_recv(child.connection, 1 + MAX_REASON_BYTES)
        except (OSError, TimeoutError):
            answer = b""
        if answer == READY and not child.ended.done():
            self._warm.append(child)
            self._some_warm.set()
            return
        log.error("child_not_ready", reason=answer[1:].decode("utf-8", "replace"))
        self.discard(child)
        # What went wrong once may go wrong at once again. This task counts as warming until it ends.
        await asyncio.sleep(_RETRY_SECONDS)

    def _start_zygote(self) -> None:
        self._zygote = ZygoteProcess.start(self._limits, self._child_ended, self._zygote_gone)
        self._refill()

    def _child_ended(self, number: int, exit_code: int) -> None:
        child = self._children.pop(number, None)
        if child is None:
            return
        child.ended.set_result(exit_code)
        if child in self._warm:
            if self._open:
                log.warning("warm_child_ended", exit_code=exit_code)
            self._warm.remove(child)
            child.connection.close()
            self._refill()

    def _zygote_gone(self) -> None:
        """Children end with their zygote; start another."""
        log.error("zygote_gone")
        self._zygote = None
        self._all_gone()
        if self._open:
            self._restart = asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._start_zygote)

    def _all_gone(self) -> None:
        for number in list(self._children):
            self._child_ended(number, exit_code=1)
