"""Reading, writing, listing and deleting in a chat's folder. Each answers with a value or a refusal, and raises neither.

Paths come judged by `policy.paths`. Only regular files are read and replaced; a pipe, socket or device a command made
is refused without waiting for it.
"""

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from typing import Literal

from contracts import errors
from contracts.errors import Refusal
from policy.paths import JudgedPath
from workspace._refusals import Refused, from_os_error, refuse
from workspace.folder import Folder, kind_of, parent_of

FILE_MODE = 0o644
READ_AT_ONCE = 1024 * 1024
# Names looked at in one folder; of more than that a listing shows some and says so.
MAX_SCANNED = 20_000

EntryKind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True)
class Entry:
    """One name in a folder; a link is told as a link, whatever it points to. `name` may hold any character."""

    name: str
    kind: EntryKind
    size_bytes: int
    modified: float


@dataclass(frozen=True)
class Listing:
    """The entries of a folder in the order of their names; `complete` is false when there are more."""

    entries: tuple[Entry, ...]
    complete: bool


@dataclass(frozen=True)
class Written:
    """What a write did: the new size, what it replaced (None: nothing was there)."""

    size_bytes: int
    replaced_bytes: int | None


def read_file(folder: Folder, path: JudgedPath, limit: int) -> bytes | Refusal:
    """The bytes of a regular file of at most `limit` bytes."""
    try:
        return _read(folder, path, limit)
    except Refused as exc:
        return exc.refusal
    except OSError as exc:
        return from_os_error(exc, str(path))


def write_file(folder: Folder, path: JudgedPath, content: bytes, limit: int) -> Written | Refusal:
    """Put `content` in the place of a file, at once: a reader sees the old content or the new one, never a part.

    Folders on the way are made. The permissions of a file that is replaced are kept. A link as the last name is
    written through, as long as it points to a file inside the workspace. After a power cut the file has the old or
    the new content.
    """
    try:
        return _write(folder, path, content, limit)
    except Refused as exc:
        return exc.refusal
    except OSError as exc:
        return from_os_error(exc, str(path))


def delete_file(folder: Folder, path: JudgedPath) -> EntryKind | Refusal:
    """Delete one file or one empty folder, and say which it was. Of a link, the link goes and its target stays."""
    try:
        return _delete(folder, path)
    except Refused as exc:
        return exc.refusal
    except OSError as exc:
        return from_os_error(exc, str(path))


def make_folder(folder: Folder, path: JudgedPath) -> Refusal | None:
    """Make a folder, and those on the way to it, unless they are there."""
    try:
        with parent_of(folder, JudgedPath((*path.names, "."), is_folder=True), create=True, follow=False):
            return None
    except Refused as exc:
        return exc.refusal
    except OSError as exc:
        return from_os_error(exc, str(path))


def list_folder(folder: Folder, path: JudgedPath, limit: int) -> Listing | Refusal:
    """The first `limit` names of a folder, in order; of a folder with very many names, of those that were looked at."""
    try:
        return _list(folder, path, limit)
    except OSError as exc:
        return from_os_error(exc, str(path))


def _read(folder: Folder, path: JudgedPath, limit: int) -> bytes:
    # O_NONBLOCK: opening a pipe that nobody writes must not wait. It means nothing for regular files.
    with folder.opened(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) as descriptor:
        found = os.fstat(descriptor)
        _require_regular(found, path)
        _require_size(found.st_size, limit, path)
        pieces: list[bytes] = []
        size = 0
        # One byte over the limit tells a file that grew since; a file whose size is told as 0 (as in /proc) ends by itself.
        while size <= limit and (piece := os.read(descriptor, min(READ_AT_ONCE, limit + 1 - size))):
            pieces.append(piece)
            size += len(piece)
        _require_size(size, limit, path)
        return b"".join(pieces)


def _write(folder: Folder, path: JudgedPath, content: bytes, limit: int) -> Written:
    if path.is_folder:
        raise refuse(errors.PATH_NOT_A_FILE, f"{path} names a folder.", "Name a file.")
    _require_size(len(content), limit, path)
    with parent_of(folder, path, create=True, follow=True) as (parent, name):
        before = kind_of(parent, name)
        if before is not None:
            _require_regular(before, path)
        temporary = f".switchbox-{secrets.token_hex(8)}.tmp"
        try:
            _write_new(parent, temporary, content, FILE_MODE if before is None else stat.S_IMODE(before.st_mode) & 0o777)
            # It replaces whatever has that name by now, a link included, and so touches nothing but this folder.
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise
    return Written(len(content), None if before is None else before.st_size)


def _write_new(parent: int, name: str, content: bytes, mode: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=parent)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]
        os.fchmod(descriptor, mode)
        # Without it some file systems leave an empty file after a power cut, and the old content is gone too.
        os.fsync(descriptor)


def _delete(folder: Folder, path: JudgedPath) -> EntryKind:
    with parent_of(folder, path, create=False, follow=False) as (parent, name):
        found = kind_of(parent, name)
        if found is None:
            raise refuse(errors.PATH_NOT_FOUND, f"There is no {path} in the workspace.", "list_files shows what is there.")
        kind = _kind(found.st_mode)
        if kind == "folder":
            os.rmdir(name, dir_fd=parent)
        elif path.is_folder:
            raise refuse(errors.PATH_NOT_A_FILE, f"{path} is not a folder.", "Leave the slash at its end out.")
        else:
            os.unlink(name, dir_fd=parent)
        return kind


def _list(folder: Folder, path: JudgedPath, limit: int) -> Listing:
    with folder.opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor, os.scandir(descriptor) as scan:
        found: list[os.DirEntry[str]] = []
        for entry in scan:
            if len(found) == MAX_SCANNED:
                complete = False
                break
            found.append(entry)
        else:
            complete = len(found) <= limit
        found.sort(key=lambda entry: entry.name)
        return Listing(tuple(filter(None, map(_entry, found[:limit]))), complete)


def _entry(found: os.DirEntry[str]) -> Entry | None:
    """None when it went away while the folder was read."""
    try:
        state = found.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Entry(found.name, _kind(state.st_mode), state.st_size, state.st_mtime)


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _require_regular(found: os.stat_result, path: JudgedPath) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise refuse(errors.PATH_NOT_A_FILE, f"{path} is a folder.", "list_files shows what is in it.")
    if not stat.S_ISREG(found.st_mode):
        raise refuse(errors.PATH_NOT_A_FILE, f"{path} is not a regular file.")


def _require_size(size: int, limit: int, path: JudgedPath) -> None:
    if size > limit:
        detail = f"{path} is larger than {limit:,} bytes" + (f" ({size:,})." if size > limit + 1 else ".")
        raise refuse(errors.FILE_TOO_LARGE, detail, "run_command can work with parts of it.")
