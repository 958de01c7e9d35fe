"""The core's errors.

CoreError
├── NotFound       the chat, reply, approval or provider does not exist
├── Conflict       it exists, but what was asked is not possible in its present state
└── ModelError     the endpoint could not be reached, refused, or broke off
"""

from contracts import errors
from contracts.errors import Refusal


class CoreError(Exception):
    """Something a caller is told, with a stable code."""

    def __init__(self, refusal: Refusal) -> None:
        """Carry `refusal` to whoever answers the caller."""
        super().__init__(refusal.detail)
        self.refusal = refusal


class NotFound(CoreError):
    """What was named does not exist."""

    def __init__(self, what: str) -> None:
        """`what` is the noun a person would use."""
        super().__init__(
            Refusal(
                code=errors.NOT_FOUND, detail=f"There is no such {what}.", hint="It may have been deleted: load the page again."
            )
        )


class Conflict(CoreError):
    """It exists, but not in a state in which this can be done."""

    def __init__(self, detail: str, hint: str = "") -> None:
        """Say what stands in the way."""
        super().__init__(Refusal(code=errors.CONFLICT, detail=detail, hint=hint))


class ModelError(CoreError):
    """The model's endpoint did not answer as it should; `started` tells whether some of the reply had come."""


class EpochUnavailable(Exception):
    """Redis does not answer, so there is no epoch and no ticket can be signed."""
