"""A pool of real children, and the shortest way to run a program in one."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from threading import Thread
from typing import Any

from contracts.errors import Refusal
from contracts.javascript import JsResult
from js_sandbox.adapters.child import ChildLimits
from js_sandbox.adapters.pool import Pool
from js_sandbox.app.wiring import LIMITS
from js_sandbox.domain.reply import parse_reply, result_of_death, result_of_reply, timed_out

BOUND_SECONDS = 60.0


class Sandbox:
    """A pool, and the shortest way to run a program in it."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def run(self, code: str, seconds: float = 5.0) -> JsResult:
        """Run a program in a child of its own."""
        child = await self.pool.take()
        try:
            answer = await child.ask(json.dumps({"code": code, "seconds": seconds}).encode(), seconds + 0.5)
            reply = None if answer is None else parse_reply(answer)
            if reply is None:
                self.pool.discard(child)
                return result_of_death(await child.ended)
            return result_of_reply(reply, seconds)
        except TimeoutError:
            return timed_out(seconds)
        finally:
            self.pool.discard(child)


Scenario = Callable[[Sandbox], Awaitable[None]]


def within(scenario: Scenario, *, limits: ChildLimits = LIMITS, size: int = 2, max_running: int = 2) -> None:
    """Run a scenario with an open pool, in bounded time, and close the pool."""

    async def main() -> None:
        pool = Pool(limits, size=size, max_running=max_running)
        pool.open()
        try:
            async with asyncio.timeout(BOUND_SECONDS):
                await scenario(Sandbox(pool))
        finally:
            await pool.close()

    asyncio.run(main())


class Programs:
    """A pool on a thread of its own, for tests that share one; every program has a fresh process anyway."""

    def __init__(self) -> None:
        """Start the thread and the pool."""
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._sandbox = self._do(self._open())

    def run(self, code: str, seconds: float = 5.0) -> JsResult:
        """Run a program in a child of its own."""
        return self._do(self._sandbox.run(code, seconds))

    def refusal(self, code: str, seconds: float = 5.0) -> Refusal:
        """Why a program did not end well."""
        result = self.run(code, seconds)
        assert result.refusal is not None, result
        return result.refusal

    def close(self) -> None:
        """End the pool and the thread."""
        self._do(self._sandbox.pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @staticmethod
    async def _open() -> Sandbox:
        pool = Pool(LIMITS, size=2, max_running=2)
        pool.open()
        return Sandbox(pool)

    def _do[T](self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(BOUND_SECONDS)
