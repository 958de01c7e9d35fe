"""When a dead worker starts again, and when a runner counts as well."""

import os
import time
from pathlib import Path

import pytest

from tool_runner import health
from tool_runner.app import supervisor
from tool_runner.app.supervisor import Beats, Supervisor


class Redis:
    """Keeps what is set."""

    def __init__(self) -> None:
        self.set_keys: list[tuple[str, str, int]] = []

    def set(self, key: str, value: str, ex: int) -> None:
        self.set_keys.append((key, value, ex))


@pytest.fixture
def redis() -> Redis:
    return Redis()


@pytest.fixture
def watched(tmp_path: Path, redis: Redis) -> Supervisor:
    made = Supervisor({"files": 1, "commands": 2}, lambda queue, beat: 0, redis, "me", tmp_path / "state")  # type: ignore[arg-type]  # the fake has what is used of it
    for slot in made._slots:
        slot.pid = 1_000_000 + slot.number
        made._beats.beat(slot.number)
    return made


def test_a_beat_is_seen_by_the_parent_of_the_process_that_made_it() -> None:
    beats = Beats(2)
    assert beats.age(1) > 1
    beats.beat(1)
    assert beats.age(1) < 1
    assert beats.age(0) > 1


def test_a_runner_is_there_while_every_queue_has_a_worker_that_is_well(watched: Supervisor, redis: Redis, tmp_path: Path) -> None:
    watched._report()
    assert redis.set_keys == [("runner:me", '{"files": 1, "commands": 2}', 5)]
    watched._slots[1].pid = None
    watched._report()
    assert redis.set_keys[-1][1] == '{"files": 1, "commands": 1}'
    (tmp_path / "state").unlink()
    watched._slots[0].pid = None
    watched._report()
    assert len(redis.set_keys) == 2
    assert not (tmp_path / "state").exists()


def test_workers_that_gave_no_sign_are_not_counted(watched: Supervisor, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "WELL_SECONDS", 0.05)
    time.sleep(0.1)
    watched._report()
    assert redis.set_keys == []


def test_a_worker_that_dies_at_once_waits_longer_each_time_and_never_long(watched: Supervisor) -> None:
    slot = watched._slots[0]
    pauses = []
    for _ in range(8):
        slot.born = time.monotonic()
        watched._buried(slot, 1)
        pauses.append(slot.pause)
    assert pauses == sorted(pauses)
    assert pauses[0] == supervisor.FIRST_PAUSE_SECONDS
    assert pauses[-1] == supervisor.LONGEST_PAUSE_SECONDS


def test_a_worker_that_lived_starts_again_at_once(watched: Supervisor) -> None:
    slot = watched._slots[0]
    slot.pause = 2.0
    slot.born = time.monotonic() - supervisor.LIVED_SECONDS - 1
    watched._buried(slot, 70)
    assert slot.pause == 0.0
    assert slot.start_at <= time.monotonic()


def test_health_fails_without_a_state_and_with_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("TOOL_RUNNER_STATE_FILE", str(state))
    assert health.main() == 1
    state.touch()
    assert health.main() == 0
    old = time.time() - health.MAX_AGE_SECONDS - 1
    os.utime(state, (old, old))
    assert health.main() == 1
    assert "last well" in capsys.readouterr().out
