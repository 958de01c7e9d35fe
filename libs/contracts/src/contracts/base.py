"""What every message has in common, and the small types they are made of."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

# 128 random bits in lower-case hex: chats, replies, calls, approvals, workspaces.
Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]

# The names of tools: what OpenAI-compatible endpoints take as a function name.
ToolName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.-]{1,64}$")]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

# Milliseconds since 1970-01-01T00:00Z.
UnixMilliseconds = Annotated[int, Field(ge=0, le=2**53 - 1)]

JsonObject = dict[str, Any]


class Message(BaseModel):
    """A frozen message; unknown fields and loose types are refused.

    Read one from outside with `model_validate_json`: strict mode in Python form would refuse what JSON cannot say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
