"""How much a chat's folder holds. Commands write without asking, so this is a sample, not a meter."""

import os
import time
from collections.abc import Callable

from contracts import errors
from contracts.errors import Refusal
from workspace.folder import Folder

# A count older than this is made again before a file is written.
SAMPLE_SECONDS = 10.0
# A walk ends here and takes what it has counted, so that a folder with very many files cannot hold up a call.
WALK_SECONDS = 2.0
BLOCK_BYTES = 512  # stat(2): st_blocks


class Quota:
    """Refuses a write that would take a chat's folder over `limit` bytes.

    Files that commands write between two counts, and what lies beyond the end of a walk that took too long, are not
    seen: the folder may be over the limit by that. What counts is the space taken on the disk.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._limit = limit
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}

    def judge(self, chat: str, folder: Folder, more: int) -> Refusal | None:
        """Whether `more` bytes may be added to the folder of `chat` now."""
        used = self._used(chat, folder)
        if used + more <= self._limit:
            return None
        detail = f"The chat's workspace holds {used:,} bytes; with {more:,} more it would be over {self._limit:,}."
        return Refusal(code=errors.QUOTA_CHAT, detail=detail, hint="Delete files that are not needed.")

    def added(self, chat: str, more: int) -> None:
        """Count what was written without walking again; less when a file became smaller."""
        if chat in self._counts:
            when, used = self._counts[chat]
            self._counts[chat] = (when, max(0, used + more))

    def forget(self, chat: str) -> None:
        """Something was deleted: count again before the next write."""
        self._counts.pop(chat, None)

    def _used(self, chat: str, folder: Folder) -> int:
        now = self._clock()
        self._counts = {name: count for name, count in self._counts.items() if now - count[0] < SAMPLE_SECONDS}
        if chat not in self._counts:
            self._counts[chat] = (now, disk_usage(folder, self._clock))
        return self._counts[chat][1]


def disk_usage(folder: Folder, clock: Callable[[], float] = time.monotonic) -> int:
    """The bytes that everything in the folder takes on the disk; links are not followed. It ends after WALK_SECONDS."""
    until = clock() + WALK_SECONDS
    total = 0
    # fwalk compares what it opened with what it looked at before, so a link swapped in is not walked into.
    for _, folders, files, descriptor in os.fwalk(".", dir_fd=folder.descriptor, onerror=None):
        for name in (*folders, *files):
            try:
                total += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_blocks * BLOCK_BYTES
            except OSError:
                continue
            if clock() > until:
                return total
    return total
