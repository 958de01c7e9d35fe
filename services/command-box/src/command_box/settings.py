"""command-box's settings, read once from COMMAND_BOX_ variables."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from contracts.commands import OUTPUT_CHARACTERS


class Settings(BaseSettings):
    """Where things are. What guards has no default."""

    model_config = SettingsConfigDict(env_prefix="COMMAND_BOX_", frozen=True)

    ticket_public_key_file: Path
    socket: Path = Path("/run/switchbox/command/command.sock")
    workspaces_root: Path = Field(Path("/workspaces"), validation_alias="SWITCHBOX_WORKSPACES_ROOT")
    egress_host: str = "egress"
    output_characters: Annotated[int, Field(ge=2)] = OUTPUT_CHARACTERS
    # At most this many commands run at once; more are refused, since the queue in front of them waits.
    max_commands: Annotated[int, Field(ge=1, le=64)] = 8
    # Commands run although the kernel cannot keep chats apart. Only a person can want that.
    unsafe_no_landlock: bool = False
    log_level: str = "INFO"
