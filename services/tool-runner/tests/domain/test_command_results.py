"""A command's end as the model reads it, and nothing of command-box that could break what comes after."""

import json
import math

import pytest

from contracts import errors
from contracts.commands import Exited
from contracts.tool_jobs import MAX_ENTRY_BYTES, Done, ToolResult
from tool_runner.domain import results
from tool_runner.domain.command_results import cut_off, result_of_command


def exited(**changes: object) -> Exited:
    fields = {"ending": "exited", "exit_code": 0, "stdout": "", "stderr": "", "truncated": False, "duration_seconds": 0.25}
    return Exited.model_validate(fields | changes)


def test_output_and_exit_code_are_told() -> None:
    result = result_of_command(exited(exit_code=2, stdout="out\n", stderr="err\n"))
    assert result.outcome == "ok"
    assert result.content == "Exit code: 2\nstdout:\nout\n\nstderr:\nerr\n"


def test_a_silent_command_says_so() -> None:
    assert result_of_command(exited()).content == "Exit code: 0\n(It wrote nothing.)"


@pytest.mark.parametrize(("ending", "code"), [("timed_out", errors.TOOL_TIMED_OUT), ("stopped", errors.TOOL_STOPPED)])
def test_an_end_that_was_not_its_own_has_a_code_and_what_it_wrote(ending: str, code: str) -> None:
    result = result_of_command(exited(ending=ending, exit_code=None, stdout="half"))
    assert result.outcome == ending
    assert result.refusal is not None
    assert result.refusal.code == code
    assert "half" in result.content


def test_survivors_are_told() -> None:
    assert "2 of its processes could not be killed" in result_of_command(exited(survivors=2)).content


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0, 1e300])
def test_a_duration_that_is_no_duration_is_not_passed_on(seconds: float) -> None:
    line = Done(result=result_of_command(exited(ending="timed_out", exit_code=None, duration_seconds=seconds))).model_dump_json()
    assert "NaN" not in line
    assert "Infinity" not in line
    assert json.loads(line)["result"]["data"]["duration_seconds"] == 0


def test_what_is_longer_than_allowed_is_cut_and_fits_into_an_entry() -> None:
    result = result_of_command(exited(stdout="😀" * 200_000, stderr="x" * 200_000))
    assert result.truncated
    assert len(Done(result=result).model_dump_json().encode()) <= MAX_ENTRY_BYTES


def test_what_was_written_before_the_end_was_lost_is_kept() -> None:
    result = cut_off("out", "", results.EFFECT_UNKNOWN)
    assert isinstance(result, ToolResult)
    assert result.outcome == "failed"
    assert result.content.endswith("Until then it wrote:\nstdout:\nout")
    assert cut_off("", "", results.EFFECT_UNKNOWN) is results.EFFECT_UNKNOWN
