"""Sessions that were ended before their time: one line each, `<id> <expiry>`, kept until the token would have expired anyway.

It is the one thing that the gateway writes, next to the audit witness. Without it a restart would bring an ended session
back for the rest of its seven days.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from gateway.domain.sessions import Claims

FILE_NAME = "ended-sessions"


class EndedSessions:
    """A set of session ids with a file behind it."""

    def __init__(self, folder: Path, *, now: int) -> None:
        """Read what is kept, and drop what has expired at `now`.

        Raises:
            OSError: the folder cannot be read or written.
        """
        self._path = folder / FILE_NAME
        self._kept = {claims.session_id: claims.expires_at for claims in _read(self._path) if claims.expires_at > now}
        if self._path.exists():
            self._rewrite()
        elif not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "cannot be written", str(folder))

    def __contains__(self, session_id: object) -> bool:
        """Whether this session was ended."""
        return session_id in self._kept

    def end(self, claims: Claims) -> None:
        """End a session now, and write it down.

        Raises:
            OSError: it is ended, but not written down: a restart forgets it.
        """
        self._kept[claims.session_id] = claims.expires_at
        with open(self._path, "a", encoding="ascii", opener=_private) as file:
            file.write(_line(claims))
            file.flush()
            os.fsync(file.fileno())

    def _rewrite(self) -> None:
        fresh = self._path.with_suffix(".new")
        with open(fresh, "w", encoding="ascii", opener=_private) as file:
            file.writelines(_line(Claims(session_id, expires_at)) for session_id, expires_at in self._kept.items())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def _line(claims: Claims) -> str:
    return f"{claims.session_id} {claims.expires_at}\n"


def _read(path: Path) -> Iterator[Claims]:
    """The whole lines; the last one may be torn by a crash in the middle of writing it."""
    if not path.exists():
        return
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        session_id, _, expires_at = line.partition(" ")
        if expires_at.isdecimal():
            yield Claims(session_id, int(expires_at))
