"""Jobs that the core never signed, or signed for something else: refused by whoever is to run them, with no effect.

The attacker here holds a Redis user that may queue jobs (the core's own: more than any untrusted service has), and,
where a signature is needed that the core would not give, a test signs with the core's key inside its container.
"""

import json
import secrets
import time
from typing import Any

import pytest
from harness.stack import Stack

pytestmark = pytest.mark.proves("T13", "G7")

ENTRY = "tool_runner.app.entry.run_job"
HOUR_MS = 3_600_000


class Attempt:
    """One wish to write one file, good but for what is given, and what came of it."""

    def __init__(self, ticket: dict[str, Any] | None = None, **wish: object) -> None:
        self.chat, self.content = secrets.token_hex(16), secrets.token_hex(8)
        good = {
            "audience": "tool-runner",
            "tool": "write_file",
            "arguments": {"path": "proof.txt", "content": self.content},
            "workspace": {"kind": "chat", "name": self.chat},
        }
        self.wish = {"ticket": {**good, **(ticket or {})}, **wish}

    def results(self, stack: Stack) -> list[dict[str, Any]]:
        """Queue it, let every worker finish, and give the results that came back."""
        (entries,) = stack.attack("orchestrator", "core", "run", [self.wish])
        return [entry["result"] for entry in entries if entry["kind"] == "done"]

    def written(self, stack: Stack) -> str:
        """What stands in the file now; empty when it is not there."""
        return stack.exec("tool-runner", "/bin/cat", f"/workspaces/chats/{self.chat}/proof.txt", check=False)


def test_good_ticket_is_run(stack: Stack) -> None:
    """The control of all tests below: the way by which they attack leads to the runner."""
    attempt = Attempt()
    (result,) = attempt.results(stack)
    assert result["outcome"] == "ok"
    assert attempt.written(stack) == attempt.content


def test_ticket_used_twice_is_run_once(stack: Stack) -> None:
    """The same job queued again, while the first waits and when it has long ended."""
    attempt = Attempt(pushes=3)
    (encoded,) = stack.attack("orchestrator", "core", "sign", [attempt.wish])
    attempt.wish["forged"] = encoded
    attempt.results(stack)
    assert attempt.written(stack) == attempt.content
    stack.exec("tool-runner", "/bin/rm", f"/workspaces/chats/{attempt.chat}/proof.txt")
    attempt.results(stack)
    assert attempt.written(stack) == ""


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        pytest.param({"audience": "command-box"}, "ticket.audience", id="other-audience"),
        pytest.param({"audience": "js-sandbox"}, "ticket.audience", id="javascript-audience"),
        pytest.param({"audience": "egress"}, "ticket.audience", id="egress-credential"),
        pytest.param({"deadline": int(time.time() * 1000)}, "ticket.expired", id="expired"),
        pytest.param({"epoch": int(time.time() * 1000) - HOUR_MS}, "ticket.epoch", id="earlier-epoch"),
        pytest.param({"epoch": int(time.time() * 1000) + HOUR_MS}, "ticket.epoch", id="later-epoch"),
        pytest.param({"policy": "off"}, "policy.off", id="tool-off"),
        pytest.param({"policy": "ask"}, "approval.mismatch", id="no-approval"),
        pytest.param({"tool": "run_js"}, "ticket.tool", id="not-the-runners-tool"),
        pytest.param(
            {
                "policy": "ask",
                "approval": {"approval_id": "0" * 32, "call_hash": "0" * 64, "expires_at": int(time.time() * 1000) + HOUR_MS},
            },
            "approval.mismatch",
            id="approval-of-another-call",
        ),
    ],
)
def test_signed_ticket_for_something_else_is_refused(stack: Stack, fields: dict[str, Any], code: str) -> None:
    """The signature is right and the ticket still not good here and now; the runner's own log names why."""
    attempt = Attempt(fields)
    results = attempt.results(stack)
    assert [result["outcome"] for result in results] in ([], ["refused"])
    assert attempt.written(stack) == ""
    told = [result["refusal"]["code"] for result in results]
    logged = [line for line in stack.logs("tool-runner", lines=20).splitlines() if code in line]
    assert told == [code] or logged, "refused, but for another reason"


def test_changed_argument_is_refused(stack: Stack) -> None:
    """The payload with another content under the old signature."""
    attempt = Attempt()
    attempt.wish["replace"] = [attempt.content, "changed"]
    assert attempt.results(stack) == []
    assert attempt.written(stack) == ""


@pytest.mark.parametrize("forged", ["", "x", ".", "e30.e30", "null"], ids=["empty", "text", "dot", "unsigned", "null"])
def test_job_without_ticket_is_refused(stack: Stack, forged: str) -> None:
    """No ticket, no effect; and the workers are still there for the next good job."""
    attempt = Attempt(forged=forged)
    assert attempt.results(stack) == []
    assert attempt.written(stack) == ""


@pytest.mark.parametrize(
    "function", ["os.system", "subprocess.call", "builtins.eval", "tool_runner.app.main.main", f"{ENTRY}.__call__"]
)
def test_job_naming_another_function_is_not_run(stack: Stack, function: str) -> None:
    """The argument would be a command line or a program for these."""
    marker = f"/tmp/{secrets.token_hex(8)}"
    wishes = [Attempt(function=function, argument=text).wish for text in (f"touch {marker}", f"open({marker!r}, 'w')")]
    assert stack.attack("orchestrator", "core", "run", wishes) == [[], []]
    assert stack.exec("tool-runner", "/bin/sh", "-c", f"ls {marker} 2>/dev/null; true") == ""


def test_runner_cannot_queue_jobs(stack: Stack) -> None:
    """Its own Redis user has no right to add to any queue, and its job is never run."""
    attempt = Attempt()
    (encoded,) = stack.attack("orchestrator", "core", "sign", [attempt.wish])
    job = {"function": ENTRY, "argument": json.dumps({"kind": "job", "ticket": encoded}), "queue": "files"}
    (answer,) = stack.attack("tool-runner", "queue_jobs", "tool-runner", [job])
    assert answer.startswith("refused")
    Attempt().results(stack)
    assert attempt.written(stack) == ""


def test_runner_has_no_other_rights_in_redis(stack: Stack) -> None:
    """What would let it read answers of others, free used tickets, set the epoch, or take the server over."""
    stream = secrets.token_hex(16)
    commands = [
        ["RPUSH", "rq:queue:files", "x"],
        ["HSET", "rq:job:x", "data", "x"],
        ["SET", "epoch", "1"],
        ["DEL", "epoch"],
        ["DEL", "nonce:x"],
        ["EXPIRE", "nonce:x", "0"],
        ["GET", "nonce:x"],
        ["XREAD", "STREAMS", f"result:{stream}", "0"],
        ["XRANGE", f"result:{stream}", "-", "+"],
        ["XADD", f"cancel:{stream}", "*", "a", "b"],
        ["KEYS", "*"],
        ["SCAN", "0"],
        ["FLUSHALL"],
        ["CONFIG", "SET", "dir", "/tmp"],
        ["ACL", "LIST"],
        ["EVAL", "return 1", "0"],
        ["MODULE", "LIST"],
        ["SHUTDOWN"],
        ["REPLICAOF", "redis", "6379"],
        ["CLIENT", "KILL", "TYPE", "normal"],
        ["MONITOR"],
        ["SUBSCRIBE", "x"],
    ]
    outcomes = stack.attack("tool-runner", "redis_rights", commands)
    assert [(words, outcome) for words, outcome in zip(commands, outcomes, strict=True) if outcome != "NOPERM"] == []
    assert stack.attack("tool-runner", "redis_rights", [["GET", "epoch"]]) == ["done"]
