"""The entrypoint: everything is loaded here, once; workers are forked from it."""

import logging
import signal
import sys
from collections.abc import Callable
from functools import partial

import structlog
from redis.exceptions import RedisError

from contracts.tool_jobs import QueueName
from tool_runner.adapters.call_queue import CallWorker
from tool_runner.app.entry import run_job
from tool_runner.app.running import StopReason
from tool_runner.app.settings import Settings
from tool_runner.app.supervisor import Supervisor
from tool_runner.app.wiring import build_services, connect_redis, read_ticket_key

log: structlog.stdlib.BoundLogger = structlog.get_logger()

# The supervisor has children to look after: it waits for Redis only this long.
SUPERVISOR_SECONDS = 1.0
REDIS_LOST_STATUS = 75  # sysexits.h, EX_TEMPFAIL


def main() -> None:
    """Run until SIGTERM."""
    set_up_logs()
    settings = Settings()
    # A key that cannot be read ends the start here, and not a worker again and again.
    read_ticket_key(settings)
    queues: dict[QueueName, int] = {"files": settings.files_workers, "commands": settings.commands_workers}
    Supervisor(
        {queue: count for queue, count in queues.items() if count},
        partial(run_worker, settings),
        connect_redis(settings, seconds=SUPERVISOR_SECONDS),
        settings.name,
        settings.state_file,
    ).run()


def run_worker(settings: Settings, queue: QueueName, beat: Callable[[], None]) -> int:
    """In a forked process: take jobs off `queue` until SIGTERM, which stops the call at hand, too."""
    redis = connect_redis(settings)
    services = build_services(settings, redis, beat)
    worker = CallWorker(queue, redis, partial(run_job, services=services), beat)

    def stop(*_: object) -> None:
        worker.stop()
        services.attendant.press(StopReason.SHUTDOWN)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    services.attendant.start()
    try:
        worker.work()
    except RedisError as exc:
        log.warning("worker_without_redis", queue=queue, error=type(exc).__name__)
        return REDIS_LOST_STATUS
    return 0


def set_up_logs() -> None:
    """Everything as one JSON object per line on stdout, RQ's warnings included."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer = structlog.processors.JSONRenderer()
    structlog.configure(processors=[*shared, renderer], logger_factory=structlog.PrintLoggerFactory(sys.stdout))
    handler = logging.StreamHandler(sys.stdout)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove_meta, renderer]))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


if __name__ == "__main__":
    main()
