"""Start the core."""

import logging
import os
from typing import Any

import structlog
import uvloop

import local_socket
from orchestrator.app.settings import Settings
from orchestrator.app.wiring import build


def main() -> None:
    """Serve on the core socket until SIGTERM."""
    settings = Settings()
    _log_as_json(settings.log_level)
    allowed = frozenset({settings.gateway_uid, os.getuid()})
    uvloop.run(local_socket.serve(build(settings), settings.core_socket, allowed_uids=allowed, shutdown_seconds=8))


def _log_as_json(level: str) -> None:
    processors: list[Any] = [
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.add_log_level,
        structlog.processors.format_exc_info,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=processors,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("httpx2", "httpcore2", "alembic", "openai", "rq"):
        logging.getLogger(noisy).setLevel("WARNING")


if __name__ == "__main__":
    main()
