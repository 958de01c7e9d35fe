"""Every folder and key of the stack: where it is, whose it is, and who may read it."""

from dataclasses import dataclass
from pathlib import Path

from keys import settings

ROOT_UID = 0


@dataclass(frozen=True)
class Folder:
    """A folder that the stack mounts, with the owner and mode it must have."""

    path: Path
    uid: int
    mode: int


@dataclass(frozen=True)
class Layout:
    """The paths of one stack. `base` is `/` in the container and a temporary folder in tests.

    Every key is alone in a volume that only its owner mounts, with the one exception of the public key.
    """

    base: Path
    workspaces_root: Path
    workspaces_uid: int
    owned_by_root: int = ROOT_UID

    @property
    def session_key(self) -> Path:
        """32 random bytes; the gateway signs sessions and, later, its witness with it."""
        return self.base / "keys/gateway/session.key"

    @property
    def ticket_key(self) -> Path:
        """Ed25519 private key, PEM (PKCS#8): the orchestrator signs tickets with it."""
        return self.base / "keys/orchestrator/ticket.key"

    @property
    def ticket_public_key(self) -> Path:
        """Its public half, for every executor."""
        return self.base / "keys/public/ticket.pub"

    @property
    def orchestrator_password(self) -> Path:
        """The orchestrator's Redis password."""
        return self.base / "keys/orchestrator/redis.password"

    @property
    def tool_runner_password(self) -> Path:
        """The tool-runners' Redis password."""
        return self.base / "keys/tool-runner/redis.password"

    @property
    def redis_users(self) -> Path:
        """Redis' users with their rights; it holds hashes of the passwords, not the passwords."""
        return self.base / "keys/redis/users.acl"

    @property
    def data(self) -> Path:
        """What the orchestrator keeps."""
        return self.base / "data"

    @property
    def witness(self) -> Path:
        """What the gateway keeps."""
        return self.base / "witness"

    @property
    def chats(self) -> Path:
        """Parent of the chats' folders: passable by all, listable by none but root, so that names stay secrets."""
        return self.workspaces_root / "chats"

    def folders(self) -> tuple[Folder, ...]:
        """All folders but the workspaces' root, which may be the person's own."""
        run = self.base / "run/switchbox"
        return (
            Folder(self.session_key.parent, settings.GATEWAY_UID, 0o500),
            Folder(self.ticket_key.parent, settings.ORCHESTRATOR_UID, 0o500),
            Folder(self.redis_users.parent, settings.REDIS_UID, 0o500),
            Folder(self.tool_runner_password.parent, self.workspaces_uid, 0o500),
            Folder(self.ticket_public_key.parent, self.owned_by_root, 0o555),
            Folder(run / "core", settings.ORCHESTRATOR_UID, 0o755),
            Folder(run / "decisions", settings.ORCHESTRATOR_UID, 0o755),
            Folder(run / "js", settings.JS_SANDBOX_UID, 0o755),
            Folder(run / "command", self.workspaces_uid, 0o755),
            Folder(self.data, settings.ORCHESTRATOR_UID, 0o700),
            Folder(self.witness, settings.GATEWAY_UID, 0o700),
            Folder(self.chats, self.owned_by_root, 0o733),
        )
