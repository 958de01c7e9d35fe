"""The real service as a process of its own on a socket below the test's folder, and tickets for it."""

import contextlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from contracts.javascript import JsRequest, JsResult
from contracts.tickets import Ticket, WorkspaceRef
from policy.tickets import sign

START_SECONDS = 60.0


@dataclass
class Service:
    """A running service and the key that its tickets are signed with."""

    path: Path
    process: subprocess.Popen[bytes]
    log: Path
    key: Ed25519PrivateKey = field(repr=False)

    def client(self) -> httpx2.Client:
        """A client of its socket."""
        return httpx2.Client(
            transport=httpx2.HTTPTransport(uds=str(self.path)), base_url="http://socket", timeout=20, trust_env=False
        )

    def ticket(self, code: object = "1+1", **changes: Any) -> str:
        """A signed ticket that is in order, but for the changes."""
        now = time.time_ns() // 1_000_000
        fields: dict[str, Any] = {
            "audience": "js-sandbox",
            "call_id": secrets.token_hex(16),
            "chat_id": secrets.token_hex(16),
            "tool": "run_js",
            "arguments": {"code": code},
            "workspace": WorkspaceRef(name=secrets.token_hex(16)),
            "policy": "auto",
            "policy_hash": "0" * 64,
            "stream": secrets.token_hex(16),
            "nonce": secrets.token_hex(16),
            "epoch": 1,
            "issued_at": now,
            "deadline": now + 30_000,
            "timeout_seconds": 5.0,
        }
        return sign(Ticket(**(fields | changes)), self.key)

    def run(self, ticket: str) -> JsResult:
        """Present a ticket."""
        with self.client() as http:
            answer = http.post("/run", content=JsRequest(ticket=ticket).model_dump_json())
        assert answer.status_code == 200, answer.text
        return JsResult.model_validate_json(answer.content)

    def refusal(self, ticket: str) -> str:
        """Present a ticket that is not in order, and give the code of the refusal."""
        result = self.run(ticket)
        assert result.outcome == "refused"
        assert (result.value, result.console) == (None, "")
        assert result.refusal is not None
        return result.refusal.code


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Service]:
    """Start a service; end it, and wait for it, afterwards."""
    key = Ed25519PrivateKey.generate()
    public = folder / "ticket.pub"
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    path, log = folder / "js.sock", folder / "log"
    environment = os.environ | {
        "JS_SANDBOX_ORCHESTRATOR_UID": str(os.getuid()),
        "JS_SANDBOX_TICKET_KEY_FILE": str(public),
        "JS_SANDBOX_SOCKET_PATH": str(path),
        "JS_SANDBOX_POOL": "2",
        "JS_SANDBOX_MAX_RUNNING": "2",
    }
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "js_sandbox.app.main"], env=environment, stdout=out, stderr=out)
    service = Service(path, process, log, key)
    try:
        _wait(service)
        yield service
    finally:
        process.terminate()
        try:
            process.wait(10)
        finally:
            process.kill()


def _wait(service: Service) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and service.process.poll() is None:
        with contextlib.suppress(httpx2.TransportError), service.client() as http:
            if http.get("/health").status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError(f"the service did not start: {service.log.read_text()}")
