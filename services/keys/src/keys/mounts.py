"""Where a mount of this container lies on its file system of the host (proc_pid_mountinfo(5))."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_FIELDS_USED = 5
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """`root` is the mounted folder's path within the file system of `device` (major:minor)."""

    device: str
    root: PurePosixPath
    mount_point: PurePosixPath


def parse(mountinfo: str) -> list[Mount]:
    """Read the text of /proc/self/mountinfo."""
    rows = (line.split(" ") for line in mountinfo.splitlines())
    return [Mount(row[2], _path(row[3]), _path(row[4])) for row in rows if len(row) >= _FIELDS_USED]


def contains(mounts: list[Mount], folder: PurePosixPath, inner: PurePosixPath) -> bool:
    """Whether what is mounted at `folder` holds the folder of the host in which the file mounted at `inner` lies.

    False as well when nothing is mounted at `inner`. A file system mounted inside `folder` is looked at too.
    """
    wanted = next((mount for mount in mounts if mount.mount_point == inner), None)
    if wanted is None:
        return False
    return any(
        mount.device == wanted.device and wanted.root.parent.is_relative_to(mount.root) for mount in _below(mounts, folder)
    )


def _below(mounts: list[Mount], folder: PurePosixPath) -> Iterator[Mount]:
    return (mount for mount in mounts if mount.mount_point.is_relative_to(folder))


def _path(text: str) -> PurePosixPath:
    # Space, tab, newline and backslash are written as three octal digits.
    return PurePosixPath(_OCTAL.sub(lambda match: chr(int(match[1], 8)), text))
