"""What an operator may set, read once at the start."""

import socket
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from contracts.tools import MAX_FILE_BYTES
from tool_runner.health import STATE_FILE

Workers = Annotated[int, Field(ge=0, le=32)]


class Settings(BaseSettings):
    """Environment variables with the prefix TOOL_RUNNER_; whatever guards something has no default."""

    model_config = SettingsConfigDict(env_prefix="TOOL_RUNNER_", frozen=True, extra="ignore")

    # Under this name the runner is known to be there: `runner:<name>` in Redis.
    name: str = Field(default_factory=socket.gethostname)

    redis_host: str = "redis"
    redis_port: Annotated[int, Field(ge=1, le=65_535)] = 6379
    redis_user: str = "tool-runner"
    redis_password_file: Path
    ticket_key_file: Path
    command_socket: Path
    workspaces_root: Annotated[
        Path, Field(validation_alias=AliasChoices("TOOL_RUNNER_WORKSPACES_ROOT", "SWITCHBOX_WORKSPACES_ROOT"))
    ]

    # How many calls of a queue run at once.
    files_workers: Workers = 2
    commands_workers: Workers = 4

    max_file_bytes: Annotated[int, Field(ge=1, le=MAX_FILE_BYTES)] = MAX_FILE_BYTES
    max_chat_bytes: Annotated[int, Field(ge=1)] = 1024**3

    state_file: Path = Path(STATE_FILE)
