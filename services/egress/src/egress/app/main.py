"""The entry point: `python -m egress.app.main`."""

import asyncio
import contextlib
import signal
import sys

import structlog
import uvloop

from egress.app.handler import Judges
from egress.app.settings import Settings
from egress.app.wiring import read_judges, run

log = structlog.get_logger()


def main() -> int:
    """Serve until SIGTERM or SIGINT."""
    _configure_log("info")
    try:
        settings = Settings()
        judges = read_judges(settings)
    except (OSError, ValueError) as exc:
        log.error("cannot_start", reason=str(exc))  # noqa: TRY400 (the reason is whole without a traceback)
        return 1
    _configure_log(settings.log_level)
    uvloop.run(_until_stopped(settings, judges))
    return 0


def _configure_log(level: str) -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )


async def _until_stopped(settings: Settings, judges: Judges) -> None:
    def listening(port: int) -> None:
        log.info("listening", port=port, ipv6=settings.ipv6, operator_allowed=settings.operator_allowed)

    task = asyncio.create_task(run(settings, judges, listening))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
    log.info("stopped")


if __name__ == "__main__":
    sys.exit(main())
