"""The entry point: `python -m gateway.app.main`."""

import logging
import sys

import structlog
import uvicorn
from pydantic import ValidationError
from structlog.typing import EventDict, Processor, WrappedLogger

from gateway.adapters.http_protocol import GatewayProtocol
from gateway.app.settings import Settings
from gateway.app.wiring import build
from gateway.domain.errors import StartRefusedError

log = structlog.get_logger()


def main() -> int:
    """Serve until SIGTERM or SIGINT; open event streams get two seconds to end."""
    configure_logs()
    try:
        settings = Settings()
        app = build(settings)
    except ValidationError as exc:
        names = ", ".join(f"GATEWAY_{'_'.join(map(str, error['loc'])).upper()} ({error['msg']})" for error in exc.errors())
        log.error("cannot_start", reason=f"These settings are missing or wrong: {names}.")  # noqa: TRY400 (the reason is whole)
        return 1
    except StartRefusedError as exc:
        log.error("cannot_start", reason=str(exc))  # noqa: TRY400 (as above)
        return 1
    config = uvicorn.Config(
        app,
        host=settings.listen_host,
        port=settings.listen_port,
        http=GatewayProtocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=512,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run()
    return 0


def configure_logs() -> None:
    """One JSON object per line on stdout, for our own events and for the libraries' warnings."""
    before: list[Processor] = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso")]
    structlog.configure(processors=[*before, structlog.processors.JSONRenderer()], cache_logger_on_first_use=True)
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*before, _without_traceback],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def _without_traceback(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """An exception's text and its frames' variables may be a person's words or a key; the guard logs what may be logged."""
    exc_info = event.pop("exc_info", None)
    return {**event, "error": exc_info[0].__name__} if exc_info else event


if __name__ == "__main__":
    sys.exit(main())
