"""What can go wrong in this service.

JsSandboxError
└── NoChild     no process could be had to run a program in
"""

from contracts import errors


class JsSandboxError(RuntimeError):
    """A fault of this service, not of the program it was to run."""

    code = errors.INTERNAL


class NoChild(JsSandboxError):
    """No process could be had to run a program in: the zygote is gone, or its children do not become ready."""

    code = errors.TOOL_UNAVAILABLE
