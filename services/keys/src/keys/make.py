"""Make what is missing, and derive what follows from it: public key and Redis users."""

import hashlib
import secrets
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from keys.checks import SESSION_KEY_BYTES
from keys.files import give_folder, set_owner, write_file
from keys.layout import Layout

PRIVATE_MODE = 0o400
PUBLIC_MODE = 0o444


def make_all(layout: Layout, users_template: str, uids: Callable[[int], int] = int) -> list[str]:
    """Bring the layout to its full state and return the paths that were made or changed, in order.

    Call it only when `checks.refusals` found nothing. `uids` maps each owner to the uid that is set (tests that are not
    root can give files to themselves only).
    """
    owners = {folder.path: uids(folder.uid) for folder in layout.folders()}
    changed: list[str] = []
    for folder in layout.folders():
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def keep(path: Path, make: Callable[[], bytes]) -> bytes:
        return _keep(path, make, owners[path.parent], changed)

    def derive(path: Path, content: bytes, mode: int) -> None:
        if not path.exists() or path.read_bytes() != content:
            write_file(path, content, owners[path.parent], mode)
            changed.append(str(path))

    keep(layout.session_key, lambda: secrets.token_bytes(SESSION_KEY_BYTES))
    ticket_key = keep(layout.ticket_key, _new_ticket_key)
    orchestrator_password = keep(layout.orchestrator_password, _new_password)
    tool_runner_password = keep(layout.tool_runner_password, _new_password)
    derive(layout.ticket_public_key, _public_half(ticket_key), PUBLIC_MODE)
    derive(layout.redis_users, redis_users(users_template, orchestrator_password, tool_runner_password), PRIVATE_MODE)
    # Given away last: nothing is half done in a folder that somebody else has.
    changed += [str(folder.path) for folder in layout.folders() if give_folder(folder.path, uids(folder.uid), folder.mode)]
    return changed


def redis_users(template: str, orchestrator_password: bytes, tool_runner_password: bytes) -> bytes:
    """Redis' ACL file from its template: comments left out (Redis knows none there), passwords as SHA-256.

    Raises:
        ValueError: a placeholder is missing from the template or is left over.
    """
    hashes = {
        "{ORCHESTRATOR_SHA256}": hashlib.sha256(orchestrator_password).hexdigest(),
        "{TOOL_RUNNER_SHA256}": hashlib.sha256(tool_runner_password).hexdigest(),
    }
    lines = [line.strip() for line in template.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    text = "\n".join(lines) + "\n"
    for placeholder, value in hashes.items():
        if placeholder not in text:
            raise ValueError(f"the template of Redis' users lacks {placeholder}")
        text = text.replace(placeholder, value)
    if "_SHA256}" in text:
        raise ValueError("the template of Redis' users has a placeholder that nobody fills")
    return text.encode()


def _keep(path: Path, make: Callable[[], bytes], uid: int, changed: list[str]) -> bytes:
    if not path.exists():
        write_file(path, make(), uid, PRIVATE_MODE)
        changed.append(str(path))
        return path.read_bytes()
    with path.open("rb") as file:
        if set_owner(file.fileno(), uid, PRIVATE_MODE):
            changed.append(str(path))
        return file.read()


def _new_password() -> bytes:
    # No newline: the file's content is the password.
    return secrets.token_hex(32).encode()


def _new_ticket_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _public_half(private_pem: bytes) -> bytes:
    key = load_pem_private_key(private_pem, password=None)
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
