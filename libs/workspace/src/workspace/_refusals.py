"""From what the kernel said to a refusal: a code, a sentence, and what would make it work."""

import errno

from contracts import errors
from contracts.errors import Refusal


class Refused(Exception):
    """Carries a refusal out of nested calls of this package; the public functions turn it back into a value."""

    def __init__(self, refusal: Refusal) -> None:
        """`refusal` is what the public function returns."""
        super().__init__(refusal.detail)
        self.refusal = refusal


def refuse(code: str, detail: str, hint: str = "") -> Refused:
    """A refusal to raise."""
    return Refused(Refusal(code=code, detail=detail, hint=hint))


def from_os_error(exc: OSError, path: str) -> Refusal:
    """What an error of the kernel means for the person or model that named `path`."""
    code, detail, hint = _BY_ERRNO.get(exc.errno or 0, (errors.FILE_UNREADABLE, "{path} could not be used ({name}).", ""))
    name = errno.errorcode.get(exc.errno or 0, "unknown error")
    return Refusal(code=code, detail=detail.format(path=path, name=name), hint=hint)


_ESCAPES = (errors.PATH_ESCAPES, "{path} leads out of the workspace.", "Links may only point to what lies inside the workspace.")
_SYMLINK = (errors.PATH_SYMLINK, "{path} goes through a link that cannot be followed.", "Name the file itself.")
_NOT_A_FILE = (errors.PATH_NOT_A_FILE, "{path} is not a file of the expected kind.", "")

_BY_ERRNO: dict[int, tuple[str, str, str]] = {
    errno.EXDEV: _ESCAPES,
    errno.EAGAIN: (errors.PATH_ESCAPES, "{path} keeps being moved while it is opened.", "Try again when nothing moves it."),
    errno.ELOOP: _SYMLINK,
    errno.ENOENT: (errors.PATH_NOT_FOUND, "There is no {path} in the workspace.", "list_files shows what is there."),
    errno.ENOTDIR: (errors.PATH_NOT_A_FILE, "{path} goes through something that is not a folder.", ""),
    errno.EISDIR: _NOT_A_FILE,
    errno.ENXIO: _NOT_A_FILE,
    errno.ENODEV: _NOT_A_FILE,
    errno.ENOTEMPTY: (errors.PATH_NOT_EMPTY, "{path} is a folder with something in it.", "Delete what is in it first."),
    errno.EEXIST: (errors.PATH_EXISTS, "{path} is already there and is not of the expected kind.", ""),
    errno.ENAMETOOLONG: (errors.PATH_TOO_LONG, "{path} is too long for this file system.", ""),
    errno.EACCES: (
        errors.FILE_UNREADABLE,
        "{path} may not be used: its permissions do not allow it.",
        "chmod it, or ask its owner.",
    ),
    errno.EPERM: (errors.FILE_UNREADABLE, "{path} may not be used: the system does not allow it.", ""),
    errno.EROFS: (errors.FILE_UNREADABLE, "{path} lies on a read-only file system.", ""),
    errno.ENOSPC: (errors.QUOTA_DISK, "The disk is full; {path} was not changed.", "Free some space."),
    errno.EDQUOT: (errors.QUOTA_DISK, "The disk quota is used up; {path} was not changed.", "Free some space."),
    errno.ENOSYS: (
        errors.FILE_UNREADABLE,
        "This kernel has no openat2, so that no file can be opened safely.",
        "Linux 5.6 or newer has it.",
    ),
}
