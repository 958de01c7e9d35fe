"""Entry point: choose the weights, serve them until told to stop."""

import signal
import sys
import threading
from pathlib import Path

import structlog
import xllamacpp

from local_model.settings import Settings
from local_model.weights import UnusableWeights, check, choose, model_id

# llama.cpp's own log: errors only. One step more warns of each repeated prompt, two more tell of each request.
_LOG_ERRORS = 1


def main() -> int:
    """Serve until SIGTERM or SIGINT."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ]
    )
    log = structlog.get_logger()
    settings = Settings()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopped.set())

    files = sorted(settings.user_models.iterdir()) if settings.user_models.is_dir() else []
    path = choose(files, settings.default_model)
    log.info("weights_chosen", file=path.name, default=path == settings.default_model)
    try:
        check(path)
        server = _serve(settings, path)
    except UnusableWeights as exc:
        log.error("weights_unusable", file=path.name, detail=str(exc))  # noqa: TRY400 (the text says all; a traceback says nothing more)
        return 1
    log.info("model_served", address=server.listening_address, model=model_id(path), slots=settings.parallel)
    stopped.wait()
    log.info("stopping")
    return 0


def _serve(settings: Settings, path: Path) -> xllamacpp.Server:
    try:
        return xllamacpp.Server(_parameters(settings, str(path), model_id(path)))
    except RuntimeError as exc:
        # Its text is the same for every reason; the reason is in llama.cpp's own lines.
        raise UnusableWeights(
            f"{path.name} could not be loaded: it may be incomplete, too large for the memory, or too new (see above)."
        ) from exc


def _parameters(settings: Settings, path: str, alias: str) -> xllamacpp.CommonParams:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.model_alias = {alias}
    parameters.hostnames = [settings.host]
    parameters.port = settings.port
    parameters.n_parallel = settings.parallel
    # llama.cpp takes the sum over all slots; each is cut to what the model was trained for.
    parameters.n_ctx = settings.parallel * settings.context_tokens
    parameters.n_gpu_layers = 0
    # No browser comes here: the page, its cross-origin grants and the listing of what other slots hold are off.
    parameters.ui = False
    parameters.cors_origins = ""
    parameters.endpoint_slots = False
    # The cache of finished prompts would grow to 8 GiB.
    parameters.cache_ram_mib = 0
    parameters.cache_idle_slots = False
    parameters.verbosity = _LOG_ERRORS
    return parameters


if __name__ == "__main__":
    sys.exit(main())
