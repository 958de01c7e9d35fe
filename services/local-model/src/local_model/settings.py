"""The service's settings, from the environment (`LOCAL_MODEL_...`)."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Where the weights are and how the model is served.

    `context_tokens` is for each of the `parallel` slots: four panes are answered at the same time, and none takes room
    from another. Memory grows with their product.
    """

    model_config = SettingsConfigDict(frozen=True, env_prefix="LOCAL_MODEL_")

    user_models: Path = Path("/models")
    default_model: Path = Path("/opt/model/smollm2-135m-instruct.gguf")
    host: str = "0.0.0.0"  # noqa: S104 (the container's one network is internal, and this is what it is for)
    port: Annotated[int, Field(ge=1, le=65_535)] = 8080
    parallel: Annotated[int, Field(ge=1, le=64)] = 4
    context_tokens: Annotated[int, Field(ge=512, le=1_048_576)] = 4096
