"""Jobs that were not signed for this runner, this call, this moment: nothing runs, nothing is changed, the runner goes on."""

import json
import os
import pickle
import secrets
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from runner_bench import WAIT_SECONDS, Bench, docker

from contracts import errors, redis_keys
from contracts.tickets import ApprovalClaim, Ticket, WorkspaceRef
from contracts.tool_jobs import JOB_ENTRY, Job
from policy.tickets import sign


def write(bench: Bench, **changes: Any) -> Ticket:
    return bench.ticket("write_file", {"path": "made.txt", "content": "x"}, **changes)


def signed(bench: Bench, ticket: Ticket) -> str:
    return sign(ticket, bench.key)


def forged_argument(bench: Bench, ticket: Ticket) -> str:
    """The payload of one ticket with the signature of another."""
    other = ticket.model_copy(update={"arguments": {"path": "made.txt", "content": "changed"}})
    payload = sign(other, bench.key).partition(".")[0]
    return f"{payload}.{sign(ticket, bench.key).partition('.')[2]}"


NO_CHANGE: dict[str, Any] = {}
LONG_AGO = 1_000_000
OTHER_CALL = ApprovalClaim(approval_id="0" * 32, call_hash="0" * 64, expires_at=2**52)

FORGED: list[tuple[str, str, dict[str, Any], Callable[[Bench, Ticket], str]]] = [
    ("no ticket", errors.TICKET_MALFORMED, NO_CHANGE, lambda bench, ticket: ""),
    ("not a ticket", errors.TICKET_MALFORMED, NO_CHANGE, lambda bench, ticket: "x.y"),
    ("changed argument", errors.TICKET_SIGNATURE, NO_CHANGE, forged_argument),
    ("another key", errors.TICKET_SIGNATURE, NO_CHANGE, lambda bench, ticket: sign(ticket, Ed25519PrivateKey.generate())),
    ("for command-box", errors.TICKET_AUDIENCE, {"audience": "command-box"}, signed),
    ("for egress", errors.TICKET_AUDIENCE, {"audience": "egress"}, signed),
    ("expired", errors.TICKET_EXPIRED, {"deadline": LONG_AGO}, signed),
    ("of an earlier epoch", errors.TICKET_EPOCH, {"epoch": LONG_AGO}, signed),
    ("of a later epoch", errors.TICKET_EPOCH, {"epoch": 2**52}, signed),
    ("policy off", errors.POLICY_OFF, {"policy": "off"}, signed),
    ("not approved", errors.APPROVAL_MISMATCH, {"policy": "ask"}, signed),
    ("approved for another call", errors.APPROVAL_MISMATCH, {"policy": "ask", "approval": OTHER_CALL}, signed),
]


@pytest.mark.parametrize(("code", "changes", "encode"), [pytest.param(*case, id=name) for name, *case in FORGED])
def test_forged_ticket_is_refused_with_no_effect(
    bench: Bench, code: str, changes: dict[str, Any], encode: Callable[[Bench, Ticket], str]
) -> None:
    before = refusals(bench).count(code)
    ticket = write(bench, **changes)
    bench.enqueue(json.dumps({"kind": "job", "ticket": encode(bench, ticket)}))
    settled(bench)
    assert refusals(bench).count(code) == before + 1
    assert not (bench.workspaces / "chats" / ticket.workspace.name).exists()
    assert bench.result(ticket.stream, seconds=0.3) is None


def test_a_ticket_is_used_once(bench: Bench) -> None:
    ticket = write(bench)
    text = bench.signed(ticket).model_dump_json()
    bench.enqueue(text)
    assert bench.result(ticket.stream)
    made = bench.workspaces / "chats" / ticket.workspace.name / "made.txt"
    made.unlink()
    for _ in range(3):
        bench.enqueue(text)
    settled(bench)
    assert not made.exists()
    assert refusals(bench).count(errors.TICKET_USED) == 3
    with bench.redis() as redis:
        answers: Any = redis.xread({redis_keys.result_stream(ticket.stream): "0"})
    assert str(answers).count('"done"') == 1


def test_a_valid_ticket_for_a_tool_that_runs_elsewhere_is_refused(bench: Bench) -> None:
    for tool in ("run_js", "no_such_tool"):
        ticket = bench.ticket(tool, {"code": "1"})
        bench.enqueue(bench.signed(ticket).model_dump_json())
        result = bench.result(ticket.stream)
        assert result is not None
        assert result.refusal is not None
        assert result.refusal.code == errors.TICKET_TOOL


# --- jobs that are not ours at all: pushed as nobody but the orchestrator's user could ---


class Bomb:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch /tmp/pwned",)


def signed_text(bench: Bench) -> str:
    return bench.signed(write(bench, workspace=WorkspaceRef(name="f" * 32))).model_dump_json()


def data(*parts: object) -> bytes:
    """The data of a job, in RQ's form."""
    return zlib.compress(json.dumps(parts).encode())


FOREIGN: list[tuple[str, str, Callable[[Bench], bytes]]] = [
    ("os.system", "foreign_function", lambda _: data("os.system", None, ["touch /tmp/pwned"], {})),
    ("a builtin", "foreign_function", lambda _: data("eval", None, ["open('/tmp/pwned','w')"], {})),
    ("near our name", "foreign_function", lambda b: data(f"{JOB_ENTRY}_", None, [signed_text(b)], {})),
    ("an instance", "wrong_arguments", lambda b: data(JOB_ENTRY, "os", [signed_text(b)], {})),
    ("more arguments", "wrong_arguments", lambda b: data(JOB_ENTRY, None, [signed_text(b), 1], {})),
    ("keywords", "wrong_arguments", lambda b: data(JOB_ENTRY, None, [signed_text(b)], {"services": 1})),
    ("not a list", "wrong_arguments", lambda _: zlib.compress(b'{"a": 1}')),
    ("pickled", "not_json", lambda _: zlib.compress(pickle.dumps((Bomb(), None, (), {})))),
    ("pickled, not compressed", "not_json", lambda _: pickle.dumps((Bomb(), None, (), {}))),
    ("cut short", "not_json", lambda b: data(JOB_ENTRY, None, [signed_text(b)], {})[:-9]),
    ("deep", "not_json", lambda _: zlib.compress(b"[" * 200_000)),
    ("a decompression bomb", "too_large", lambda _: zlib.compress(b" " * 300_000_000, 9)),
    ("empty", "no_data", lambda _: b""),
]


@pytest.mark.parametrize(("problem", "make"), [pytest.param(problem, make, id=name) for name, problem, make in FOREIGN])
def test_a_foreign_job_is_dropped_and_never_imported(bench: Bench, problem: str, make: Callable[[Bench], bytes]) -> None:
    before = dropped(bench).count(problem)
    push(bench, {"data": make(bench)})
    until = time.monotonic() + WAIT_SECONDS
    while dropped(bench).count(problem) == before and time.monotonic() < until:
        settled(bench)
    assert dropped(bench).count(problem) == before + 1
    assert docker("exec", bench.runner, "ls", "/tmp") == "tool-runner.state"
    assert not (bench.workspaces / "chats" / ("f" * 32)).exists()


def test_callbacks_webhooks_retries_and_other_fields_of_a_job_have_no_effect(bench: Bench) -> None:
    ticket = write(bench)
    packed = data(JOB_ENTRY, None, [bench.signed(ticket).model_dump_json()], {})
    push(bench, {
        "data": packed,
        "success_callback_name": "os.abort",
        "failure_callback_name": "os.abort",
        "stopped_callback_name": "os.abort",
        "webhooks": json.dumps([{"url": "http://redis:6379/", "job_status": "finished"}]),
        "retries_left": "5",
        "repeats_left": "5",
        "repeat_intervals": "[0]",
        "result_ttl": "-1",
        "timeout": "x",
        "status": "nonsense",
        "origin": "../../x",
        "dependency_ids": '["a"]',
        "rate_limit_key": "x",
    })  # fmt: skip
    result = bench.result(ticket.stream)
    assert result is not None
    assert result.outcome == "ok"
    settled(bench)
    assert not [line for line in bench.logs() if line["event"] == "worker_ended"]
    with bench.redis() as redis:
        assert not list(redis.scan_iter(match="rq:job:*"))


def test_an_id_that_is_no_id_is_passed_over(bench: Bench) -> None:
    with bench.redis() as redis:
        redis.rpush("rq:queue:files", "\xff\xfe", "a b", "", "..", "x" * 100_000)
    settled(bench)
    assert not [line for line in bench.logs() if line["event"] == "worker_ended"]


def push(bench: Bench, fields: dict[str, Any]) -> None:
    name = secrets.token_hex(8)
    with bench.redis() as redis, redis.pipeline() as pipeline:
        pipeline.hset(f"rq:job:{name}", mapping=fields)
        pipeline.rpush("rq:queue:files", name)
        pipeline.execute()


def settled(bench: Bench) -> None:
    """Both workers of the queue have been through it: each takes what comes while the other is busy."""
    for _ in range(4):
        assert bench.call("list_files", {}).outcome == "ok"


def refusals(bench: Bench) -> list[str]:
    return [line["code"] for line in bench.logs() if line["event"] == "ticket_refused"]


def dropped(bench: Bench) -> list[str]:
    return [line["problem"] for line in bench.logs() if line["event"] == "job_dropped"]


def test_the_form_of_a_job_is_strict(bench: Bench) -> None:
    ticket = write(bench)
    encoded = sign(ticket, bench.key)
    for text in (json.dumps({"kind": "job", "ticket": encoded, "more": 1}), json.dumps({"ticket": [encoded]}), "[]", "\x00"):
        bench.enqueue(text)
    settled(bench)
    assert not (bench.workspaces / "chats" / ticket.workspace.name).exists()
    bench.enqueue(Job(ticket=encoded).model_dump_json())
    assert bench.result(ticket.stream)
