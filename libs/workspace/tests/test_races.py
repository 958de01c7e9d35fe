"""A thread swaps folders for links without pause while files are read, written, listed and deleted: nothing gets out."""

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import Refusal
from policy.paths import JudgedPath, judge_path
from workspace import Folder, Listing, delete_file, list_folder, read_file, write_file

SECONDS = 1.5


# renameat2(2): both names at once, so that there is always something at each.
RENAME_EXCHANGE = 2
AT_FDCWD = -100


@contextlib.contextmanager
def swapping(base: Path) -> Iterator[list[int]]:
    """`ws/race` is a folder, then a link to `../out`, then the folder again, as fast as a thread can."""
    stop = threading.Event()
    swaps = [0]
    libc = ctypes.CDLL(None, use_errno=True)
    race, other = os.fsencode(base / "ws/race"), os.fsencode(base / "ws/.other")
    (base / "ws/.other").symlink_to("../out")

    def swap() -> None:
        while not stop.is_set():
            assert libc.renameat2(AT_FDCWD, race, AT_FDCWD, other, RENAME_EXCHANGE) == 0
            swaps[0] += 1

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield swaps
    finally:
        stop.set()
        thread.join(10)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "ws/race/sub").mkdir(parents=True)
    (tmp_path / "out/sub").mkdir(parents=True)
    for name in ("secret.txt", "sub/secret.txt"):
        (tmp_path / "out" / name).write_text("outside-secret")
        (tmp_path / "ws/race" / name).write_text("inside")
    return tmp_path


@pytest.mark.parametrize("name", ["race/secret.txt", "race/sub/secret.txt"])
def test_links_swapped_during_operations_lead_nowhere(base: Path, name: str) -> None:
    path, parent = judged(name), judged(name.rpartition("/")[0])
    done = refused = 0
    with Folder(os.open(base / "ws", os.O_RDONLY | os.O_DIRECTORY)) as folder, swapping(base) as swaps:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            answers: list[object] = [read_file(folder, path, 1_000), list_folder(folder, parent, 10)]
            answers += [delete_file(folder, path), write_file(folder, path, b"inside", 1_000)]
            assert b"outside-secret" not in answers
            for answer in answers:
                if isinstance(answer, Listing):
                    assert all(entry.size_bytes != len("outside-secret") for entry in answer.entries if entry.kind == "file")
            refused += sum(isinstance(answer, Refusal) for answer in answers)
            done += sum(not isinstance(answer, Refusal) for answer in answers)
    assert swaps[0] > 100
    assert done > 0
    assert refused > 0
    assert sorted(where.relative_to(base).as_posix() for where in (base / "out").rglob("*")) == [
        "out/secret.txt",
        "out/sub",
        "out/sub/secret.txt",
    ]
    assert (base / "out/secret.txt").read_text() == "outside-secret"
    assert (base / "out/sub/secret.txt").read_text() == "outside-secret"


def test_a_link_whose_target_is_swapped_is_never_written_through_to_the_outside(base: Path) -> None:
    (base / "ws/l").symlink_to("race/secret.txt")
    with Folder(os.open(base / "ws", os.O_RDONLY | os.O_DIRECTORY)) as folder, swapping(base) as swaps:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            write_file(folder, judged("l"), b"inside", 1_000)
    assert swaps[0] > 100
    assert (base / "out/secret.txt").read_text() == "outside-secret"
    assert len(list((base / "out").iterdir())) == 2


def judged(text: str) -> JudgedPath:
    path = judge_path(text)
    assert isinstance(path, JudgedPath)
    return path
