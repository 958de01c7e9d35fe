"""Finding and killing everything a process started. It must be a subreaper, so that orphans come back to it."""

import contextlib
import os
import signal
import time
from pathlib import Path


def kill_all(seconds: float) -> int:
    """Stop every descendant, then kill and reap them all; how many were still alive after `seconds`.

    Stopping first keeps a process from starting another between the look and the kill; it is repeated until a look
    finds nobody new.
    """
    end = time.monotonic() + seconds
    while True:
        stopped: set[int] = set()
        while new := descendants() - stopped:
            _signal(new, signal.SIGSTOP)
            stopped |= new
        _signal(stopped, signal.SIGKILL)
        reap()
        left = descendants()
        if not left or time.monotonic() > end:
            return len(left)
        time.sleep(0.002)


def reap() -> dict[int, int]:
    """Take the status of every child that has ended: pid to wait status."""
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]
    return ended


def descendants() -> set[int]:
    """The pids of all live descendants of this process, by the parents that /proc tells (proc(5), stat)."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    frontier = [os.getpid()]
    while frontier:
        frontier = [child for parent in frontier for child in children.get(parent, ()) if child not in found]
        found.update(frontier)
    return found


def _parent(entry: Path) -> int | None:
    """The parent's pid, or None for a process that has ended or waits only to be reaped."""
    try:
        # The name stands in brackets and may hold any character, so what matters comes after the last one.
        state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in (b"Z", b"X") else int(parent)


def _signal(pids: set[int], which: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, which)
