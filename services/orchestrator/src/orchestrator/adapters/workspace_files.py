"""A chat's files for the screen: read-only, opened beneath the chat's folder by the kernel."""

import asyncio
from collections import deque
from pathlib import Path

import workspace
from contracts.api import FileEntry, Files
from contracts.errors import Refusal
from contracts.tools import MAX_FILE_BYTES, MAX_LISTED

MAX_FOLDERS = 200


class WorkspaceFiles:
    """Reads below the workspaces' root."""

    def __init__(self, root: Path) -> None:
        """`root` is the mounted workspaces' root."""
        self._root = root

    async def read(self, chat_folder: str, path: str) -> bytes | Refusal:
        """One file's bytes, at most MAX_FILE_BYTES."""
        return await asyncio.to_thread(workspace.read_file_bytes, self._root, chat_folder, path, MAX_FILE_BYTES)

    async def list(self, chat_folder: str) -> Files | Refusal:
        """All files and folders, those near the top first, hidden folders not entered; at most MAX_LISTED."""
        return await asyncio.to_thread(self._walk, chat_folder)

    def _walk(self, chat_folder: str) -> Files | Refusal:
        found: list[FileEntry] = []
        folders, complete, looked = deque([""]), True, 0
        while folders:
            folder = folders.popleft()
            looked += 1
            listing = workspace.list_chat_folder(self._root, chat_folder, folder or ".", MAX_LISTED)
            if isinstance(listing, Refusal):
                if not folder:
                    return listing
                continue
            complete = complete and listing.complete
            for entry in listing.entries:
                if len(found) >= MAX_LISTED or looked > MAX_FOLDERS:
                    return Files(files=tuple(found), truncated=True)
                path = f"{folder}/{entry.name}" if folder else entry.name
                found.append(_file_entry(path, entry))
                if entry.kind == "folder" and not entry.name.startswith("."):
                    folders.append(path)
        return Files(files=tuple(found), truncated=not complete)


def _file_entry(path: str, entry: workspace.Entry) -> FileEntry:
    kind = entry.kind if entry.kind != "link" else "other"
    size = entry.size_bytes if entry.kind == "file" else None
    return FileEntry(path=path, kind=kind, size=size, modified_at=max(0, int(entry.modified * 1000)))
