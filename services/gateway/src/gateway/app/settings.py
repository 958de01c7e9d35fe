"""What can be set from outside, each as GATEWAY_<NAME>."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

Port = Annotated[int, Field(ge=1, le=65_535)]


class Settings(BaseSettings):
    """Read once, at start. `public_port` guards (Host and Origin are judged by it), so it has no default."""

    model_config = SettingsConfigDict(env_prefix="GATEWAY_", frozen=True)

    public_port: Port
    listen_host: str = "0.0.0.0"  # noqa: S104 (the container's own network; published on 127.0.0.1 only)
    listen_port: Port = 8787
    core_socket: Path = Path("/run/switchbox/core/core.sock")
    session_key_file: Path = Path("/keys/gateway/session.key")
    witness_dir: Path = Path("/witness")
    ui_dir: Path = Path("/app/ui")
    login_socket: Path = Path("/tmp/gateway/login.sock")  # noqa: S108 (a tmpfs of the container; the folder is 0700)
    max_event_streams: Annotated[int, Field(ge=1, le=256)] = 32
    max_requests: Annotated[int, Field(ge=1, le=1024)] = 64
    # Requests that need no session: the page, its files, the login.
    max_open_requests: Annotated[int, Field(ge=1, le=1024)] = 32
