"""What the one-shot is told by its environment.

It depends on `cryptography` alone, since it runs as uid 0 with two capabilities: the fewer lines run there the better.
So its settings are a plain dataclass, not the pydantic ones of the other services.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# The uids of the services that hold keys, sockets or data (compose.yaml, `user:`).
GATEWAY_UID = 10001
ORCHESTRATOR_UID = 10002
REDIS_UID = 10003
JS_SANDBOX_UID = 10005
EGRESS_UID = 10006
LOCAL_MODEL_UID = 10007

RESERVED_UIDS = frozenset({0, GATEWAY_UID, ORCHESTRATOR_UID, REDIS_UID, JS_SANDBOX_UID, EGRESS_UID, LOCAL_MODEL_UID})

# The kernel's overflow uid, and the largest uid that is not the error value -1.
OVERFLOW_UID = 65_534
LARGEST_UID = 2**32 - 2


class BadSetting(ValueError):
    """A variable is missing or holds something unusable; the text says which and what to write instead."""


@dataclass(frozen=True)
class Settings:
    """Where the workspaces are, and whose they are.

    `workspaces_folder` is the host folder the person named, or None while the workspaces are in a named volume.
    """

    workspaces_root: Path
    workspaces_folder: Path | None
    workspaces_uid: int


def from_environment(environment: Mapping[str, str]) -> Settings:
    """Read the settings; raises `BadSetting`."""
    root = environment.get("KEYS_WORKSPACES_ROOT", "")
    folder = environment.get("KEYS_WORKSPACES_FOLDER", "")
    if not root.startswith("/") or (folder and not folder.startswith("/")):
        raise BadSetting("SWITCHBOX_WORKSPACES must be an absolute path, such as /home/you/workspaces.")
    return Settings(Path(root), Path(folder) if folder else None, _uid(environment.get("KEYS_WORKSPACES_UID", "")))


def _uid(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise BadSetting(f"SWITCHBOX_UID must be a number (your own is printed by `id -u`), but it is {text!r}.")
    uid = int(text)
    if uid in RESERVED_UIDS or uid == OVERFLOW_UID or uid > LARGEST_UID:
        raise BadSetting(f"SWITCHBOX_UID must not be {uid}: choose a user other than root and Switchbox's services.")
    return uid
