"""Logging in and out: the use cases behind `/api/session` and the login link."""

import secrets
import time
from dataclasses import dataclass, field

import structlog

from contracts import errors
from contracts.api import Session
from contracts.errors import Refusal
from gateway.adapters.ended_sessions import EndedSessions
from gateway.domain.login_codes import LoginCodes
from gateway.domain.sessions import LIFETIME_MILLISECONDS, Claims, issue, judge_session

log = structlog.get_logger()


@dataclass(frozen=True)
class Sessions:
    """The sessions of this gateway."""

    key: bytes = field(repr=False)
    codes: LoginCodes
    ended: EndedSessions
    port: int

    def new_login_link(self) -> str:
        """A link that logs one browser in. The code is in the fragment, which browsers send to nobody."""
        code = secrets.token_urlsafe(32)
        self.codes.add(code, now=_now())
        return f"http://127.0.0.1:{self.port}/#login={code}"

    def log_in(self, code: str) -> Session | Refusal:
        """Exchange a login code for a session."""
        now = _now()
        refusal = self.codes.redeem(code, now=now)
        if refusal is not None:
            log.warning("login_refused", code=refusal.code)
            return refusal
        claims = Claims(session_id=secrets.token_hex(16), expires_at=now + LIFETIME_MILLISECONDS)
        log.info("session_began", session_id=claims.session_id)
        return Session(token=issue(self.key, claims), expires_at=claims.expires_at)

    def log_out(self, claims: Claims) -> Refusal | None:
        """End a session; a refusal says that it is ended, but that a restart would bring it back."""
        log.info("session_ended", session_id=claims.session_id)
        try:
            self.ended.end(claims)
        except OSError as exc:
            log.error("session_end_not_kept", session_id=claims.session_id, reason=exc.strerror)  # noqa: TRY400 (the reason is whole)
            return Refusal(
                code=errors.INTERNAL,
                detail="The session is ended, but that could not be written down: a restart of the gateway forgets it.",
                hint="Make room on the volume `witness`.",
            )
        return None

    def judge(self, tokens: list[bytes]) -> Claims | Refusal:
        """Who makes a request that carries these values in its session header."""
        return judge_session(self.key, tokens, now=_now(), ended=self.ended)


def _now() -> int:
    return time.time_ns() // 1_000_000
