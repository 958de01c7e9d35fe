"""Session tokens: who may use the API after the login code was exchanged.

A token is `v1.<id>.<expiry>.<mac>`: nothing has to be stored to know it again, and a restart of the gateway ends no
session. It travels in a header of its own and not in a cookie, which the browser would send to every port of
127.0.0.1. What is ended early is kept by its id until its expiry (adapters/ended_sessions.py).
"""

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Container
from dataclasses import dataclass

from contracts import errors
from contracts.errors import Refusal

HEADER = b"x-switchbox-session"
KEY_BYTES = 32
LIFETIME_MILLISECONDS = 7 * 24 * 3600 * 1000

_TOKEN = re.compile(r"v1\.([0-9a-f]{32})\.([1-9][0-9]{0,15})\.([A-Za-z0-9_-]{43})")
_LOGIN_AGAIN = "Run `make login` and open the link it prints."


@dataclass(frozen=True)
class Claims:
    """What a token says: the session's id, and its end in milliseconds since 1970."""

    session_id: str
    expires_at: int


def issue(key: bytes, claims: Claims) -> str:
    """The token for these claims."""
    return f"v1.{claims.session_id}.{claims.expires_at}.{_mac(key, claims)}"


def judge_session(key: bytes, tokens: list[bytes], *, now: int, ended: Container[str]) -> Claims | Refusal:
    """The claims of the one valid token among the header's values, or why there is none. `now` in milliseconds since 1970."""
    if not tokens:
        return _refusal(errors.SESSION_MISSING, "You are not logged in.")
    match = _TOKEN.fullmatch(tokens[0].decode("latin-1")) if len(tokens) == 1 else None
    if match is None:
        return _refusal(errors.SESSION_INVALID, "The session token is not one of this server's.")
    claims = Claims(session_id=match[1], expires_at=int(match[2]))
    if not hmac.compare_digest(match[3], _mac(key, claims)):
        return _refusal(errors.SESSION_INVALID, "The session token is not one of this server's.")
    if claims.expires_at <= now:
        return _refusal(errors.SESSION_EXPIRED, "Your session has expired.")
    if claims.session_id in ended:
        return _refusal(errors.SESSION_EXPIRED, "This session was ended.")
    return claims


def _mac(key: bytes, claims: Claims) -> str:
    text = f"switchbox session v1\n{claims.session_id}\n{claims.expires_at}".encode()
    return urlsafe_b64encode(hmac.digest(key, text, hashlib.sha256)).decode().rstrip("=")


def _refusal(code: str, detail: str) -> Refusal:
    return Refusal(code=code, detail=detail, hint=_LOGIN_AGAIN)
