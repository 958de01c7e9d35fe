"""tests/cases/command_runs.json against the real service in its container."""

import secrets
import shlex
import time
from collections.abc import Iterator
from typing import Any

import pytest
from box import Box, cases, running

from contracts.commands import Exited

HERE = [case for case in cases() if not case["input"].get("cancel_while_queued")]
# What waits in a queue is withdrawn there: services/tool-runner/tests/container/test_commands.py.
ELSEWHERE = [case["id"] for case in cases() if case["input"].get("cancel_while_queued")]


@pytest.fixture(scope="module")
def boxes() -> Iterator[dict[int | None, Box]]:
    """A box for each output cap that the cases use."""
    with (
        running() as plain,
        running(COMMAND_BOX_OUTPUT_CHARACTERS="10000") as ten,
        running(COMMAND_BOX_OUTPUT_CHARACTERS="1000") as one,
    ):
        yield {None: plain, 10_000: ten, 1_000: one}


def test_every_case_is_tried_somewhere() -> None:
    assert (len(HERE), ELSEWHERE) == (18, ["run-021"])


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in HERE])
def test_command_run_case(case: dict[str, Any], boxes: dict[int | None, Box]) -> None:
    given, expected = case["input"], case["expect"]
    variables = given.get("host_env")
    if variables:
        with running(**variables) as box:
            _check(given, expected, box)
    else:
        _check(given, expected, boxes[given.get("cap_bytes")])


def _check(given: dict[str, Any], expected: dict[str, Any], box: Box) -> None:
    workspace = secrets.token_hex(16)
    line = shlex.join(word.replace("{PY}", "python3").replace("{HB}", "beat") for word in given["argv"])
    ticket = box.ticket(line, workspace, timeout_seconds=given["limit_s"])
    began = time.monotonic()
    entries = box.send(ticket, hang_up_after=given.get("stop_after_s", -1))
    took = time.monotonic() - began
    # The client in the container takes half a second to start.
    assert took < expected.get("within_s", 60) + 1
    heartbeat = box.workspaces / "chats" / workspace / "beat"
    size = heartbeat.stat().st_size if heartbeat.exists() else 0
    if expected.get("stopped"):
        # The client hung up; the box needs a moment to notice and to kill.
        _until(lambda: not box.processes(), 4)
        size = heartbeat.stat().st_size
    else:
        _check_end(entries[-1], expected)
    if expected.get("no_survivors"):
        _until(lambda: not box.processes(), 1)
    if expected.get("heartbeat_stops"):
        time.sleep(0.4)
        assert heartbeat.stat().st_size == size


def _check_end(end: object, expected: dict[str, Any]) -> None:
    assert isinstance(end, Exited), end
    assert end.survivors == 0
    if "timed_out" in expected:
        assert (end.ending == "timed_out") == expected["timed_out"]
    if "exit" in expected:
        assert end.exit_code == expected["exit"]
    if "truncated" in expected:
        assert end.truncated == expected["truncated"]
    if "stdout_equals" in expected:
        assert end.stdout == expected["stdout_equals"]
    assert end.stdout.startswith(expected.get("stdout_head", ""))
    assert end.stdout.endswith(expected.get("stdout_tail", ""))
    assert all(text in end.stdout for text in expected.get("stdout_contains", []))
    assert not any(text in end.stdout + end.stderr for text in expected.get("stdout_not_contains", []))
    assert all(text in end.stdout + end.stderr for text in expected.get("stderr_or_stdout_contains", []))


def _until(good: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not good():
        assert time.monotonic() < end
        time.sleep(0.05)
