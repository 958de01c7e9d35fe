"""The settings of the service, from environment variables that begin with JS_SANDBOX_."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Built once, in main. What guards has no default."""

    model_config = SettingsConfigDict(env_prefix="JS_SANDBOX_", frozen=True)

    # Who may connect, besides the service's own uid for its health check.
    orchestrator_uid: int
    # The orchestrator's public key, by which tickets are verified.
    ticket_key_file: Path

    socket_path: Path = Path("/run/switchbox/js/js.sock")
    # Processes kept warm, each for one program, and programs that run at once; what comes on top waits.
    pool: Annotated[int, Field(ge=1, le=64)] = 8
    max_running: Annotated[int, Field(ge=1, le=64)] = 8
