"""Keys are made once, whole, and for their owner only."""

import hashlib
import os
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from keys.layout import Layout
from keys.make import make_all, redis_users

TEMPLATE = "# a comment\nuser default off\nuser orchestrator on #{ORCHESTRATOR_SHA256} +ping\n\nuser tool-runner on #{TOOL_RUNNER_SHA256} +ping\n"


def own_uid(_wanted: int) -> int:
    """Only root may give files away: in a test every owner is this process."""
    return os.getuid()


def snapshot(base: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of every file below."""
    return {str(path): (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) for path in base.rglob("*") if path.is_file()}


def make(layout: Layout) -> list[str]:
    """Run the service's work on the layout."""
    return make_all(layout, TEMPLATE, own_uid)


def test_first_start_makes_every_key_readable_by_its_owner_only(layout: Layout) -> None:
    make(layout)
    for path in (
        layout.session_key,
        layout.ticket_key,
        layout.orchestrator_password,
        layout.tool_runner_password,
        layout.redis_users,
    ):
        assert stat.S_IMODE(path.stat().st_mode) == 0o400, path
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o500, path
    assert stat.S_IMODE(layout.ticket_public_key.stat().st_mode) == 0o444
    assert len(layout.session_key.read_bytes()) == 32


def test_the_public_key_verifies_what_the_ticket_key_signs(layout: Layout) -> None:
    make(layout)
    signature = load_pem_private_key(layout.ticket_key.read_bytes(), None).sign(b"ticket")
    load_pem_public_key(layout.ticket_public_key.read_bytes()).verify(signature, b"ticket")


def test_second_start_changes_nothing(layout: Layout) -> None:
    make(layout)
    before = snapshot(layout.base)
    assert make(layout) == []
    assert snapshot(layout.base) == before


def test_two_stacks_share_no_secret(layout: Layout, tmp_path: Path) -> None:
    make(layout)
    other = Layout(tmp_path / "other", tmp_path / "other/workspaces", os.getuid(), owned_by_root=os.getuid())
    make(other)
    assert layout.session_key.read_bytes() != other.session_key.read_bytes()
    assert layout.ticket_key.read_bytes() != other.ticket_key.read_bytes()
    assert layout.orchestrator_password.read_bytes() != other.orchestrator_password.read_bytes()


def test_changed_modes_are_put_right(layout: Layout) -> None:
    make(layout)
    layout.session_key.chmod(0o644)
    layout.data.chmod(0o777)
    assert make(layout) == [str(layout.session_key), str(layout.data)]
    assert stat.S_IMODE(layout.session_key.stat().st_mode) == 0o400


def test_lost_public_key_and_users_are_derived_again(layout: Layout) -> None:
    make(layout)
    public, users = layout.ticket_public_key.read_bytes(), layout.redis_users.read_bytes()
    for path in (layout.ticket_public_key, layout.redis_users):
        path.parent.chmod(0o700)
        path.unlink()
    make(layout)
    assert (layout.ticket_public_key.read_bytes(), layout.redis_users.read_bytes()) == (public, users)


def test_chats_cannot_be_listed_but_passed(layout: Layout) -> None:
    make(layout)
    assert stat.S_IMODE(layout.chats.stat().st_mode) == 0o733


def test_a_link_in_the_place_of_a_folder_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    layout.chats.symlink_to(target)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        make(layout)
    assert stat.S_IMODE(target.stat().st_mode) == 0o700


def test_redis_users_hold_hashes_and_no_comments() -> None:
    users = redis_users(TEMPLATE, b"one", b"two").decode()
    assert users.splitlines() == [
        "user default off",
        f"user orchestrator on #{hashlib.sha256(b'one').hexdigest()} +ping",
        f"user tool-runner on #{hashlib.sha256(b'two').hexdigest()} +ping",
    ]


@pytest.mark.parametrize("template", ["user default off\n", TEMPLATE + "user x on #{OTHER_SHA256}\n"])
def test_a_template_that_does_not_fit_is_an_error(template: str) -> None:
    with pytest.raises(ValueError, match="the template of Redis' users"):
        redis_users(template, b"one", b"two")


def test_the_real_template_fits() -> None:
    template = Path(__file__).parents[2] / "redis/users.acl.template"
    users = redis_users(template.read_text(encoding="utf-8"), b"one", b"two").decode()
    assert "user default off" in users.splitlines()
    assert all(line.startswith("user ") for line in users.splitlines())
