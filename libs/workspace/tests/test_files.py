"""Reading, writing, listing and deleting: what is refused, what works, and what stays as it was."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import errors
from contracts.errors import Refusal
from policy.paths import JudgedPath, judge_path
from workspace import (
    Folder,
    Listing,
    Quota,
    Written,
    delete_file,
    list_chat_folder,
    list_folder,
    open_chat_folder,
    read_file,
    read_file_bytes,
    write_file,
)
from workspace.files import MAX_SCANNED

CHAT = "0123456789abcdef0123456789abcdef"
LIMIT = 1_000


def path(text: str) -> JudgedPath:
    judged = judge_path(text)
    assert isinstance(judged, JudgedPath)
    return judged


def code(answer: object) -> str:
    assert isinstance(answer, Refusal)
    return answer.code


@pytest.fixture
def top(tmp_path: Path) -> Path:
    where = tmp_path / "ws"
    where.mkdir()
    return where


@pytest.fixture
def folder(top: Path) -> Iterator[Folder]:
    with Folder(os.open(top, os.O_RDONLY | os.O_DIRECTORY)) as opened:
        yield opened


# --- reading ---


def test_a_file_at_the_limit_is_read_and_one_byte_more_is_refused(top: Path, folder: Folder) -> None:
    (top / "a").write_bytes(b"x" * LIMIT)
    (top / "b").write_bytes(b"x" * (LIMIT + 1))
    assert read_file(folder, path("a"), LIMIT) == b"x" * LIMIT
    assert code(read_file(folder, path("b"), LIMIT)) == errors.FILE_TOO_LARGE


def test_a_pipe_is_refused_without_waiting(top: Path, folder: Folder) -> None:
    os.mkfifo(top / "pipe")
    assert code(read_file(folder, path("pipe"), LIMIT)) == errors.PATH_NOT_A_FILE
    assert code(write_file(folder, path("pipe"), b"x", LIMIT)) == errors.PATH_NOT_A_FILE


def test_a_socket_is_refused(top: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top)  # a socket's path is limited to 107 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert code(read_file(folder, path("s"), LIMIT)) == errors.PATH_NOT_A_FILE


def test_a_folder_is_not_read_and_not_replaced(top: Path, folder: Folder) -> None:
    (top / "d").mkdir()
    assert code(read_file(folder, path("d"), LIMIT)) == errors.PATH_NOT_A_FILE
    assert code(write_file(folder, path("d"), b"x", LIMIT)) == errors.PATH_NOT_A_FILE
    assert code(write_file(folder, path("new/"), b"x", LIMIT)) == errors.PATH_NOT_A_FILE
    assert code(write_file(folder, path("."), b"x", LIMIT)) == errors.PATH_NOT_A_FILE
    assert (top / "d").is_dir()
    assert not (top / "new").exists()


def test_what_is_not_there_is_not_found(folder: Folder) -> None:
    assert code(read_file(folder, path("a/b"), LIMIT)) == errors.PATH_NOT_FOUND
    assert code(delete_file(folder, path("a/b"))) == errors.PATH_NOT_FOUND
    assert code(list_folder(folder, path("a"), 10)) == errors.PATH_NOT_FOUND


def test_a_path_through_a_file_is_refused(top: Path, folder: Folder) -> None:
    (top / "f").write_text("x")
    assert code(read_file(folder, path("f/a"), LIMIT)) == errors.PATH_NOT_A_FILE
    assert code(write_file(folder, path("f/a"), b"x", LIMIT)) == errors.PATH_NOT_A_FILE


@pytest.mark.parametrize("target", ["/proc/self/root/etc/hostname", "/proc/self/environ", "/dev/zero", "/etc/hostname"])
def test_an_absolute_link_is_refused(top: Path, folder: Folder, target: str) -> None:
    (top / "l").symlink_to(target)
    assert code(read_file(folder, path("l"), LIMIT)) in {errors.PATH_ESCAPES, errors.PATH_SYMLINK}
    assert code(write_file(folder, path("l"), b"x", LIMIT)) in {errors.PATH_ESCAPES, errors.PATH_SYMLINK}


# --- writing ---


def test_folders_on_the_way_are_made_and_what_was_replaced_is_told(top: Path, folder: Folder) -> None:
    assert write_file(folder, path("a/b/c.txt"), b"one", LIMIT) == Written(3, None)
    assert write_file(folder, path("a/b/c.txt"), b"four", LIMIT) == Written(4, 3)
    assert (top / "a/b/c.txt").read_bytes() == b"four"
    assert [name.name for name in (top / "a/b").iterdir()] == ["c.txt"]


def test_the_mode_of_a_replaced_file_is_kept_without_set_user_id(top: Path, folder: Folder) -> None:
    (top / "run.sh").write_text("x")
    (top / "run.sh").chmod(0o4750)
    write_file(folder, path("run.sh"), b"y", LIMIT)
    assert stat.S_IMODE((top / "run.sh").stat().st_mode) == 0o750


def test_a_hard_link_is_not_written_through(top: Path, folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("outside")
    (top / "h").hardlink_to(tmp_path / "other")
    assert isinstance(write_file(folder, path("h"), b"new", LIMIT), Written)
    assert (tmp_path / "other").read_text() == "outside"


def test_a_link_to_a_file_inside_is_written_through(top: Path, folder: Folder) -> None:
    (top / "docs/deep").mkdir(parents=True)
    (top / "docs/a.txt").write_text("old")
    (top / "docs/deep/l").symlink_to("../a.txt")
    (top / "l").symlink_to("docs/deep/l")
    assert isinstance(write_file(folder, path("l"), b"new", LIMIT), Written)
    assert (top / "l").is_symlink()
    assert (top / "docs/a.txt").read_text() == "new"


def test_a_link_to_a_folder_inside_is_written_into(top: Path, folder: Folder) -> None:
    (top / "docs").mkdir()
    (top / "sub").mkdir()
    (top / "sub/l").symlink_to("../docs")
    assert isinstance(write_file(folder, path("sub/l/new/a.txt"), b"x", LIMIT), Written)
    assert (top / "docs/new/a.txt").read_text() == "x"


def test_a_link_to_nothing_is_refused_and_nothing_is_made(top: Path, folder: Folder) -> None:
    (top / "l").symlink_to("later.txt")
    (top / "d").symlink_to("laterdir")
    assert code(write_file(folder, path("l"), b"x", LIMIT)) == errors.PATH_SYMLINK
    assert code(write_file(folder, path("d/a"), b"x", LIMIT)) == errors.PATH_SYMLINK
    assert sorted(name.name for name in top.iterdir()) == ["d", "l"]


def test_a_failed_write_leaves_the_old_content_and_no_rest(top: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "a").write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert code(write_file(folder, path("a"), b"new", LIMIT)) == errors.QUOTA_DISK
    assert (top / "a").read_text() == "old"
    assert [name.name for name in top.iterdir()] == ["a"]


def test_a_large_content_is_refused_before_anything_is_made(top: Path, folder: Folder) -> None:
    assert code(write_file(folder, path("d/a"), b"x" * (LIMIT + 1), LIMIT)) == errors.FILE_TOO_LARGE
    assert list(top.iterdir()) == []


# --- deleting ---


def test_a_file_and_an_empty_folder_are_deleted(top: Path, folder: Folder) -> None:
    (top / "d").mkdir()
    (top / "d/f").write_text("x")
    assert code(delete_file(folder, path("d"))) == errors.PATH_NOT_EMPTY
    assert delete_file(folder, path("d/f")) == "file"
    assert delete_file(folder, path("d/")) == "folder"
    assert list(top.iterdir()) == []


def test_of_a_link_the_link_is_deleted_and_its_target_stays(top: Path, folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("outside")
    (top / "l").symlink_to("../out")
    assert delete_file(folder, path("l")) == "link"
    assert (tmp_path / "out").read_text() == "outside"
    assert list(top.iterdir()) == []


def test_nothing_is_deleted_through_a_link_that_leads_out(top: Path, folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/f").write_text("outside")
    (top / "l").symlink_to("../out")
    assert code(delete_file(folder, path("l/f"))) == errors.PATH_ESCAPES
    assert (tmp_path / "out/f").exists()


def test_the_top_is_not_deleted(folder: Folder) -> None:
    assert code(delete_file(folder, path("."))) == errors.PATH_NOT_A_FILE


# --- listing ---


def test_names_come_in_order_with_kind_and_size(top: Path, folder: Folder) -> None:
    (top / "b").write_text("12345")
    (top / "a").mkdir()
    (top / "c").symlink_to("/etc/passwd")
    os.mkfifo(top / "d")
    answer = list_folder(folder, path("."), 10)
    assert isinstance(answer, Listing)
    assert [(entry.name, entry.kind) for entry in answer.entries] == [
        ("a", "folder"),
        ("b", "file"),
        ("c", "link"),
        ("d", "other"),
    ]
    assert answer.entries[1].size_bytes == 5
    assert answer.complete


def test_a_listing_is_bounded_and_says_so(top: Path, folder: Folder) -> None:
    for number in range(12):
        (top / f"{number:02}").touch()
    answer = list_folder(folder, path("."), 10)
    assert isinstance(answer, Listing)
    assert [entry.name for entry in answer.entries] == [f"{number:02}" for number in range(10)]
    assert not answer.complete
    assert MAX_SCANNED > 10


# --- chats, quota ---


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "chats").mkdir()
    return tmp_path


def test_a_chats_folder_is_made_once_and_found_again(root: Path) -> None:
    assert code(open_chat_folder(root, CHAT, create=False)) == errors.PATH_NOT_FOUND
    for _ in range(2):
        opened = open_chat_folder(root, CHAT, create=True)
        assert isinstance(opened, Folder)
        with opened:
            write_file(opened, path("a"), b"x", LIMIT)
    assert read_file_bytes(root, CHAT, "a", LIMIT) == b"x"
    assert code(read_file_bytes(root, CHAT, "../a", LIMIT)) == errors.PATH_ESCAPES


@pytest.mark.parametrize("name", ["..", "../chats", "a" * 31, "A" * 32, f"{'a' * 32}/..", f"{'a' * 32}\n", ""])
def test_only_the_name_of_a_chat_opens_a_folder(root: Path, name: str) -> None:
    assert code(open_chat_folder(root, name, create=True)) == errors.PATH_BAD_CHARACTER
    assert list((root / "chats").iterdir()) == []


def test_a_link_in_the_place_of_a_chats_folder_is_refused(root: Path) -> None:
    (root / "chats" / CHAT).symlink_to("/etc")
    assert code(open_chat_folder(root, CHAT, create=True)) == errors.PATH_SYMLINK


def test_a_chat_without_a_folder_lists_as_empty_and_none_is_made(root: Path) -> None:
    assert list_chat_folder(root, CHAT, ".", 10) == Listing((), complete=True)
    assert code(list_chat_folder(root, CHAT, "docs", 10)) == errors.PATH_NOT_FOUND
    assert list((root / "chats").iterdir()) == []


def test_a_write_over_the_quota_is_refused_until_something_is_deleted(top: Path, folder: Folder) -> None:
    now = [0.0]
    quota = Quota(100_000, clock=lambda: now[0])
    assert quota.judge(CHAT, folder, 50_000) is None
    write_file(folder, path("d/a"), b"x" * 90_000, 100_000)
    quota.added(CHAT, 90_000)
    assert code(quota.judge(CHAT, folder, 50_000)) == errors.QUOTA_CHAT
    delete_file(folder, path("d/a"))
    quota.forget(CHAT)
    assert quota.judge(CHAT, folder, 50_000) is None


def test_what_a_command_wrote_is_seen_at_the_next_count(top: Path, folder: Folder) -> None:
    now = [0.0]
    quota = Quota(100_000, clock=lambda: now[0])
    assert quota.judge(CHAT, folder, 50_000) is None
    (top / "big").write_bytes(os.urandom(90_000))
    assert quota.judge(CHAT, folder, 50_000) is None
    now[0] = 11.0
    assert code(quota.judge(CHAT, folder, 50_000)) == errors.QUOTA_CHAT
