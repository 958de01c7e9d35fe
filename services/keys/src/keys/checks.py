"""The reasons not to start. They are all found before anything is made or changed."""

import stat
from pathlib import Path, PurePosixPath

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from keys import mounts
from keys.layout import Layout
from keys.settings import Settings

SESSION_KEY_BYTES = 32
CHECKOUT_FILE = PurePosixPath("/checkout/compose.yaml")


def refusals(layout: Layout, settings: Settings, mountinfo: str) -> list[str]:
    """Every reason not to start, each a sentence that says what would mend it; empty when all is well."""
    found = [*lost_keys(layout), *spoilt_keys(layout), *foreign_chats(layout)]
    if settings.workspaces_folder is not None:
        found += unfit_folder(layout, settings.workspaces_folder, mountinfo)
    return found


def lost_keys(layout: Layout) -> list[str]:
    """A key is gone while what it protects is there: a new one would quietly make the old data worthless."""
    pairs = ((layout.ticket_key, layout.data), (layout.session_key, layout.witness))
    return [
        f"{data} holds data, but its key {key} is gone. No new key was made. Restore the key's volume from a backup; "
        "or, if all data may go, remove it with `docker compose down --volumes` and start again."
        for key, data in pairs
        if not key.exists() and _has_entries(data)
    ]


def spoilt_keys(layout: Layout) -> list[str]:
    """A key is there but is none."""
    found = []
    if layout.session_key.exists() and len(layout.session_key.read_bytes()) != SESSION_KEY_BYTES:
        found.append(layout.session_key)
    if layout.ticket_key.exists() and not _is_ticket_key(layout.ticket_key.read_bytes()):
        found.append(layout.ticket_key)
    return [f"{path} is not a key of the expected form. Restore it from a backup; it was not replaced." for path in found]


def foreign_chats(layout: Layout) -> list[str]:
    """Chats of another uid than the one that is to write them, or something else in the place of their folder."""
    if not layout.chats.is_symlink() and not layout.chats.exists():
        return []
    if layout.chats.is_symlink() or not layout.chats.is_dir():
        return [f"{layout.chats} must be a folder: move what is there away and start again."]
    uids = {entry.lstat().st_uid for entry in layout.chats.iterdir()} - {layout.workspaces_uid}
    return [
        f"The chats' folders below {layout.chats} belong to uid {uid}, but SWITCHBOX_UID is {layout.workspaces_uid}. "
        f"Start with SWITCHBOX_UID={uid}, or give them to the new user (as root: chown -R {layout.workspaces_uid} <folder>/*)."
        for uid in sorted(uids)
    ]


def unfit_folder(layout: Layout, folder: Path, mountinfo: str) -> list[str]:
    """What makes a host folder unfit to be written by tools and commands."""
    status = layout.workspaces_root.stat()
    found = []
    if status.st_mode & stat.S_IWOTH:
        found.append(
            f"SWITCHBOX_WORKSPACES is {folder}, which every user of this machine can write to. Mend it: chmod o-w {folder}"
        )
    if status.st_uid != layout.workspaces_uid:
        found.append(
            f"SWITCHBOX_WORKSPACES is {folder}, which belongs to uid {status.st_uid}, "
            f"but SWITCHBOX_UID is {layout.workspaces_uid}. " + _owner_hint(folder, status.st_uid, layout.workspaces_uid)
        )
    if mounts.contains(mounts.parse(mountinfo), PurePosixPath(layout.workspaces_root), CHECKOUT_FILE):
        found.append(
            f"SWITCHBOX_WORKSPACES is {folder}, which contains Switchbox itself, so that a command could change its walls. "
            "Choose a folder of its own, such as one beside it."
        )
    return found


def _owner_hint(folder: Path, owner: int, wanted: int) -> str:
    give = f"give the folder away with: sudo chown {wanted} {folder}"
    return f"{give[0].upper()}{give[1:]}" if owner == 0 else f"Start with SWITCHBOX_UID={owner}, or {give}"


def _has_entries(folder: Path) -> bool:
    return folder.is_dir() and any(entry.name != "lost+found" for entry in folder.iterdir())


def _is_ticket_key(pem: bytes) -> bool:
    try:
        return isinstance(load_pem_private_key(pem, password=None), Ed25519PrivateKey)
    except (ValueError, TypeError):
        return False
