"""Writing key files and giving folders away with nothing but CAP_CHOWN and CAP_DAC_OVERRIDE.

Without CAP_FOWNER only a file's owner may change its mode, root not excepted. So what belongs to somebody else is taken
back first, then changed, then given away.
"""

import os
import stat
from pathlib import Path


def set_owner(descriptor: int, uid: int, mode: int) -> bool:
    """Give an open file or folder this owner (group of the same number) and mode; whether anything had to change."""
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (uid, uid, mode):
        return False
    if status.st_uid != os.geteuid():
        os.fchown(descriptor, os.geteuid(), -1)
    # Closed while it changes hands, so that nobody gets in between the two calls.
    os.fchmod(descriptor, mode)
    os.fchown(descriptor, uid, uid)
    return True


def give_folder(path: Path, uid: int, mode: int) -> bool:
    """Set a folder's owner and mode; whether that changed anything. A link in its place is an error (OSError)."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return set_owner(descriptor, uid, mode)
    finally:
        os.close(descriptor)


def write_file(path: Path, content: bytes, uid: int, mode: int) -> None:
    """Put the file in place whole or not at all: written beside it, synced, renamed."""
    beside = path.with_name(f".{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        set_owner(descriptor, uid, mode)
    finally:
        os.close(descriptor)
    beside.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
