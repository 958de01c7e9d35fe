"""Reasons not to start are found, say what would mend them, and nothing is made then."""

import os
from pathlib import Path, PurePosixPath

import pytest

from keys import checks, mounts
from keys.layout import Layout
from keys.make import make_all
from keys.settings import BadSetting, Settings, from_environment

TEMPLATE = "user orchestrator on #{ORCHESTRATOR_SHA256}\nuser tool-runner on #{TOOL_RUNNER_SHA256}\n"
NO_MOUNTS = ""


def named_volume(layout: Layout) -> Settings:
    """The settings of a stack whose workspaces are in a named volume."""
    return Settings(layout.workspaces_root, None, layout.workspaces_uid)


def host_folder(layout: Layout, uid: int | None = None) -> Settings:
    """The settings of a stack whose workspaces are in a folder of the host."""
    return Settings(layout.workspaces_root, layout.workspaces_root, layout.workspaces_uid if uid is None else uid)


def started_once(layout: Layout) -> Layout:
    """The same layout after a first start that left data."""
    make_all(layout, TEMPLATE, lambda _uid: os.getuid())
    (layout.data / "chats.db").write_bytes(b"data")
    (layout.witness / "head").write_bytes(b"data")
    return layout


def remove(path: Path) -> None:
    """Remove a key, as a person with a broken disk would find it."""
    path.parent.chmod(0o700)
    path.unlink()


def test_a_fresh_stack_is_not_refused(layout: Layout) -> None:
    assert checks.refusals(layout, named_volume(layout), NO_MOUNTS) == []


def test_a_stack_with_data_and_keys_is_not_refused(layout: Layout) -> None:
    assert checks.refusals(started_once(layout), named_volume(layout), NO_MOUNTS) == []


@pytest.mark.parametrize(("key", "data"), [("ticket_key", "data"), ("session_key", "witness")])
def test_data_without_its_key_is_refused_with_both_names(layout: Layout, key: str, data: str) -> None:
    started_once(layout)
    remove(getattr(layout, key))
    (sentence,) = checks.refusals(layout, named_volume(layout), NO_MOUNTS)
    assert str(getattr(layout, key)) in sentence
    assert str(getattr(layout, data)) in sentence


def test_a_lost_key_without_data_is_not_refused(layout: Layout) -> None:
    make_all(layout, TEMPLATE, lambda _uid: os.getuid())
    remove(layout.ticket_key)
    assert checks.refusals(layout, named_volume(layout), NO_MOUNTS) == []


@pytest.mark.parametrize("content", [b"", b"short", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
@pytest.mark.parametrize("key", ["ticket_key", "session_key"])
def test_a_spoilt_key_is_refused_and_kept(layout: Layout, key: str, content: bytes) -> None:
    started_once(layout)
    path: Path = getattr(layout, key)
    remove(path)
    path.write_bytes(content)
    (sentence,) = checks.refusals(layout, named_volume(layout), NO_MOUNTS)
    assert str(path) in sentence
    assert path.read_bytes() == content


def test_a_world_writable_folder_is_refused_with_the_command_that_mends_it(layout: Layout) -> None:
    layout.workspaces_root.chmod(0o777)
    (sentence,) = checks.refusals(layout, host_folder(layout), NO_MOUNTS)
    assert f"chmod o-w {layout.workspaces_root}" in sentence


def test_a_folder_of_another_user_is_refused_with_the_uid_to_start_with(layout: Layout) -> None:
    other = Layout(layout.base, layout.workspaces_root, os.getuid() + 1, owned_by_root=os.getuid())
    (sentence,) = checks.refusals(other, host_folder(other), NO_MOUNTS)
    assert f"belongs to uid {os.getuid()}" in sentence
    assert f"chown {os.getuid() + 1} {layout.workspaces_root}" in sentence


def test_chats_of_another_uid_are_refused(layout: Layout) -> None:
    started_once(layout)
    (layout.chats / ("a" * 32)).mkdir()
    layout.chats.chmod(0o733)
    other = Layout(layout.base, layout.workspaces_root, os.getuid() + 1, owned_by_root=os.getuid())
    layout.chats.chmod(0o755)
    (sentence,) = checks.foreign_chats(other)
    assert f"SWITCHBOX_UID={os.getuid()}" in sentence


def test_something_else_in_the_place_of_the_chats_is_refused(layout: Layout) -> None:
    layout.chats.symlink_to("/")
    assert len(checks.refusals(layout, named_volume(layout), NO_MOUNTS)) == 1


def mountinfo(*rows: tuple[str, str, str]) -> str:
    """The text of /proc/self/mountinfo for rows of device, root and mount point."""
    return "".join(f"100 99 {device} {root} {point} rw,relatime - ext4 /dev/vda rw\n" for device, root, point in rows)


CHECKOUT = PurePosixPath("/checkout/compose.yaml")
WORK = PurePosixPath("/home/me")


@pytest.mark.parametrize(
    ("rows", "contained"),
    [
        # The folder is the checkout, or one of its parents, under whatever name it was given.
        ([("8:1", "/home/me", "/home/me"), ("8:1", "/home/me/switchbox/compose.yaml", "/checkout/compose.yaml")], True),
        ([("8:1", "/home/me/switchbox", "/home/me"), ("8:1", "/home/me/switchbox/compose.yaml", "/checkout/compose.yaml")], True),
        ([("8:1", "/real", "/home/me"), ("8:1", "/real/a/b/compose.yaml", "/checkout/compose.yaml")], True),
        ([("8:1", "/a\\040b", "/home/me"), ("8:1", "/a\\040b/c/compose.yaml", "/checkout/compose.yaml")], True),
        # A second file system lies inside the folder, and the checkout on that.
        (
            [
                ("8:1", "/home/me", "/home/me"),
                ("8:2", "/", "/home/me/disk"),
                ("8:2", "/x/compose.yaml", "/checkout/compose.yaml"),
            ],
            True,
        ),
        # Beside it, below it, of a similar name, on another file system: not contained.
        ([("8:1", "/home/me/work", "/home/me"), ("8:1", "/home/me/switchbox/compose.yaml", "/checkout/compose.yaml")], False),
        (
            [
                ("8:1", "/home/me/switchbox/work", "/home/me"),
                ("8:1", "/home/me/switchbox/compose.yaml", "/checkout/compose.yaml"),
            ],
            False,
        ),
        ([("8:1", "/home/me/switch", "/home/me"), ("8:1", "/home/me/switchbox/compose.yaml", "/checkout/compose.yaml")], False),
        ([("8:1", "/home/me", "/home/me"), ("8:2", "/home/me/switchbox/compose.yaml", "/checkout/compose.yaml")], False),
    ],
)
def test_a_folder_that_contains_the_checkout_is_told_by_its_mount(rows: list[tuple[str, str, str]], contained: bool) -> None:
    assert mounts.contains(mounts.parse(mountinfo(*rows)), WORK, CHECKOUT) is contained


def test_a_folder_that_contains_the_checkout_is_refused(layout: Layout) -> None:
    text = mountinfo(("8:1", "/me", str(layout.workspaces_root)), ("8:1", "/me/switchbox/compose.yaml", str(CHECKOUT)))
    (sentence,) = checks.refusals(layout, host_folder(layout), text)
    assert "contains Switchbox itself" in sentence


@pytest.mark.parametrize("uid", ["0", "10001", "10002", "10007", "65534", "4294967295", "-1", "", "me", "1.5", "²"])
def test_an_unfit_uid_is_refused_by_name(uid: str) -> None:
    with pytest.raises(BadSetting, match="SWITCHBOX_UID"):
        from_environment({"KEYS_WORKSPACES_ROOT": "/workspaces", "KEYS_WORKSPACES_UID": uid})


def test_a_relative_folder_is_refused_by_name() -> None:
    with pytest.raises(BadSetting, match="SWITCHBOX_WORKSPACES"):
        from_environment({"KEYS_WORKSPACES_ROOT": "work", "KEYS_WORKSPACES_FOLDER": "work", "KEYS_WORKSPACES_UID": "1000"})


def test_good_settings_are_read() -> None:
    environment = {"KEYS_WORKSPACES_ROOT": "/home/me/w", "KEYS_WORKSPACES_FOLDER": "/home/me/w", "KEYS_WORKSPACES_UID": "1000"}
    assert from_environment(environment) == Settings(Path("/home/me/w"), Path("/home/me/w"), 1000)
