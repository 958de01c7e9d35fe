"""The errors of the gateway.

GatewayError
├── CoreUnavailableError   the core did not answer, or not as its contract says
└── StartRefusedError     a setting or a file that is needed is missing or wrong; the text names it
"""

from contracts import errors


class GatewayError(Exception):
    """Base of what this service raises itself."""

    code = errors.INTERNAL


class CoreUnavailableError(GatewayError):
    """The core could not be reached, broke off, or answered with something that is no answer of its.

    `sent` says that the request may have reached it, so that its effect is unknown.
    """

    code = errors.CORE_UNAVAILABLE

    def __init__(self, reason: str, *, sent: bool) -> None:
        """`reason` is for the log; it holds no text of a chat."""
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


class StartRefusedError(GatewayError):
    """The gateway does not start like this; the text says which variable or file to mend."""
