"""Workspace files, opened beneath a directory descriptor: the kernel resolves, and no path leads out.

`open_chat_folder` gives the folder; `read_file`, `write_file`, `list_folder` and `delete_file` work in it. A service
that only shows files uses `read_file_bytes` and `list_chat_folder`, which do both steps.
"""

from pathlib import Path

from contracts import errors
from contracts.errors import Refusal
from policy.paths import judge_path
from workspace.files import Entry, Listing, Written, delete_file, list_folder, make_folder, read_file, write_file
from workspace.folder import Folder, open_chat_folder
from workspace.quota import Quota

__all__ = [
    "Entry",
    "Folder",
    "Listing",
    "Quota",
    "Written",
    "delete_file",
    "list_chat_folder",
    "list_folder",
    "make_folder",
    "open_chat_folder",
    "read_file",
    "read_file_bytes",
    "write_file",
]


def read_file_bytes(root: Path, chat: str, path: str, limit: int) -> bytes | Refusal:
    """The bytes of one file of a chat; `path` is as it came from outside. Nothing is made."""
    judged = judge_path(path)
    if isinstance(judged, Refusal):
        return judged
    folder = open_chat_folder(root, chat, create=False)
    if isinstance(folder, Refusal):
        return folder
    with folder:
        return read_file(folder, judged, limit)


def list_chat_folder(root: Path, chat: str, path: str, limit: int) -> Listing | Refusal:
    """The names in one folder of a chat. A chat that no tool has written for yet has an empty workspace."""
    judged = judge_path(path)
    if isinstance(judged, Refusal):
        return judged
    folder = open_chat_folder(root, chat, create=False)
    if isinstance(folder, Refusal):
        return Listing((), complete=True) if folder.code == errors.PATH_NOT_FOUND and not judged.names else folder
    with folder:
        return list_folder(folder, judged, limit)
