"""Confining a child process: Landlock, seccomp and resource limits, and a launcher that leaves nothing alive behind.

`confine` binds the process that calls it, for good; `Launcher` runs commands under a `Profile` and kills whatever they
started, in every ending. Linux on x86_64 and aarch64; anything else is refused, not run unconfined.
"""

from seal.confine import Report, confine
from seal.errors import LaunchFailed, SealError, SealUnavailable
from seal.landlock import abi as landlock_abi
from seal.launcher import Launcher, Run
from seal.profile import Limits, Profile
from seal.supervisor import Command, Ended

__all__ = [
    "Command",
    "Ended",
    "LaunchFailed",
    "Launcher",
    "Limits",
    "Profile",
    "Report",
    "Run",
    "SealError",
    "SealUnavailable",
    "confine",
    "landlock_abi",
]
