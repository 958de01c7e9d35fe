"""What calls asked of the network, as egress reports it: shown in the reply, believed only for calls that run now."""

from collections.abc import Callable

from contracts.egress_log import NetworkDecision

MAX_PER_CALL = 200

OnDecision = Callable[[NetworkDecision], None]


class NetworkLog:
    """Hands each decision to the call it belongs to. A line for a call that is not open is dropped."""

    def __init__(self) -> None:
        """No call is open."""
        self._open: dict[str, tuple[OnDecision, int]] = {}

    def open(self, call_id: str, on_decision: OnDecision) -> None:
        """From now on decisions of this call are handed to `on_decision`, at most MAX_PER_CALL."""
        self._open[call_id] = (on_decision, 0)

    def close(self, call_id: str) -> None:
        """The call has ended."""
        self._open.pop(call_id, None)

    def take(self, decision: NetworkDecision) -> None:
        """One line from egress."""
        entry = self._open.get(decision.call_id)
        if entry is not None and entry[1] < MAX_PER_CALL:
            self._open[decision.call_id] = (entry[0], entry[1] + 1)
            entry[0](decision)
