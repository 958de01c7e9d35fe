from pathlib import Path

import pytest

from gateway.adapters.ended_sessions import FILE_NAME, EndedSessions
from gateway.domain.sessions import Claims

A, B = Claims("a" * 32, 2_000), Claims("b" * 32, 3_000)


def test_an_ended_session_stays_ended_after_a_restart(tmp_path: Path) -> None:
    EndedSessions(tmp_path, now=0).end(A)
    assert A.session_id in EndedSessions(tmp_path, now=0)
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert B.session_id not in EndedSessions(tmp_path, now=0)


def test_what_has_expired_is_dropped(tmp_path: Path) -> None:
    ended = EndedSessions(tmp_path, now=0)
    ended.end(A)
    ended.end(B)
    assert A.session_id not in EndedSessions(tmp_path, now=2_000)
    assert (tmp_path / FILE_NAME).read_text() == f"{B.session_id} 3000\n"


def test_a_torn_last_line_ends_nothing_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(f"{A.session_id} 2000\n{'b' * 32} ".encode() + b"\xff\x00")
    ended = EndedSessions(tmp_path, now=0)
    assert A.session_id in ended
    assert B.session_id not in ended


def test_a_folder_that_is_not_there_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot be written"):
        EndedSessions(tmp_path / "missing", now=0)


def test_a_session_is_ended_even_when_that_cannot_be_written_down(tmp_path: Path) -> None:
    folder = tmp_path / "witness"
    folder.mkdir()
    ended = EndedSessions(folder, now=0)
    folder.rmdir()
    with pytest.raises(OSError, match="No such file"):
        ended.end(A)
    assert A.session_id in ended
