"""One-time login codes: 256 random bits, ten minutes, one use. Only their hashes are kept, and only in memory."""

import hashlib
import hmac
from collections import deque
from dataclasses import dataclass, field

from contracts import errors
from contracts.errors import Refusal

LIFETIME_MILLISECONDS = 10 * 60 * 1000
MAX_CODES = 64
MAX_WRONG_PER_MINUTE = 20
_MINUTE = 60 * 1000

_NEW_LINK = "Run `make login` and open the new link it prints."


@dataclass
class _Code:
    digest: bytes
    expires_at: int
    used: bool = False


@dataclass
class LoginCodes:
    """The codes that were given out. Several may be good at once; the oldest gives way when there are too many.

    Wrong codes are limited for all callers together. A right code is accepted even then, or else another user of the
    machine could lock the person out by guessing; guessing 256 bits needs no limit, the work and the log lines do.
    """

    _codes: deque[_Code] = field(default_factory=lambda: deque(maxlen=MAX_CODES))
    _wrong_at: deque[int] = field(default_factory=lambda: deque(maxlen=MAX_WRONG_PER_MINUTE))

    def add(self, code: str, *, now: int) -> None:
        """Make `code` good for ten minutes from `now` (milliseconds since 1970)."""
        self._codes.append(_Code(_digest(code), expires_at=now + LIFETIME_MILLISECONDS))

    def redeem(self, code: str, *, now: int) -> Refusal | None:
        """Use `code` up, or say why it is not accepted."""
        digest = _digest(code)
        found: _Code | None = None
        for known in self._codes:
            if hmac.compare_digest(known.digest, digest):
                found = known
        if found is not None and not found.used and now < found.expires_at:
            found.used = True
            return None
        return self._wrong(found, now)

    def _wrong(self, found: _Code | None, now: int) -> Refusal:
        if len(self._wrong_at) == MAX_WRONG_PER_MINUTE and now - self._wrong_at[0] < _MINUTE:
            return Refusal(
                code=errors.LOGIN_TOO_MANY, detail="There were too many wrong login codes in the last minute.", hint=_NEW_LINK
            )
        self._wrong_at.append(now)
        if found is None:
            detail = "This login link is not known. It may be from before the last start, or cut off."
        elif found.used:
            detail = "This login link was used already. Each link works once."
        else:
            detail = "This login link has expired. Links work for ten minutes."
        return Refusal(code=errors.LOGIN_CODE, detail=detail, hint=_NEW_LINK)


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()
