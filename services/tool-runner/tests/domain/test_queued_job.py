"""Only a job of exactly our form is read; nothing in it is imported or unpickled to find out."""

import json
import pickle
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.tool_jobs import JOB_ENTRY
from tool_runner.domain import queued_job
from tool_runner.domain.queued_job import NotOurs, Problem, read_queued_job


def packed(parts: object) -> bytes:
    return zlib.compress(json.dumps(parts).encode())


def test_a_job_of_ours_gives_its_argument() -> None:
    assert read_queued_job(packed([JOB_ENTRY, None, ["text"], {}])) == "text"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, Problem.NO_DATA),
        (b"", Problem.NO_DATA),
        (packed(["os.system", None, ["true"], {}]), Problem.FOREIGN_FUNCTION),
        (packed([f"{JOB_ENTRY}.__globals__", None, ["x"], {}]), Problem.FOREIGN_FUNCTION),
        (packed([JOB_ENTRY.upper(), None, ["x"], {}]), Problem.FOREIGN_FUNCTION),
        (packed(["os.system"]), Problem.FOREIGN_FUNCTION),
        (packed([JOB_ENTRY, None, [], {}]), Problem.WRONG_ARGUMENTS),
        (packed([JOB_ENTRY, None, [1], {}]), Problem.WRONG_ARGUMENTS),
        (packed([JOB_ENTRY, None, ["x"], {"a": 1}]), Problem.WRONG_ARGUMENTS),
        (packed([JOB_ENTRY, None, ["x"], []]), Problem.WRONG_ARGUMENTS),
        (packed([JOB_ENTRY, {"a": 1}, ["x"], {}]), Problem.WRONG_ARGUMENTS),
        (packed([JOB_ENTRY, None, ["x"], {}, 1]), Problem.WRONG_ARGUMENTS),
        (packed({"func": JOB_ENTRY}), Problem.WRONG_ARGUMENTS),
        (packed(None), Problem.WRONG_ARGUMENTS),
        (pickle.dumps((JOB_ENTRY, None, ("x",), {})), Problem.NOT_JSON),
        (zlib.compress(b"\xff\xfe"), Problem.NOT_JSON),
        (packed([JOB_ENTRY, None, ["x"], {}])[:-5], Problem.NOT_JSON),
    ],
)
def test_anything_else_is_not_ours(data: bytes | None, problem: Problem) -> None:
    assert read_queued_job(data) == NotOurs(problem)


def test_a_small_job_cannot_become_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queued_job, "MAX_JOB_BYTES", 1_000)
    job: list[object] = [JOB_ENTRY, None, ["x" * 900], {}]
    assert read_queued_job(packed(job)) == "x" * 900
    job[2] = ["x" * 2_000]
    assert read_queued_job(packed(job)) == NotOurs(Problem.TOO_LARGE)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(read_queued_job(data), NotOurs)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5) | st.just(JOB_ENTRY), lambda x: st.lists(x, max_size=4), max_leaves=8
    )
)
def test_no_json_but_ours_is_taken(parts: object) -> None:
    answer = read_queued_job(packed(parts))
    assert isinstance(answer, NotOurs) or parts == [JOB_ENTRY, None, [answer], {}]
