"""What a confined process may do: plain data that can cross a process border as JSON."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of each process (setrlimit(2)); None leaves a limit as it is. Core dumps are always off.

    `processes` counts every process and thread of the same uid on the whole machine, other containers and the host
    included, so it is a limit only where the uid is this process's alone. `address_space_bytes` breaks programs that
    reserve much and use little (V8, the Go runtime).
    """

    processes: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None
    cpu_seconds: int | None = None
    address_space_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What is allowed. Everything that is not named here is refused, as far as the kernel has the means.

    Paths are absolute; each stands for everything below it. A path under `read_write` must exist and must not be a
    symbolic link; one of the other lists that does not exist allows nothing and is passed over.
    """

    # Read, write, make, remove, and run what is there.
    read_write: tuple[str, ...] = ()
    # Read, list, and run what is there.
    read_only: tuple[str, ...] = ()
    # Read and list, never run.
    read_data: tuple[str, ...] = ()
    # Single device files, such as /dev/null: read, write and ioctl.
    devices: tuple[str, ...] = ()
    # None: what is readable by the lists above may be run. Otherwise only programs below these paths may be, and
    # memfd_create is refused, since a program in memory has no path.
    execute: tuple[str, ...] | None = None
    # TCP ports that may be connected to, at any address that the network lets through. Empty: no socket at all.
    tcp_connect_ports: tuple[int, ...] = ()
    # Processes that may not be signalled, also where the kernel has no scope for signals (Landlock ABI below 6).
    protected_pids: tuple[int, ...] = ()
    limits: Limits = field(default_factory=Limits)
    # Go on where the kernel has no Landlock: what separates this process from files it may not have is then missing.
    unsafe_allow_no_landlock: bool = False
    # Never use Landlock. Only for tests that have to show what the other walls hold on their own.
    unsafe_skip_landlock: bool = False

    def to_json(self) -> dict[str, Any]:
        """The profile as a JSON object."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Profile":
        """The profile of `to_json`, also after a trip through JSON text.

        Raises:
            TypeError: a field is missing from this version, or unknown to it.
        """
        fields = dict(value)
        fields["limits"] = Limits(**fields["limits"])
        for name in ("read_write", "read_only", "read_data", "devices", "execute", "tcp_connect_ports", "protected_pids"):
            if fields[name] is not None:
                fields[name] = tuple(fields[name])
        return cls(**fields)
