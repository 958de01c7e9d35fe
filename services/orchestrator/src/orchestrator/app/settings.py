"""The core's settings, read once from ORCHESTRATOR_ variables."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Paths of sockets, keys and data. What guards has no default: the start fails without it."""

    model_config = SettingsConfigDict(env_prefix="ORCHESTRATOR_", frozen=True)

    ticket_key_file: Path
    redis_password_file: Path
    gateway_uid: int
    egress_uid: int

    core_socket: Path = Path("/run/switchbox/core/core.sock")
    js_socket: Path = Path("/run/switchbox/js/js.sock")
    decisions_socket: Path = Path("/run/switchbox/decisions/decisions.sock")
    data_dir: Path = Path("/data")
    workspaces_root: Path = Field(Path("/workspaces"), validation_alias="SWITCHBOX_WORKSPACES_ROOT")
    redis_host: str = "redis"
    redis_port: int = 6379
    embedded_url: str = "http://local-model:8080/v1"
    log_level: str = "INFO"
