"""What the proxy needs from the world outside, and what it does not care to know about it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from contracts.egress_log import NetworkDecision
from policy.addresses import IPAddress


class Resolver(Protocol):
    """Looks names up."""

    async def resolve(self, name: str, owner: str) -> tuple[IPAddress, ...]:
        """All addresses of a name, none if it has none; `owner` is the call on whose account the look-up goes."""


class Dialler(Protocol):
    """Opens connections to addresses; it never looks a name up."""

    async def dial[P: asyncio.BaseProtocol](self, address: IPAddress, port: int, protocol: Callable[[], P]) -> P:
        """Connect to exactly this address.

        Raises:
            OSError: there is no connection.
        """


class DecisionLog(Protocol):
    """Takes what was decided."""

    def write(self, decision: NetworkDecision) -> None:
        """Hand one decision on, at once and without waiting."""
