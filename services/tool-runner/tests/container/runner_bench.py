"""A real Redis with the real users, a real command-box and the real tool-runner, hardened as in compose.yaml.

The test process plays the orchestrator: it signs tickets with a throw-away key and enqueues
with RQ as the Redis user `orchestrator`.
"""

import contextlib
import hashlib
import json
import secrets
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from contracts import redis_keys
from contracts.tickets import ApprovalClaim, NetworkGrant, Ticket, WorkspaceRef
from contracts.tool_jobs import JOB_ENTRY, Done, Job, StreamEntry, ToolResult, stream_entry
from contracts.tools import TOOLS
from policy.decide import ToolCall, hash_call
from policy.tickets import sign

REPOSITORY = Path(__file__).parents[4]
UID = 10_010
WAIT_SECONDS = 15.0
RUNNER_HEALTH = "tool_runner.health"
IMAGE = "hx-runner-test"
BOX_IMAGE = "hx-runner-box-test"
PASSWORDS = {user: f"{user}-password-{secrets.token_hex(16)}" for user in ("orchestrator", "tool-runner")}
HARDENED = (
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init", "--tmpfs", "/tmp"),
    *("--pids-limit", "128", "--memory", "1g", "--sysctl", "net.ipv6.conf.all.disable_ipv6=1"),
)


def docker(*arguments: str, check: bool = True) -> str:
    """Run one docker command, bounded."""
    done = subprocess.run(["docker", *arguments], check=False, capture_output=True, text=True, timeout=300)
    if check and done.returncode:
        pytest.fail(f"docker {' '.join(arguments[:3])}: {done.stderr[-2000:]}")
    return done.stdout.strip()


@dataclass
class Bench:
    """The parts under test, and what an orchestrator knows of them."""

    base: Path
    name: str
    redis_address: str
    key: Ed25519PrivateKey
    epoch: int = field(default_factory=lambda: int(time.time() * 1000))

    @property
    def runner(self) -> str:
        """The tool-runner's container."""
        return f"{self.name}-runner"

    @property
    def redis_container(self) -> str:
        """Redis' container."""
        return f"{self.name}-redis"

    @property
    def workspaces(self) -> Path:
        """The workspaces' root on this side."""
        return self.base / "workspaces"

    def redis(self, user: str = "orchestrator") -> Redis:
        """Redis as one of its users."""
        return Redis(host=self.redis_address, username=user, password=PASSWORDS.get(user, ""), socket_timeout=5)

    def ticket(self, tool: str, arguments: dict[str, Any], **changes: Any) -> Ticket:
        """A ticket as the orchestrator makes it, but for `changes`."""
        now = int(time.time() * 1000)
        fields: dict[str, Any] = {
            "audience": "tool-runner",
            "call_id": secrets.token_hex(16),
            "chat_id": secrets.token_hex(16),
            "tool": tool,
            "arguments": arguments,
            "workspace": WorkspaceRef(name=secrets.token_hex(16)),
            "policy": "auto",
            "policy_hash": "0" * 64,
            "network": NetworkGrant(),
            "stream": secrets.token_hex(16),
            "nonce": secrets.token_hex(16),
            "epoch": self.epoch,
            "issued_at": now,
            "deadline": now + 30_000,
            "timeout_seconds": TOOLS[tool].timeout_seconds if tool in TOOLS else 5.0,
        }
        return Ticket(**(fields | changes))

    def signed(self, ticket: Ticket) -> Job:
        """The job of a ticket."""
        return Job(ticket=sign(ticket, self.key))

    def enqueue(self, text: str, queue: str = "files", function: str = JOB_ENTRY) -> None:
        """As the orchestrator does it."""
        with self.redis() as redis:
            Queue(queue, connection=redis, serializer=JSONSerializer).enqueue_call(
                function, args=(text,), timeout=60, description="test", result_ttl=0, failure_ttl=60, ttl=60
            )

    def entries(self, stream: str, seconds: float = WAIT_SECONDS) -> Iterator[StreamEntry]:
        """What comes on a call's stream, up to the result or for so many seconds."""
        seen: bytes | str = "0"
        until = time.monotonic() + seconds
        with self.redis() as redis:
            while time.monotonic() < until:
                answer: Any = redis.xread({redis_keys.result_stream(stream): seen}, count=100, block=200)
                for entry_id, fields in _flat(answer):
                    seen = entry_id
                    entry = stream_entry.validate_json(fields[b"entry"])
                    yield entry
                    if isinstance(entry, Done):
                        return

    def result(self, stream: str, seconds: float = WAIT_SECONDS) -> ToolResult | None:
        """The result of a call; None when none came in time."""
        for entry in self.entries(stream, seconds):
            if isinstance(entry, Done):
                return entry.result
        return None

    def call(self, tool: str, arguments: dict[str, Any], workspace: str | None = None) -> ToolResult:
        """One call, from ticket to result."""
        ref = WorkspaceRef(name=workspace or secrets.token_hex(16))
        ticket = self.ticket(tool, arguments, workspace=ref)
        self.enqueue(self.signed(ticket).model_dump_json(), TOOLS[tool].queue or "files")
        result = self.result(ticket.stream)
        assert result is not None, docker("logs", "--tail", "20", self.runner)
        return result

    def command(self, line: str, workspace: str | None = None, **changes: Any) -> tuple[Ticket, Job]:
        """The tickets of an approved command, for the runner and for command-box."""
        ref = WorkspaceRef(name=workspace or secrets.token_hex(16))
        arguments = {"command": line}
        call_hash = hash_call(ToolCall("run_command", arguments, ref, network=False))
        approval = ApprovalClaim(approval_id=secrets.token_hex(16), call_hash=call_hash, expires_at=2**52)
        ticket = self.ticket("run_command", arguments, workspace=ref, policy="ask", approval=approval, **changes)
        other = ticket.model_copy(update={"audience": "command-box", "nonce": secrets.token_hex(16)})
        return ticket, Job(ticket=sign(ticket, self.key), command_ticket=sign(other, self.key))

    def cancel(self, ticket: Ticket) -> None:
        """Ask for a call's stop, as the orchestrator does."""
        with self.redis() as redis:
            redis.xadd(redis_keys.cancel_stream(ticket.call_id), {"stop": "1"})
            redis.expire(redis_keys.cancel_stream(ticket.call_id), redis_keys.CANCEL_TTL_SECONDS)

    def logs(self) -> list[dict[str, Any]]:
        """What the tool-runner logged; every line is JSON."""
        text = docker("logs", self.runner)
        return [json.loads(line) for line in text.splitlines()]


def _flat(answer: Any) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """The entries of a read, in the form of either protocol version."""
    for batch in answer.values() if isinstance(answer, dict) else [batch for _, batch in answer or []]:
        for item in batch:
            yield from [item] if isinstance(item, tuple) else item


def build() -> None:
    """Build the images."""
    for image, service in ((IMAGE, "tool-runner"), (BOX_IMAGE, "command-box")):
        docker("build", "-q", "-t", image, "-f", str(REPOSITORY / f"services/{service}/Dockerfile"), str(REPOSITORY))


@contextlib.contextmanager
def running(base: Path) -> Iterator[Bench]:
    """Redis, a command-box and one tool-runner, up and well; removed afterwards."""
    name = f"hx-runner-{secrets.token_hex(4)}"
    key = Ed25519PrivateKey.generate()
    _lay_out(base, key)
    docker("network", "create", name)
    try:
        _start_redis(base, name)
        address = docker("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", f"{name}-redis")
        made = Bench(base, name, address, key)
        begin_epoch(made)
        _start_box(base, name)
        _start_runner(base, name)
        wait_until_well(f"{name}-box", "command_box.health")
        wait_until_well(made.runner)
        yield made
    finally:
        docker("rm", "-f", f"{name}-runner", f"{name}-box", f"{name}-redis", check=False)
        docker("network", "rm", name, check=False)


def begin_epoch(bench: Bench) -> None:
    """What the orchestrator does when it finds Redis empty."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            with bench.redis() as redis:
                redis.set(redis_keys.EPOCH, bench.epoch)
        except RedisError:
            assert time.monotonic() < until, docker("logs", bench.redis_container)
            time.sleep(0.1)
        else:
            return


def wait_until_well(container: str, check: str = RUNNER_HEALTH) -> None:
    """Wait for the health check, as compose runs it."""
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(subprocess.TimeoutExpired):
            if is_well(container, check):
                return
        time.sleep(0.1)
    pytest.fail(f"not well: {docker('logs', container, check=False)}")


def is_well(container: str, check: str = RUNNER_HEALTH) -> bool:
    """The health check's own answer."""
    command = ["docker", "exec", container, "/opt/venv/bin/python", "-m", check]
    return subprocess.run(command, check=False, capture_output=True, timeout=30).returncode == 0


def _lay_out(base: Path, key: Ed25519PrivateKey) -> None:
    """The key files and folders that the keys service would make."""
    template = (REPOSITORY / "services/redis/users.acl.template").read_text(encoding="utf-8")
    for user, placeholder in (("orchestrator", "{ORCHESTRATOR_SHA256}"), ("tool-runner", "{TOOL_RUNNER_SHA256}")):
        template = template.replace(placeholder, hashlib.sha256(PASSWORDS[user].encode()).hexdigest())
    lines = [line for line in template.splitlines() if line.startswith("user ")]
    for folder in ("redis", "keys", "workspaces/chats", "command", "public"):
        (base / folder).mkdir(parents=True)
    (base / "redis/users.acl").write_text("\n".join(lines) + "\n")
    # A copy, since a checkout may be readable for its owner only.
    conf = (REPOSITORY / "services/redis/redis.conf").read_text(encoding="utf-8")
    (base / "redis/redis.conf").write_text(conf)
    (base / "keys/redis.password").write_text(PASSWORDS["tool-runner"])
    (base / "public/ticket.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    (base / "workspaces/chats").chmod(0o733)
    (base / "command").chmod(0o777)


def _start_redis(base: Path, name: str) -> None:
    docker(
        *(
            "run",
            "-d",
            "--name",
            f"{name}-redis",
            "--network",
            name,
            "--network-alias",
            "redis",
            *HARDENED,
            "--user",
            "10003:10003",
        ),
        *("-v", f"{base}/redis:/keys/redis:ro", "-w", "/tmp"),
        *("--entrypoint", "redis-server", "redis:8", "/keys/redis/redis.conf"),
    )


def _start_box(base: Path, name: str) -> None:
    docker(
        *("run", "-d", "--name", f"{name}-box", "--network", "none", *HARDENED, "--user", f"{UID}:{UID}"),
        *("-e", "SWITCHBOX_WORKSPACES_ROOT=/workspaces", "-v", f"{base}/workspaces:/workspaces"),
        *("-v", f"{base}/public:/keys/public:ro", "-v", f"{base}/command:/run/switchbox/command", BOX_IMAGE),
    )


def _start_runner(base: Path, name: str) -> None:
    docker(
        *("run", "-d", "--name", f"{name}-runner", "--network", name, *HARDENED, "--user", f"{UID}:{UID}"),
        *("-e", "SWITCHBOX_WORKSPACES_ROOT=/workspaces"),
        *(
            "-v",
            f"{base}/workspaces:/workspaces",
            "-v",
            f"{base}/keys:/keys/tool-runner:ro",
            "-v",
            f"{base}/public:/keys/public:ro",
        ),
        *("-v", f"{base}/command:/run/switchbox/command:ro", IMAGE),
    )
