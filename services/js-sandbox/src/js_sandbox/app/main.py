"""Start the service: `python -m js_sandbox.app.main`."""

import asyncio
import logging
import os
import sys
import time

import structlog

import local_socket
from js_sandbox.app.settings import Settings
from js_sandbox.app.wiring import build

# Programs run for seconds at most, and nobody waits for their results when the service ends.
_SHUTDOWN_SECONDS = 1


def main() -> None:
    """Serve until SIGTERM or SIGINT; no child is left then."""
    _configure_logs()
    settings = Settings()
    # The socket is for every uid to connect to; who may is judged by the peer's uid.
    settings.socket_path.unlink(missing_ok=True)
    app = build(settings, _unix_milliseconds)
    structlog.get_logger().info("starting", socket=str(settings.socket_path), pool=settings.pool)
    asyncio.run(
        local_socket.serve(
            app,
            settings.socket_path,
            allowed_uids=frozenset({settings.orchestrator_uid, os.getuid()}),
            shutdown_seconds=_SHUTDOWN_SECONDS,
        )
    )


def _unix_milliseconds() -> int:
    return time.time_ns() // 1_000_000


def _configure_logs() -> None:
    """One JSON object a line on stdout, the web server's warnings among them."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
            foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


if __name__ == "__main__":
    main()
