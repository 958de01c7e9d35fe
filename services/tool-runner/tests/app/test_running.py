"""The watch over a running call: cancelled, void, lost, alive, given up."""

import time

import pytest

from contracts import errors
from contracts.tickets import Ticket, WorkspaceRef
from contracts.tool_jobs import ToolResult
from tool_runner.adapters.cancel_stream import Word
from tool_runner.app import running
from tool_runner.app.running import Attendant, RunningCall, StopReason, StopSwitch

ID = "0" * 32
TICKET = Ticket(
    audience="tool-runner",
    call_id=ID,
    chat_id=ID,
    tool="run_command",
    arguments={},
    workspace=WorkspaceRef(name=ID),
    policy="auto",
    policy_hash="0" * 64,
    stream=ID,
    nonce=ID,
    epoch=1,
    issued_at=1,
    deadline=2,
    timeout_seconds=1.0,
)


class Stream:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.alive_count = 0
        self.silent = 0.0
        self.results: list[ToolResult] = []

    def alive(self) -> None:
        self.alive_count += 1

    def silent_seconds(self) -> float:
        return self.silent

    def done(self, result: ToolResult) -> None:
        self.results.append(result)


class Watched:
    """An attendant, a call, and what became of them."""

    def __init__(self, word: Word = Word.GO_ON) -> None:
        self.word = word
        self.stream = Stream()
        self.given_up = 0
        self.beats = 0
        self.call = RunningCall(TICKET, self.stream)  # type: ignore[arg-type]  # the fake has what is used of it
        self.attendant = Attendant(lambda _: self.word, self._beat, self._give_up)

    def _beat(self) -> None:
        self.beats += 1

    def _give_up(self) -> None:
        self.given_up += 1


def test_a_call_that_may_go_on_is_left_alone() -> None:
    watched = Watched()
    watched.attendant.look(watched.call)
    assert watched.call.switch.reason is None
    assert (watched.beats, watched.stream.alive_count, watched.given_up) == (1, 0, 0)


def test_a_quiet_call_is_said_to_be_alive() -> None:
    watched = Watched()
    watched.stream.silent = running.QUIET_SECONDS + 0.1
    watched.attendant.look(watched.call)
    assert watched.stream.alive_count == 1


@pytest.mark.parametrize(("word", "reason"), [(Word.CANCELLED, StopReason.CANCELLED), (Word.VOID, StopReason.LOST)])
def test_a_word_of_redis_stops_the_call(word: Word, reason: StopReason) -> None:
    watched = Watched(word)
    watched.attendant.look(watched.call)
    assert watched.call.switch.reason is reason


def test_a_redis_that_is_silent_stops_the_call_only_after_a_while() -> None:
    watched = Watched(Word.SILENT)
    watched.attendant.look(watched.call)
    assert watched.call.switch.reason is None
    watched.call.heard = time.monotonic() - running.LOST_SECONDS - 0.1
    watched.attendant.look(watched.call)
    assert watched.call.switch.reason is StopReason.LOST


def test_a_call_that_does_not_stop_is_given_up_with_an_answer() -> None:
    watched = Watched()
    watched.call.switch.press(StopReason.CANCELLED)
    watched.attendant.look(watched.call)
    assert watched.given_up == 0
    watched.call.switch.pressed_at -= running.STOP_SECONDS + 0.1
    watched.attendant.look(watched.call)
    assert watched.given_up == 1
    assert watched.stream.results[0].refusal is not None
    assert watched.stream.results[0].refusal.code == errors.TOOL_EFFECT_UNKNOWN


def test_a_call_over_its_time_is_given_up_with_an_answer() -> None:
    watched = Watched()
    watched.call.began -= 1.0 + running.OVERTIME_SECONDS + 0.1
    watched.attendant.look(watched.call)
    assert watched.given_up == 1
    assert watched.stream.results[0].refusal is not None
    assert watched.stream.results[0].refusal.code == errors.TOOL_TIMED_OUT


def test_the_thread_looks_at_a_call_while_it_is_watched_and_not_after() -> None:
    watched = Watched(Word.CANCELLED)
    watched.attendant.start()
    until = time.monotonic() + 5
    with watched.attendant.watching(watched.call):
        while watched.call.switch.reason is None and time.monotonic() < until:
            time.sleep(0.01)
    assert watched.call.switch.reason is StopReason.CANCELLED
    time.sleep(2 * running.POLL_SECONDS)
    beats = watched.beats
    time.sleep(3 * running.POLL_SECONDS)
    assert watched.beats == beats


def test_a_press_calls_the_action_whenever_it_is_set() -> None:
    before, during = [0], [0]
    switch = StopSwitch()
    switch.press(StopReason.SHUTDOWN)
    with switch.stopping_by(lambda: before.__setitem__(0, 1)):
        assert before == [1]
    other = StopSwitch()
    with other.stopping_by(lambda: during.__setitem__(0, 1)):
        other.press(StopReason.LOST)
        other.press(StopReason.CANCELLED)
    assert during == [1]
    assert other.reason is StopReason.LOST
