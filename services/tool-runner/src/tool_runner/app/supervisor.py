"""Keeps the workers running: forks them from a process that has loaded everything, and starts dead ones again.

The supervisor has one thread and, in each round, looks after its children, tells Redis that this runner is there, and
writes the state file of the health check. A worker that dies takes its call with it; the call is not run again.
"""

import json
import mmap
import os
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from redis import Redis
from redis.exceptions import RedisError

from contracts import redis_keys
from contracts.tool_jobs import QueueName

log: structlog.stdlib.BoundLogger = structlog.get_logger()

ROUND_SECONDS = 1.0
# A worker that gave no sign of life for this long is not counted as well. It looks for jobs each second.
WELL_SECONDS = 4.0
# After this long without one it hangs where nothing else can end it, and is killed.
HUNG_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0
# A worker that lived this long starts again without a pause.
LIVED_SECONDS = 10.0
# From SIGTERM to SIGKILL: workers stop and answer their calls meanwhile.
SHUTDOWN_SECONDS = 4.5

SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD})

_BEAT = struct.Struct("d")


class Beats:
    """One time for each worker, in memory that parent and child share: when it was last well."""

    def __init__(self, workers: int) -> None:
        """All at zero."""
        self._memory = mmap.mmap(-1, max(workers, 1) * _BEAT.size)

    def beat(self, worker: int) -> None:
        """Worker number `worker` is well."""
        _BEAT.pack_into(self._memory, worker * _BEAT.size, time.monotonic())

    def age(self, worker: int) -> float:
        """Seconds since then."""
        return time.monotonic() - float(_BEAT.unpack_from(self._memory, worker * _BEAT.size)[0])


@dataclass
class Slot:
    """A place for one worker."""

    number: int
    queue: QueueName
    pid: int | None = None
    born: float = 0.0
    pause: float = 0.0
    start_at: float = field(default_factory=time.monotonic)


RunWorker = Callable[[QueueName, Callable[[], None]], int]


class Supervisor:
    """Runs until SIGTERM or SIGINT."""

    def __init__(self, queues: dict[QueueName, int], run_worker: RunWorker, redis: Redis, name: str, state_file: Path) -> None:
        """`run_worker(queue, beat)` is called in a forked child and gives its exit status; `queues` has each one's workers."""
        places: list[QueueName] = [queue for queue, count in queues.items() for _ in range(count)]
        self._slots = [Slot(number, queue) for number, queue in enumerate(places)]
        self._beats = Beats(len(self._slots))
        self._run_worker = run_worker
        self._redis = redis
        self._name = name
        self._state_file = state_file

    def run(self) -> None:
        """Keep the workers running, then end them."""
        # Blocked signals wait for us: none is lost, and none comes in the middle of something.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        while True:
            self._reap()
            self._start_due()
            self._report()
            caught = signal.sigtimedwait(SIGNALS, self._wait_seconds())
            if caught is not None and caught.si_signo != signal.SIGCHLD:
                break
        self._end()

    def _start_due(self) -> None:
        for slot in self._slots:
            if slot.pid is None and time.monotonic() >= slot.start_at:
                self._start(slot)

    def _start(self, slot: Slot) -> None:
        self._beats.beat(slot.number)
        slot.born = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._be_worker(slot)
        slot.pid = pid
        log.info("worker_started", queue=slot.queue, pid=pid)

    def _be_worker(self, slot: Slot) -> None:
        """In the child: run, and never come back into the parent's code."""
        status = 1
        try:
            # The parent's connection: closed here, without a word to the server.
            self._redis.connection_pool.disconnect()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            status = self._run_worker(slot.queue, lambda: self._beats.beat(slot.number))
        except BaseException:
            log.exception("worker_failed", queue=slot.queue)
        finally:
            os._exit(status)

    def _reap(self) -> None:
        for slot in self._slots:
            if slot.pid is None:
                continue
            if self._beats.age(slot.number) > HUNG_SECONDS:
                log.error("worker_hung", queue=slot.queue, pid=slot.pid)
                os.kill(slot.pid, signal.SIGKILL)
            pid, status = os.waitpid(slot.pid, os.WNOHANG)
            if pid:
                self._buried(slot, os.waitstatus_to_exitcode(status))

    def _buried(self, slot: Slot, code: int) -> None:
        lived = time.monotonic() - slot.born
        slot.pause = 0.0 if lived > LIVED_SECONDS else min(max(slot.pause * 2, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
        slot.start_at = time.monotonic() + slot.pause
        log.warning("worker_ended", queue=slot.queue, pid=slot.pid, code=code, lived_seconds=round(lived, 1))
        slot.pid = None

    def _wait_seconds(self) -> float:
        due = [slot.start_at - time.monotonic() for slot in self._slots if slot.pid is None]
        return max(min([ROUND_SECONDS, *due]), 0.01)

    def _well(self) -> dict[QueueName, int]:
        well: dict[QueueName, int] = {slot.queue: 0 for slot in self._slots}
        for slot in self._slots:
            if slot.pid is not None and self._beats.age(slot.number) < WELL_SECONDS:
                well[slot.queue] += 1
        return well

    def _report(self) -> None:
        """Say that this runner is there, as long as every queue has a worker that is well."""
        well = self._well()
        if not well or not all(well.values()):
            return
        state = json.dumps(well)
        try:
            self._redis.set(redis_keys.runner(self._name), state, ex=redis_keys.RUNNER_TTL_SECONDS)
        except RedisError as exc:
            log.warning("redis_unreachable", error=type(exc).__name__)
            return
        self._state_file.write_text(state, encoding="utf-8")

    def _end(self) -> None:
        """Pass the order on, give the workers time to stop and answer their calls, and leave nobody behind."""
        self._state_file.unlink(missing_ok=True)
        for slot in self._slots:
            if slot.pid is not None:
                os.kill(slot.pid, signal.SIGTERM)
        until = time.monotonic() + SHUTDOWN_SECONDS
        while any(slot.pid is not None for slot in self._slots):
            self._reap()
            if time.monotonic() > until:
                for slot in self._slots:
                    if slot.pid is not None:
                        os.kill(slot.pid, signal.SIGKILL)
            time.sleep(0.02)
        log.info("runner_ended")
