"""The stream of a call: once an end, never more than allowed, and no repeat but of the end."""

from typing import Any, Self

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from contracts import errors
from contracts.tool_jobs import MAX_ENTRY_BYTES, Done, Output, Started, ToolResult, stream_entry
from tool_runner.adapters import result_stream
from tool_runner.adapters.result_stream import ResultStream
from tool_runner.domain import results


class Redis:
    """Keeps what is added; fails as often as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.added: list[Any] = []
        self.expiries: list[int] = []
        self.failures = failures

    def pipeline(self, *, transaction: bool) -> "Redis":
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def xadd(self, key: str, fields: dict[str, str], *, maxlen: int, approximate: bool) -> None:
        if self.failures:
            self.failures -= 1
            raise RedisConnectionError
        assert key == "result:name"
        assert list(fields) == ["entry"]
        self.added.append(stream_entry.validate_json(fields["entry"]))

    def expire(self, key: str, seconds: int) -> None:
        self.expiries.append(seconds)

    def execute(self) -> None:
        pass


OK = ToolResult(outcome="ok")
PIECE = Output(stream="stdout", text="x" * 1_000)


def made(redis: Redis) -> ResultStream:
    return ResultStream(redis, "name")  # type: ignore[arg-type]  # the fake has what is used of it


def test_entries_are_added_in_order_and_each_gives_the_stream_its_life() -> None:
    redis = Redis()
    stream = made(redis)
    stream.started()
    stream.output(PIECE)
    stream.done(OK)
    assert [type(entry) for entry in redis.added] == [Started, Output, Done]
    assert redis.expiries == [900, 900, 900]


def test_after_the_end_nothing_is_added() -> None:
    redis = Redis()
    stream = made(redis)
    stream.done(OK)
    stream.done(results.INTERNAL)
    stream.alive()
    stream.output(PIECE)
    assert redis.added == [Done(result=OK)]


def test_a_beginning_that_could_not_be_told_is_raised() -> None:
    with pytest.raises(RedisConnectionError):
        made(Redis(failures=1)).started()


def test_live_output_that_could_not_be_added_is_not_added_later() -> None:
    redis = Redis(failures=1)
    stream = made(redis)
    stream.output(PIECE)
    stream.done(OK)
    assert redis.added == [Done(result=OK)]


def test_the_end_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_stream, "DONE_PAUSE_SECONDS", 0.01)
    redis = Redis(failures=3)
    made(redis).done(OK)
    assert redis.added == [Done(result=OK)]


def test_the_end_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_stream, "DONE_SECONDS", 0.05)
    monkeypatch.setattr(result_stream, "DONE_PAUSE_SECONDS", 0.01)
    redis = Redis(failures=1_000)
    made(redis).done(OK)
    assert redis.added == []


def test_live_output_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_stream, "MAX_LIVE_CHARACTERS", 10_000)
    redis = Redis()
    stream = made(redis)
    for _ in range(50):
        stream.output(PIECE)
    stream.done(OK)
    assert len(redis.added) == 11


def test_a_result_that_is_too_large_becomes_a_refusal() -> None:
    redis = Redis()
    made(redis).done(ToolResult(outcome="ok", data={"x": "y" * MAX_ENTRY_BYTES}))
    assert redis.added[0].result.refusal.code == errors.TOOL_RESULT_TOO_LARGE
