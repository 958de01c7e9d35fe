"""Folders are made beneath the workspace, and nowhere else."""

from pathlib import Path

from contracts.errors import Refusal
from policy.paths import JudgedPath
from workspace import make_folder, open_chat_folder
from workspace.folder import Folder

CHAT = "a" * 32
NESTED = JudgedPath((".switchbox", "home"), is_folder=True)


def opened(root: Path) -> Folder:
    """The chat's folder, made."""
    (root / "chats").mkdir()
    folder = open_chat_folder(root, CHAT, create=True)
    assert not isinstance(folder, Refusal)
    return folder


def test_missing_folders_are_made_and_present_ones_are_left(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        assert make_folder(folder, NESTED) is None
        assert make_folder(folder, NESTED) is None
    assert (tmp_path / "chats" / CHAT / ".switchbox" / "home").is_dir()


def test_a_link_that_leads_out_makes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    with opened(tmp_path) as folder:
        (tmp_path / "chats" / CHAT / ".switchbox").symlink_to(tmp_path / "outside")
        assert isinstance(make_folder(folder, NESTED), Refusal)
    assert list((tmp_path / "outside").iterdir()) == []
