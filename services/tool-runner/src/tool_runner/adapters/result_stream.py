"""The Redis stream on which one call is answered."""

import threading
import time

import structlog
from redis import Redis
from redis.exceptions import RedisError

from contracts import redis_keys
from contracts.tool_jobs import MAX_ENTRIES, MAX_ENTRY_BYTES, Alive, Done, Output, Started, ToolResult
from tool_runner.domain import results

log: structlog.stdlib.BoundLogger = structlog.get_logger()

# Live output beyond this is not relayed; the result still has the beginning and the end of it.
MAX_LIVE_CHARACTERS = 2_000_000
MAX_LIVE_ENTRIES = MAX_ENTRIES // 2

# How long the result is tried to be delivered while Redis does not answer.
DONE_SECONDS = 3.0
DONE_PAUSE_SECONDS = 0.25


class ResultStream:
    """Adds a call's entries to its stream; may be used from several threads. After `done` nothing is added any more."""

    def __init__(self, redis: Redis, name: str) -> None:
        """`name` is the ticket's `stream`."""
        self._redis = redis
        self._key = redis_keys.result_stream(name)
        self._lock = threading.Lock()
        self._done = False
        self._live_characters = 0
        self._live_entries = 0
        self._last = time.monotonic()

    def started(self) -> None:
        """The call begins.

        Raises:
            redis.RedisError: nobody could be told, so it should not begin.
        """
        with self._lock:
            self._add(Started())

    def output(self, output: Output) -> None:
        """Relay a piece of live output; lost without harm when Redis does not answer or it is too much."""
        self._live_characters += len(output.text)
        self._live_entries += 1
        if self._live_characters <= MAX_LIVE_CHARACTERS and self._live_entries <= MAX_LIVE_ENTRIES:
            self._add_if_possible(output)

    def alive(self) -> None:
        """The runner is at work."""
        self._add_if_possible(Alive())

    def silent_seconds(self) -> float:
        """How long ago the last entry was added, or tried to be."""
        return time.monotonic() - self._last

    def done(self, result: ToolResult) -> None:
        """The result, once; a second one is dropped. It is tried again for a while when Redis does not answer.

        That may add it twice: its reader stops at the first.
        """
        with self._lock:
            if self._done:
                return
            self._done = True
            entry = Done(result=result)
            if len(entry.model_dump_json().encode()) > MAX_ENTRY_BYTES:
                entry = Done(result=results.TOO_LARGE)
            until = time.monotonic() + DONE_SECONDS
            while True:
                try:
                    self._add(entry)
                except RedisError as exc:
                    if time.monotonic() > until:
                        log.error("result_lost", error=type(exc).__name__)  # noqa: TRY400 (the trace says nothing more)
                        return
                    time.sleep(DONE_PAUSE_SECONDS)
                else:
                    return

    def _add_if_possible(self, entry: Output | Alive) -> None:
        with self._lock:
            if self._done:
                return
            try:
                self._add(entry)
            except RedisError as exc:
                log.warning("entry_lost", kind=entry.kind, error=type(exc).__name__)

    def _add(self, entry: Started | Output | Alive | Done) -> None:
        self._last = time.monotonic()
        with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.xadd(self._key, {"entry": entry.model_dump_json()}, maxlen=MAX_ENTRIES, approximate=True)
            # With every entry: the core deletes the stream when it gives a call up, and this one makes it anew.
            pipeline.expire(self._key, redis_keys.RESULT_TTL_SECONDS)
            pipeline.execute()
