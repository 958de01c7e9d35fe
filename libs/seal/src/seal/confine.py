"""Binding the process that calls: no new privileges, limits, files, system calls, in this order, for good."""

import resource
from dataclasses import dataclass, replace

from seal import _kernel, landlock, seccomp
from seal.errors import SealUnavailable
from seal.profile import Limits, Profile


@dataclass(frozen=True)
class Report:
    """What holds. `landlock_abi` 0 means that files are not confined by Landlock."""

    landlock_abi: int
    network_rules: bool
    scopes: bool
    seccomp: bool = True


def confine(profile: Profile) -> Report:
    """Confine this process and all it will start. It must have one thread: a thread that runs already stays free.

    Raises:
        SealUnavailable: the kernel or the architecture cannot confine it as the profile says.
        OSError: the kernel refused. The process may be half confined then, and must not go on.
    """
    version = 0 if profile.unsafe_skip_landlock else landlock.abi()
    if version == 0 and not (profile.unsafe_allow_no_landlock or profile.unsafe_skip_landlock):
        raise SealUnavailable("this kernel has no Landlock, or it is switched off, so files cannot be kept from the process")
    _limit(profile.limits)
    _kernel.prctl(_kernel.PR_SET_NO_NEW_PRIVS, 1)
    if version:
        landlock.restrict(profile, version)
    scopes = version >= landlock.SCOPES_ABI
    # With scopes the kernel refuses every signal to the outside; without them only the processes named are safe.
    seccomp.restrict(replace(profile, protected_pids=()) if scopes else profile)
    return Report(version, version >= landlock.NETWORK_ABI, scopes)


def _limit(limits: Limits) -> None:
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_AS: limits.address_space_bytes,
    }
    for which, value in wanted.items():
        if value is not None:
            _soft, hard = resource.getrlimit(which)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (bound, bound))
