"""RQ's side of the work: a worker on one queue that runs nothing but our entry.

Of RQ this keeps the queues, the form of jobs, the workers' records and the work loop. It leaves out what would give a
job, or another client of Redis, a say in what this process does: importing the name in a job, callbacks, webhooks,
dependents, retries, registries and their clean-up (they import names, too), and the channel over which workers take
orders. A job is deleted as it is taken, before it runs: it can never run a second time, and nothing of its arguments
stays behind.
"""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import override

import structlog
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.defaults import DEFAULT_LOGGING_DATE_FORMAT, DEFAULT_LOGGING_FORMAT
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.utils import as_text
from rq.worker import WorkerStatus

from contracts.tool_jobs import QueueName
from tool_runner.domain.queued_job import NotOurs, read_queued_job

log: structlog.stdlib.BoundLogger = structlog.get_logger()

# How long one look into the queue waits: a stop is noticed within it.
LOOK_SECONDS = 1
# Between looks while Redis does not answer.
PAUSE_SECONDS = 0.5
# RQ's record of a worker lives this long without a sign of life.
WORKER_TTL_SECONDS = 60
HEARTBEAT_SECONDS = 15.0


class CallWorker(SimpleWorker):
    """Takes jobs off one queue, one after the other, and gives the text of each to `run`."""

    def __init__(self, queue: QueueName, redis: Redis, run: Callable[[str], None], beat: Callable[[], None]) -> None:
        """`beat` is called each time the worker looks into the queue; `run` must not raise."""
        super().__init__([queue], connection=redis, serializer=JSONSerializer, worker_ttl=WORKER_TTL_SECONDS)
        self._run = run
        self._beat = beat
        self._heard = float("-inf")
        self._data: bytes | None = None

    def stop(self) -> None:
        """End after the job at hand; may be called by a signal handler."""
        self._stop_requested = True

    @override
    def dequeue_job_and_maintain_ttl(self, timeout: int | None, max_idle_time: int | None = None) -> tuple[Job, Queue] | None:
        """The next job, already deleted from Redis; None when the worker is to end."""
        while not self._stop_requested:
            self._beat()
            self.heartbeat()
            try:
                job = self._look()
            except RedisError as exc:
                log.warning("queue_unreachable", queue=self.queues[0].name, error=type(exc).__name__)
                time.sleep(PAUSE_SECONDS)
                continue
            if job is not None:
                return job, self.queues[0]
        return None

    @override
    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run the job that was taken last, if it is one of ours."""
        text = read_queued_job(self._data)
        self._data = None
        if isinstance(text, NotOurs):
            log.warning("job_dropped", queue=queue.name, problem=text.problem.value)
            return
        self._run(text)

    def _look(self) -> Job | None:
        """Wait a little for a job and take it, its data and all."""
        found = self.connection.blpop([self.queues[0].key], timeout=LOOK_SECONDS)
        if found is None:
            return None
        try:
            job = Job(id=as_text(found[1]), connection=self.connection, serializer=JSONSerializer)
        except ValueError:
            log.warning("job_dropped", queue=self.queues[0].name, problem="id")
            return None
        self._data = self._take(job.key)
        return job

    def _take(self, key: str) -> bytes | None:
        with self.connection.pipeline(transaction=True) as pipeline:
            pipeline.hget(key, "data")
            pipeline.delete(key)
            data, _ = pipeline.execute()
        return data if isinstance(data, bytes) else None

    # --- what RQ's worker would do besides ---

    @override
    def bootstrap(
        self,
        logging_level: str | None = "INFO",
        date_format: str = DEFAULT_LOGGING_DATE_FORMAT,
        log_format: str = DEFAULT_LOGGING_FORMAT,
    ) -> None:
        """Register only: logs are set up already, and no orders are taken over a channel."""
        # RQ's methods carry no types; as values they get one.
        register_birth: Callable[[], None] = self.register_birth
        register_birth()
        self.set_state(WorkerStatus.STARTED)

    @override
    def heartbeat(self, timeout: int | None = None, pipeline: object = None) -> None:
        """Keep RQ's record of this worker, not with every job but now and then."""
        if time.monotonic() - self._heard >= HEARTBEAT_SECONDS:
            self._heard = time.monotonic()
            try:
                super().heartbeat()
            except RedisError as exc:
                log.info("worker_record_stale", error=type(exc).__name__)

    @override
    def teardown(self) -> None:
        """Take the record away, if Redis is there to do so."""
        register_death: Callable[[], None] = self.register_death
        try:
            register_death()
        except RedisError as exc:
            log.info("worker_record_left", error=type(exc).__name__)

    @property
    @override
    def should_run_maintenance_tasks(self) -> bool:
        """Never: cleaning registries imports names that stand in jobs."""
        return False

    @override
    def check_for_suspension(self, burst: bool) -> None:
        """No client of Redis can suspend this worker."""

    @override
    def _set_connection(self, connection: Redis) -> Redis:
        """Leave the time-outs as they are."""
        return connection

    @override
    def _set_ip_address(self, connection: Redis) -> None:
        """Not asked for: it would show other clients' names and take two more rights."""
        self.ip_address = "unknown"

    @override
    def _install_signal_handlers(self) -> None:
        """The process that runs this worker has its own: see `app.workers`."""

    @override
    def request_stop(self, signum: int | signal.Signals, frame: FrameType | None) -> None:
        """The same as `stop`."""
        self.stop()
