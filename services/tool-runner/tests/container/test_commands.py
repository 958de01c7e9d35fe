"""Commands from the queue through the tool-runner to a real command-box and back: live, stopped, cut off."""

import json
import secrets
import time
from pathlib import Path

import pytest
from runner_bench import REPOSITORY, WAIT_SECONDS, Bench, docker, wait_until_well

from contracts import errors
from contracts.tool_jobs import Alive, Done, Output, Started, ToolResult

QUEUED = next(
    case
    for case in json.loads((REPOSITORY / "tests/cases/command_runs.json").read_text(encoding="utf-8"))["cases"]
    if case["id"] == "run-021"
)


def run(bench: Bench, line: str, workspace: str | None = None) -> ToolResult:
    ticket, job = bench.command(line, workspace)
    bench.enqueue(job.model_dump_json(), "commands")
    result = bench.result(ticket.stream)
    assert result is not None, docker("logs", bench.runner)
    return result


def test_a_command_runs_in_the_folder_that_the_file_tools_see(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    bench.call("write_file", {"path": "a.txt", "content": "from a tool\n"}, chat)
    result = run(bench, "cat a.txt; echo made > b.txt; echo wrong >&2; exit 3", chat)
    assert result.outcome == "ok"
    assert result.content == "Exit code: 3\nstdout:\nfrom a tool\n\nstderr:\nwrong\n"
    assert (result.data["exit_code"], result.data["stdout"], result.data["stderr"]) == (3, "from a tool\n", "wrong\n")
    assert bench.call("read_file", {"path": "b.txt"}, chat).content == "made\n"


def test_output_comes_while_the_command_runs_and_silence_is_bridged(bench: Bench) -> None:
    ticket, job = bench.command("echo first; sleep 4; echo last")
    bench.enqueue(job.model_dump_json(), "commands")
    times: dict[str, float] = {}
    kinds = []
    for entry in bench.entries(ticket.stream):
        kinds.append(type(entry))
        if isinstance(entry, Output):
            times[entry.text.strip()] = time.monotonic()
    assert kinds[0] is Started
    assert kinds[-1] is Done
    assert kinds.count(Alive) >= 1
    assert times["last"] - times["first"] > 3


def test_a_command_that_is_stopped_ends_and_leaves_nothing_alive(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    beat = "(setsid sh -c 'while :; do echo x >> beat; sleep 0.1; done' &)"
    ticket, job = bench.command(f"{beat}; echo begun; sleep 30", chat)
    bench.enqueue(job.model_dump_json(), "commands")
    began = 0.0
    result: ToolResult | None = None
    for entry in bench.entries(ticket.stream):
        if isinstance(entry, Output) and not began:
            began = time.monotonic()
            bench.cancel(ticket)
        if isinstance(entry, Done):
            result = entry.result
    assert result is not None
    assert time.monotonic() - began < 5
    assert result.outcome == "stopped"
    assert "begun" in result.content
    stays_as_it_is(bench.workspaces / "chats" / chat / "beat")


def test_a_command_over_its_time_is_stopped_and_says_so(bench: Bench) -> None:
    ticket, job = bench.command("echo begun; sleep 30", timeout_seconds=1.0)
    bench.enqueue(job.model_dump_json(), "commands")
    result = bench.result(ticket.stream)
    assert result is not None
    assert result.outcome == "timed_out"
    assert result.refusal is not None
    assert result.refusal.code == errors.TOOL_TIMED_OUT
    assert "begun" in result.content


def test_case_run_021_a_command_cancelled_while_it_waits_never_starts(bench: Bench) -> None:
    assert QUEUED["expect"]["not_started"]
    chat = secrets.token_hex(16)
    ticket, job = bench.command("touch started", chat)
    bench.cancel(ticket)
    bench.enqueue(job.model_dump_json(), "commands")
    result = bench.result(ticket.stream)
    assert result is not None
    assert result.outcome == "stopped"
    assert not (bench.workspaces / "chats" / chat).exists()


def test_a_command_whose_own_ticket_is_for_other_arguments_is_refused_by_command_box(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    ticket, job = bench.command("true", chat)
    bench.enqueue(job.model_copy(update={"command_ticket": job.ticket}).model_dump_json(), "commands")
    result = bench.result(ticket.stream)
    assert result is not None
    assert result.outcome == "refused"
    assert result.refusal is not None
    assert result.refusal.code == errors.TICKET_AUDIENCE


def test_several_commands_run_at_once(bench: Bench) -> None:
    began = time.monotonic()
    tickets = []
    for _ in range(4):
        ticket, job = bench.command("sleep 2")
        bench.enqueue(job.model_dump_json(), "commands")
        tickets.append(ticket)
    results = [bench.result(ticket.stream) for ticket in tickets]
    assert all(result is not None and result.outcome == "ok" for result in results)
    assert time.monotonic() - began < 6


def test_a_command_box_that_is_killed_leaves_the_effect_unknown_and_says_so(bench: Bench) -> None:
    ticket, job = bench.command("echo begun; sleep 30")
    bench.enqueue(job.model_dump_json(), "commands")
    for entry in bench.entries(ticket.stream):
        if isinstance(entry, Output):
            docker("kill", f"{bench.name}-box")
        if isinstance(entry, Done):
            assert entry.result.outcome == "failed"
            assert entry.result.refusal is not None
            assert entry.result.refusal.code == errors.TOOL_EFFECT_UNKNOWN
    result = run(bench, "true")
    assert result.refusal is not None
    assert result.refusal.code == errors.TOOL_UNAVAILABLE
    docker("start", f"{bench.name}-box")
    until = time.monotonic() + WAIT_SECONDS
    while (result := run(bench, "true")).outcome != "ok" and time.monotonic() < until:
        time.sleep(0.2)
    assert result.outcome == "ok"


def test_a_runner_that_is_told_to_end_stops_its_commands_and_answers(bench: Bench) -> None:
    ticket, job = bench.command("echo begun; sleep 30")
    bench.enqueue(job.model_dump_json(), "commands")
    try:
        for entry in bench.entries(ticket.stream):
            if isinstance(entry, Output):
                began = time.monotonic()
                docker("stop", "--time", "10", bench.runner)
                assert time.monotonic() - began < 6
            if isinstance(entry, Done):
                assert entry.result.outcome == "stopped"
                break
        else:
            pytest.fail("no answer")
        assert docker("inspect", "-f", "{{.State.ExitCode}}", bench.runner) == "0"
    finally:
        docker("start", bench.runner)
        wait_until_well(bench.runner)


def stays_as_it_is(path: Path) -> None:
    """A file that nothing adds to any more."""
    time.sleep(0.5)
    size = path.stat().st_size
    assert size > 0
    time.sleep(1)
    assert path.stat().st_size == size
