"""A real command-box in a container hardened as in compose.yaml, driven through its socket with tickets of a throw-away key."""

import contextlib
import json
import secrets
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from contracts.commands import Exited, Refused, RunRequest, command_entry
from contracts.tickets import ApprovalClaim, NetworkGrant, Ticket, WorkspaceRef
from contracts.tool_jobs import Alive, Output
from policy.decide import ToolCall, hash_call
from policy.tickets import sign

REPOSITORY = Path(__file__).parents[4]
UID = "10010"
IMAGE = "hx-command-box-test"
CLIENT = Path(__file__).with_name("client.py")
HARDENED = (
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init", "--network", "none"),
    *("--tmpfs", "/tmp:size=64m,mode=1777,nosuid,nodev,noexec", "--pids-limit", "512", "--memory", "2g", "--user", UID),
)
Entries = list[Output | Alive | Exited | Refused]


def docker(*arguments: str, given: str | None = None) -> str:
    """Run one docker command, bounded."""
    done = subprocess.run(["docker", *arguments], input=given, check=False, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, f"docker {arguments[:2]}: {done.stderr[-2000:]}"
    return done.stdout


def build() -> None:
    """Build the image once."""
    docker("build", "-q", "-t", IMAGE, "-f", str(REPOSITORY / "services/command-box/Dockerfile"), str(REPOSITORY))


@dataclass
class Box:
    """A running container and the key that it trusts."""

    name: str
    key: Ed25519PrivateKey
    workspaces: Path

    def ticket(self, command: str, workspace: str, **changes: Any) -> Ticket:
        """An approved ticket for the command."""
        now = time.time_ns() // 1_000_000
        reference = WorkspaceRef(name=workspace)
        network = NetworkGrant()
        call_hash = hash_call(ToolCall("run_command", {"command": command}, reference, network=False))
        ticket = Ticket(
            audience="command-box",
            call_id=secrets.token_hex(16),
            chat_id=secrets.token_hex(16),
            tool="run_command",
            arguments={"command": command},
            workspace=reference,
            policy="ask",
            policy_hash="0" * 64,
            approval=ApprovalClaim(approval_id=secrets.token_hex(16), call_hash=call_hash, expires_at=now + 600_000),
            network=network,
            stream=secrets.token_hex(16),
            nonce=secrets.token_hex(16),
            epoch=1,
            issued_at=now,
            deadline=now + 120_000,
            timeout_seconds=20,
        )
        return ticket.model_copy(update=changes)

    def send(self, ticket: Ticket, *, hang_up_after: float = -1) -> Entries:
        """What the box answers to the ticket."""
        request = RunRequest(ticket=sign(ticket, self.key)).model_dump_json()
        given = f"{request}\n{hang_up_after}"
        said = docker("exec", "-i", self.name, "/opt/venv/bin/python", "-c", CLIENT.read_text(encoding="utf-8"), given=given)
        return [command_entry.validate_json(line) for line in said.splitlines() if line]

    def run(self, command: str, workspace: str | None = None, **changes: Any) -> Exited:
        """Run a command to its end."""
        last = self.send(self.ticket(command, workspace or secrets.token_hex(16), **changes))[-1]
        assert isinstance(last, Exited), last
        return last

    def processes(self) -> list[str]:
        """The command lines of all processes in the container but its own, zombies as 'zombie'."""
        look = (
            "import os\n"
            "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
            "    try:\n"
            "        stat = open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()\n"
            "        line = open(f'/proc/{pid}/cmdline').read().replace('\\0', ' ')\n"
            "    except OSError: continue\n"
            "    if int(pid) != os.getpid() and 'command_box.main' not in line: print('zombie' if stat[0] == 'Z' else line)\n"
        )
        lines = docker("exec", self.name, "/opt/venv/bin/python", "-S", "-c", look).splitlines()
        return [line for line in lines if line and "docker-init" not in line and "tini" not in line]


@contextlib.contextmanager
def running(**environment: str) -> Iterator[Box]:
    """A box, ready; removed afterwards."""
    name = f"hx-command-box-{secrets.token_hex(4)}"
    key = Ed25519PrivateKey.generate()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder)
        root.chmod(0o755)
        for place, mode in (("workspaces/chats", 0o733), ("socket", 0o777), ("keys", 0o755)):
            (root / place).mkdir(parents=True)
            (root / place).chmod(mode)
        (root / "keys/ticket.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        mounts = [
            *("-v", f"{root}/workspaces:/workspaces", "-v", f"{root}/socket:/run/switchbox/command"),
            *("-v", f"{root}/keys:/keys/public:ro"),
        ]
        variables = [part for key_, value in environment.items() for part in ("-e", f"{key_}={value}")]
        docker("run", "-d", "--name", name, *HARDENED, *mounts, *variables, IMAGE)
        try:
            _wait_until_healthy(name)
            yield Box(name, key, root / "workspaces")
        finally:
            docker("rm", "-f", name)


def _wait_until_healthy(name: str) -> None:
    end = time.monotonic() + 20
    command = ["docker", "exec", name, "/opt/venv/bin/python", "-m", "command_box.health"]
    while subprocess.run(command, check=False, capture_output=True, timeout=30).returncode:
        assert time.monotonic() < end, docker("logs", name)
        time.sleep(0.1)


def cases() -> list[dict[str, Any]]:
    """All of tests/cases/command_runs.json."""
    found: list[dict[str, Any]] = json.loads((REPOSITORY / "tests/cases/command_runs.json").read_text(encoding="utf-8"))["cases"]
    return found
