"""How much one call, and all of them, may have open at once."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Counts and times that bound what a client can hold on to. All times are in seconds."""

    waiting: int = 128
    connections: int = 512
    connections_per_call: int = 64
    head_seconds: float = 10.0
    connect_seconds: float = 15.0
    idle_seconds: float = 300.0
    half_closed_seconds: float = 30.0
    total_seconds: float = 3_600.0
    bytes_per_connection: int | None = None


class OpenCalls:
    """Counts what each call has open; a call that has nothing open takes no memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: Counter[str] = Counter()

    def enter(self, call_id: str) -> bool:
        """Count one more for this call, unless it or all calls together have enough."""
        if self._open[call_id] >= self._limits.connections_per_call or self._open.total() >= self._limits.connections:
            return False
        self._open[call_id] += 1
        return True

    def leave(self, call_id: str) -> None:
        """Count one less."""
        self._open[call_id] -= 1
        if self._open[call_id] <= 0:
            del self._open[call_id]
