"""Calls for the tool-runner: queued with RQ, answered on one stream each.

This side only enqueues. It never runs RQ's worker, scheduler or registry clean-up and never fetches a job, since those
import names that a runner could have written.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from contracts import redis_keys
from contracts.tickets import Ticket
from contracts.tool_jobs import (
    JOB_ENTRY,
    MAX_ENTRIES,
    MAX_ENTRY_BYTES,
    QUEUES,
    Alive,
    Done,
    Job,
    Output,
    Started,
    ToolResult,
    stream_entry,
)
from contracts.tools import Tool
from orchestrator.adapters.ticket_epoch import RedisEpoch
from orchestrator.domain import results
from orchestrator.domain.ports import OnOutput

log = logging.getLogger(__name__)

# How long a silent runner, an absent runner or a lost Redis is waited for before the call is given up.
PATIENCE_SECONDS = 8.0
POLL_MILLISECONDS = 500
STOP_SECONDS = 5.0
GRACE_MILLISECONDS = 10_000
JOB_TTL_SECONDS = 900

MakeJob = Callable[[Tool, Ticket], Job]


class ToolQueue:
    """Runs calls on the tool-runner; see `domain.ports.Executor`."""

    def __init__(self, blocking: Redis, redis: AsyncRedis, epoch: RedisEpoch, make_job: MakeJob) -> None:
        """`blocking` is for RQ, which has no asyncio side; `redis` must have no socket timeout below POLL_MILLISECONDS."""
        self._redis = redis
        self._epoch = epoch
        self._make_job = make_job
        self._queues = {name: Queue(name, connection=blocking, serializer=JSONSerializer) for name in QUEUES}

    async def run(self, tool: Tool, ticket: Ticket, on_output: OnOutput) -> ToolResult:
        """See `Executor.run`."""
        try:
            await asyncio.to_thread(self._enqueue, tool, self._make_job(tool, ticket))
        except RedisError:
            log.warning("enqueue_failed call_id=%s", ticket.call_id)
            return results.unavailable("redis")
        waiting = _Waiting(self._redis, self._epoch, ticket, on_output)
        try:
            return await waiting.result()
        except asyncio.CancelledError:
            await self._withdraw(ticket)
            await self._wait_until_stopped(ticket, waiting)
            raise
        finally:
            if not waiting.done:
                await self._withdraw(ticket)
            await _quietly(self._redis.delete(redis_keys.result_stream(ticket.stream)))

    def _enqueue(self, tool: Tool, job: Job) -> None:
        assert tool.queue is not None  # noqa: S101 (only tools with a queue come here)
        self._queues[tool.queue].enqueue_call(
            JOB_ENTRY,
            args=(job.model_dump_json(),),
            timeout=int(tool.timeout_seconds) + 30,
            description=tool.name,
            result_ttl=0,
            failure_ttl=60,
            ttl=JOB_TTL_SECONDS,
        )

    async def _withdraw(self, ticket: Ticket) -> None:
        """Ask whichever runner has the call, or will take it, not to run it (any further)."""
        key = redis_keys.cancel_stream(ticket.call_id)
        await _quietly(self._redis.xadd(key, {"stop": "1"}))
        await _quietly(self._redis.expire(key, redis_keys.CANCEL_TTL_SECONDS))

    async def _wait_until_stopped(self, ticket: Ticket, waiting: "_Waiting") -> None:
        """A runner that has begun says when nothing of the call is left alive."""
        if waiting.started:
            try:
                await asyncio.wait_for(waiting.result(), STOP_SECONDS)
            except TimeoutError:
                log.warning("call_not_stopped call_id=%s", ticket.call_id)


class _Waiting:
    """Reads one call's stream to its end. All that comes is checked; too much or a wrong form ends the call."""

    def __init__(self, redis: AsyncRedis, epoch: RedisEpoch, ticket: Ticket, on_output: OnOutput) -> None:
        self._redis = redis
        self._epoch = epoch
        self._ticket = ticket
        self._on_output = on_output
        self._last_id = "0"
        self._entries = 0
        self._heard = time.monotonic()
        self.started = False
        self.done = False

    async def result(self) -> ToolResult:
        while time.time() * 1000 < self._ticket.deadline + GRACE_MILLISECONDS:
            try:
                entries = await self._read()
                if not entries and (ending := await self._silence()) is not None:
                    return ending
            except RedisError:
                if time.monotonic() - self._heard > PATIENCE_SECONDS:
                    return results.EFFECT_UNKNOWN
                await asyncio.sleep(0.25)
                continue
            for entry in entries:
                if (ending := self._take(entry)) is not None:
                    return ending
        return results.EFFECT_UNKNOWN

    async def _read(self) -> list[bytes]:
        key = redis_keys.result_stream(self._ticket.stream)
        answer: Any = await self._redis.xread({key: self._last_id}, count=256, block=POLL_MILLISECONDS)
        found = [
            item
            for batch in (answer.values() if isinstance(answer, dict) else [rows for _, rows in answer or []])
            for item in _flat(batch)
        ]
        for entry_id, _ in found:
            self._last_id = entry_id
        return [fields.get(b"entry", b"") for _, fields in found]

    def _take(self, raw: bytes) -> ToolResult | None:
        self._heard = time.monotonic()
        self._entries += 1
        if self._entries > MAX_ENTRIES or len(raw) > MAX_ENTRY_BYTES:
            return results.BAD_RESULT
        try:
            entry = stream_entry.validate_json(raw)
        except ValidationError:
            return results.BAD_RESULT
        match entry:
            case Done(result=result):
                self.done = True
                return result
            case Started():
                self.started = True
            case Output():
                self._on_output(entry)
            case Alive():
                pass
        return None

    async def _silence(self) -> ToolResult | None:
        """How the call ends because nothing came, or None to wait on."""
        if not await self._epoch.still(self._ticket.epoch):
            return results.EFFECT_UNKNOWN
        silent = time.monotonic() - self._heard
        if silent < PATIENCE_SECONDS:
            return None
        if self.started:
            return results.EFFECT_UNKNOWN
        async for _ in self._redis.scan_iter(match=redis_keys.runner("*"), count=100):
            return None
        return results.unavailable("tool-runner")


def _flat(batch: Any) -> list[tuple[str, dict[bytes, bytes]]]:
    """The entries of one stream, whatever nesting the protocol version gives them."""
    return [item for item in batch if isinstance(item, tuple)] or [item for inner in batch for item in inner]


async def _quietly(command: Awaitable[Any]) -> None:
    try:
        await command
    except RedisError as exc:
        log.warning("redis_command_failed error=%s", type(exc).__name__)
