"""What can be set from outside, each as EGRESS_<NAME>."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from egress.domain.limits import Limits
from policy.destinations import OperatorRules, parse_operator_rules


class Settings(BaseSettings):
    """Read once, at start. The lists are empty and IPv6 is off unless somebody says otherwise."""

    model_config = SettingsConfigDict(env_prefix="EGRESS_", frozen=True, extra="forbid")

    listen_host: str = "0.0.0.0"  # noqa: S104 (its network is internal; who may use it is decided for each request)
    port: Annotated[int, Field(ge=0, le=65_535)] = 3128
    public_key_file: Path = Path("/keys/public/ticket.pub")
    decisions_socket: Path = Path("/run/switchbox/decisions/decisions.sock")
    ipv6: bool = False
    # "debug" also logs what went through.
    log_level: Literal["debug", "info"] = "info"
    # Separated by commas or spaces: `host:port` or CIDR blocks that count as public, and CIDR blocks that do not.
    operator_allowed: str = ""
    operator_refused: str = ""
    connections: Annotated[int, Field(ge=1, le=10_000)] = Limits.connections
    connections_per_call: Annotated[int, Field(ge=1, le=10_000)] = Limits.connections_per_call
    connect_seconds: Annotated[float, Field(gt=0, le=120)] = Limits.connect_seconds
    idle_seconds: Annotated[float, Field(gt=0, le=3_600)] = Limits.idle_seconds
    total_seconds: Annotated[float, Field(gt=0, le=86_400)] = Limits.total_seconds
    bytes_per_connection: Annotated[int, Field(ge=1)] | None = Limits.bytes_per_connection

    def operator_rules(self) -> OperatorRules:
        """The operator's lists.

        Raises:
            ValueError: an entry cannot be read; the message names it.
        """
        allowed, refused = (text.replace(",", " ").split() for text in (self.operator_allowed, self.operator_refused))
        return parse_operator_rules(allowed, refused)

    def limits(self) -> Limits:
        """The limits of all connections."""
        return Limits(
            connections=self.connections,
            connections_per_call=self.connections_per_call,
            connect_seconds=self.connect_seconds,
            idle_seconds=self.idle_seconds,
            total_seconds=self.total_seconds,
            bytes_per_connection=self.bytes_per_connection,
        )
