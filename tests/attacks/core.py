"""What only the core can do, done by a test inside its container: sign tickets, queue jobs, read what came back.

Arguments: `sign` or `run`, and a JSON list of wishes. A wish is `{"ticket": fields of contracts.tickets.Ticket}`; fields
left out get fresh values, the epoch being the one in force. `sign` prints the encoded tickets.

`run` queues each wish as a job, in this order, then one good job for each worker that could still be busy, and prints
for each wish the entries of its result stream once those good jobs have ended. A wish may also have
`lifetime_ms`, `replace` ([old, new] in the payload, the signature staying as it was), `forged` (sent in the ticket's
place), `function` and `argument` (in place of the job's own), `pushes` (how often it is queued).
"""

import base64
import json
import secrets
import sys
import time
from pathlib import Path

import redis
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from rq import Queue
from rq.serializers import JSONSerializer

from contracts import redis_keys
from contracts.tickets import Ticket
from contracts.tool_jobs import JOB_ENTRY
from policy.canonical import canonical_hash
from policy.tickets import sign

KEYS = Path("/keys/orchestrator")
WORKERS = 4
PATIENCE_SECONDS = 15

key = load_pem_private_key((KEYS / "ticket.key").read_bytes(), None)
password = (KEYS / "redis.password").read_text().strip()
connection = redis.Redis("redis", username="orchestrator", password=password, socket_timeout=None)
connection.set(redis_keys.EPOCH, int(time.time() * 1000), nx=True)  # As the core does before its first call.
epoch = int(connection.get(redis_keys.EPOCH))
queue = Queue("files", connection=connection, serializer=JSONSerializer)


def signed(wish: dict) -> tuple[str, str]:
    """The encoded ticket, and the name of its result stream."""
    now = int(time.time() * 1000)
    fresh = {name: secrets.token_hex(16) for name in ("call_id", "chat_id", "stream", "nonce")}
    rest = {
        "workspace": {"kind": "chat", "name": secrets.token_hex(16)},
        "policy": "auto",
        "policy_hash": canonical_hash({}),
        "epoch": epoch,
        "issued_at": now,
        "deadline": now + wish.get("lifetime_ms", 30_000),
        "timeout_seconds": 20,
    }
    ticket = Ticket.model_validate_json(json.dumps({**fresh, **rest, **wish["ticket"]}))
    encoded = sign(ticket, key)
    if "replace" in wish:
        payload, signature = encoded.split(".")
        old, new = (text.encode() for text in wish["replace"])
        opened = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        assert old in opened
        encoded = f"{base64.urlsafe_b64encode(opened.replace(old, new)).rstrip(b'=').decode()}.{signature}"
    return wish.get("forged", encoded), ticket.stream


def push(wish: dict) -> str:
    """Queue a wish; the name of its result stream."""
    encoded, stream = signed(wish)
    job = {"kind": "job", "ticket": encoded, "command_ticket": None, "egress_ticket": None}
    argument = wish.get("argument", json.dumps(job))
    for _ in range(wish.get("pushes", 1)):
        queue.enqueue_call(wish.get("function", JOB_ENTRY), args=(argument,), timeout=60, result_ttl=0)
    return stream


def entries(stream: str, seconds: float) -> list[dict]:
    """What came on a stream until its `done`, or until the time was over."""
    found, last, deadline = [], "0", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        for _, batch in connection.xread({redis_keys.result_stream(stream): last}, block=max(1, int(left * 1000))) or ():
            for last, fields in batch:  # noqa: B007 (where the next read goes on)
                found.append(json.loads(fields[b"entry"]))
                if found[-1]["kind"] == "done":
                    return found
    return found


def run(wishes: list[dict]) -> list[list[dict]]:
    """Queue them and give what each got."""
    streams = [push(wish) for wish in wishes]
    listing = {"ticket": {"audience": "tool-runner", "tool": "list_files", "arguments": {"path": "."}}}
    for stream in [push(listing) for _ in range(WORKERS)]:
        assert entries(stream, PATIENCE_SECONDS), "a good job behind the others got no answer"
    return [entries(stream, 0.05) for stream in streams]


wishes = json.loads(sys.argv[2])
print(json.dumps([signed(wish)[0] for wish in wishes] if sys.argv[1] == "sign" else run(wishes)))
