"""A chat's folder as an open directory: where every operation on files starts."""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from contracts import errors
from contracts.errors import Refusal
from policy.paths import JudgedPath
from workspace._openat2 import open_beneath
from workspace._refusals import from_os_error, refuse

CHATS = "chats"
CHAT_NAME = re.compile(r"[0-9a-f]{32}")

# Readable by the core, which shows files but writes none; writable by the workspaces' own user only.
FOLDER_MODE = 0o755


class Folder:
    """An open directory that nothing done through it leaves. Use it as a context manager, or `close` it."""

    def __init__(self, descriptor: int) -> None:
        """Takes over `descriptor`, an open directory."""
        self.descriptor = descriptor

    def __enter__(self) -> Self:
        """Nothing to do: it is open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)

    @contextlib.contextmanager
    def opened(self, path: JudgedPath, flags: int, *, symlinks: bool = True) -> Iterator[int]:
        """A descriptor of what `path` resolves to, beneath this folder, for as long as the context lasts."""
        descriptor = open_beneath(self.descriptor, str(path), flags, symlinks=symlinks)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def open_chat_folder(root: Path, chat: str, *, create: bool) -> Folder | Refusal:
    """The folder of the chat whose workspace is named `chat`, below the workspaces' root.

    `<root>/chats` cannot be listed by those who use it, so a folder is found by its name of 128 random bits only. With
    `create` it is made when it is not there yet.
    """
    if not CHAT_NAME.fullmatch(chat):
        return Refusal(code=errors.PATH_BAD_CHARACTER, detail="This is not the name of a chat's workspace.")
    try:
        top = os.open(root / CHATS, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as exc:
        detail = f"The workspaces' root has no usable folder {CHATS!r} ({errno.errorcode.get(exc.errno or 0)})."
        return Refusal(code=errors.FILE_UNREADABLE, detail=detail, hint="The keys service makes it; see its log.")
    try:
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(chat, FOLDER_MODE, dir_fd=top)
        return Folder(open_beneath(top, chat, os.O_RDONLY | os.O_DIRECTORY, symlinks=False))
    except FileNotFoundError:
        return Refusal(code=errors.PATH_NOT_FOUND, detail="This chat has no files yet.")
    except OSError as exc:
        return from_os_error(exc, "The chat's folder")
    finally:
        os.close(top)


@contextlib.contextmanager
def parent_of(folder: Folder, path: JudgedPath, *, create: bool, follow: bool) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds `path`'s last name, and that name.

    With `create`, folders that are missing on the way are made, one by one, each beneath the one before. With `follow`,
    a link as the last name leads to what it points to, as long as that is there and inside the workspace; without it
    the link itself is meant.
    """
    if not path.names:
        raise refuse(errors.PATH_NOT_A_FILE, "The workspace's top is not a file.")
    parent, name = JudgedPath(path.names[:-1], is_folder=True), path.names[-1]
    descriptor = _make_folders(folder, parent) if create else _open_folder(folder, parent, symlinks=True)
    try:
        if follow and _is_link(descriptor, name):
            os.close(descriptor)
            descriptor = -1
            target = _target_of_link(folder, path)
            descriptor, name = _open_folder(folder, JudgedPath(target[:-1], is_folder=True), symlinks=False), target[-1]
        yield descriptor, name
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def kind_of(parent: int, name: str) -> os.stat_result | None:
    """What `name` is in the folder of descriptor `parent`, itself and not what it points to; None when it is not there."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _open_folder(folder: Folder, path: JudgedPath, *, symlinks: bool) -> int:
    return open_beneath(folder.descriptor, str(path), os.O_PATH | os.O_DIRECTORY, symlinks=symlinks)


def _make_folders(folder: Folder, path: JudgedPath) -> int:
    """Open the folder `path`; where it ends early, make the rest step by step."""
    for there in range(len(path.names), -1, -1):
        try:
            descriptor = _open_folder(folder, JudgedPath(path.names[:there], is_folder=True), symlinks=True)
        except FileNotFoundError:
            continue
        for name in path.names[there:]:
            descriptor = _step_into(descriptor, name)
        return descriptor
    raise FileNotFoundError(errno.ENOENT, "the workspace's folder is gone")


def _step_into(parent: int, name: str) -> int:
    """Make `name` in `parent` unless it is there, and open it in place of `parent`. A link there is not followed."""
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=parent)
        return open_beneath(parent, name, os.O_PATH | os.O_DIRECTORY, symlinks=False)
    finally:
        os.close(parent)


def _is_link(parent: int, name: str) -> bool:
    found = kind_of(parent, name)
    return found is not None and stat.S_ISLNK(found.st_mode)


def _target_of_link(folder: Folder, path: JudgedPath) -> tuple[str, ...]:
    """The names that lead to what the link `path` points to: the kernel resolves it, and says where it ended.

    The names are only a proposal: they are opened beneath the workspace again, without any link on the way.
    """
    try:
        with folder.opened(path, os.O_PATH) as descriptor:
            target = _place_of(descriptor)
    except FileNotFoundError:
        raise refuse(errors.PATH_SYMLINK, f"{path} is a link to nothing.", "Delete it, or name the file itself.") from None
    top = _place_of(folder.descriptor)
    if not target.startswith(f"{top}/"):
        raise refuse(errors.PATH_ESCAPES, f"{path} leads out of the workspace.")
    return tuple(target[len(top) + 1 :].split("/"))


def _place_of(descriptor: int) -> str:
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())
