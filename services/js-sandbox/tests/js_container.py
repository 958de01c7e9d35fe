"""A real js-sandbox in a container hardened as in compose.yaml, driven through its socket with tickets of a throw-away key."""

import contextlib
import json
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from contracts.javascript import JsResult
from contracts.tickets import Ticket, WorkspaceRef
from policy.tickets import sign

REPOSITORY = Path(__file__).parents[3]
IMAGE = "switchbox-test-js-sandbox"
CLIENT = Path(__file__).parent / "container" / "client.py"
ORCHESTRATOR_UID = "10002"
PYTHON = "/opt/venv/bin/python"
HARDENED = (
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init", "--network", "none"),
    *("--tmpfs", "/tmp:size=64m,mode=1777,nosuid,nodev,noexec", "--ulimit", "core=0"),
    *("--pids-limit", "512", "--memory", "2560m", "--memory-swap", "2560m", "--user", "10005:10005"),
)
# What the one-shot keys service does in the stack: the key into its volume, the socket's folder to its owner.
PREPARE = (
    "import os,sys; open('/keys/public/ticket.pub','w').write(sys.stdin.read()); os.chown('/run/switchbox/js', 10005, 10005)"
)


def docker(*arguments: str, given: str | None = None, code: int = 0) -> str:
    """Run one docker command, bounded."""
    done = subprocess.run(["docker", *arguments], input=given, check=False, capture_output=True, text=True, timeout=400)
    assert done.returncode == code, f"docker {arguments[:2]}: {done.stdout[-1000:]} {done.stderr[-2000:]}"
    return done.stdout


def build() -> None:
    """Build the image; layers that have not changed are kept."""
    docker("build", "-q", "-t", IMAGE, "-f", str(REPOSITORY / "services/js-sandbox/Dockerfile"), str(REPOSITORY))


@dataclass(frozen=True)
class Answer:
    """The answer to one call, and how long the client waited for it."""

    result: JsResult
    seconds: float


@dataclass
class Sandbox:
    """A running container and the key that it trusts."""

    name: str
    key: Ed25519PrivateKey

    def ticket(self, code: str) -> str:
        """A signed ticket for one program."""
        now = time.time_ns() // 1_000_000
        ticket = Ticket(
            audience="js-sandbox",
            call_id=secrets.token_hex(16),
            chat_id=secrets.token_hex(16),
            tool="run_js",
            arguments={"code": code},
            workspace=WorkspaceRef(name=secrets.token_hex(16)),
            policy="auto",
            policy_hash="0" * 64,
            stream=secrets.token_hex(16),
            nonce=secrets.token_hex(16),
            epoch=1,
            issued_at=now,
            deadline=now + 300_000,
            timeout_seconds=5,
        )
        return sign(ticket, self.key)

    def run(self, *programs: str, at_once: int = 1, pause_seconds: float = 0) -> list[Answer]:
        """Run programs, so many at once, in order."""
        given = json.dumps(
            {"tickets": [self.ticket(code) for code in programs], "at_once": at_once, "pause_seconds": pause_seconds}
        )
        said = self.inside(CLIENT.read_text(encoding="utf-8"), given=given, uid=ORCHESTRATOR_UID)
        return [Answer(JsResult.model_validate(entry["result"]), entry["seconds"]) for entry in json.loads(said)]

    def inside(self, script: str, *arguments: str, given: str = "", uid: str = "10005", code: int = 0) -> str:
        """Run Python in the container, as any user."""
        return docker("exec", "-i", "-u", uid, self.name, PYTHON, "-c", script, *arguments, given=given, code=code)

    def processes(self) -> Sequence[str]:
        """The state and command of each process in the container, this one's own look left out."""
        script = (
            "import glob,os\n"
            "for p in glob.glob('/proc/[0-9]*'):\n"
            "  if p != f'/proc/{os.getpid()}':\n"
            "    try: print(open(p+'/stat').read().rpartition(')')[2].split()[0], open(p+'/cmdline').read().replace('\\0',' '))\n"
            "    except OSError: pass\n"
        )
        return self.inside(script).splitlines()


@contextlib.contextmanager
def running() -> Iterator[Sandbox]:
    """Start a container and remove all of it afterwards."""
    name = f"switchbox-test-js-{secrets.token_hex(4)}"
    mounts = ("-v", f"{name}-socket:/run/switchbox/js", "-v", f"{name}-keys:/keys/public")
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    try:
        docker("run", "--rm", "-i", "--network", "none", "--user", "0", *mounts, IMAGE, PYTHON, "-c", PREPARE, given=public)
        docker("run", "-d", "--name", name, *HARDENED, *mounts[:3], f"{name}-keys:/keys/public:ro", IMAGE)
        sandbox = Sandbox(name, key)
        wait(sandbox)
        yield sandbox
    finally:
        subprocess.run(["docker", "rm", "-f", name], check=False, capture_output=True, timeout=60)
        subprocess.run(
            ["docker", "volume", "rm", "-f", f"{name}-socket", f"{name}-keys"], check=False, capture_output=True, timeout=60
        )


def wait(sandbox: Sandbox) -> None:
    """Wait until the service is healthy."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        health = subprocess.run(
            ["docker", "exec", sandbox.name, PYTHON, "-m", "js_sandbox.health"], check=False, capture_output=True, timeout=30
        )
        if health.returncode == 0:
            return
        time.sleep(0.2)
    raise AssertionError(f"not healthy: {docker('logs', sandbox.name)}")
