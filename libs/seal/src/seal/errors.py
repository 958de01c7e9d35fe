"""What can go wrong when a process is confined.

SealError
├── SealUnavailable     the kernel or the architecture lacks what the profile needs
└── LaunchFailed        the launcher could not start a command, or is gone
"""


class SealError(RuntimeError):
    """A process could not be confined, so it must not go on."""


class SealUnavailable(SealError):
    """The kernel or the architecture has no means to confine a process as its profile says."""


class LaunchFailed(SealError):
    """A command was not started: its program, folder or confinement could not be had, or the launcher is gone."""
