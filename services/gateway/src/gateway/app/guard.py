"""The middleware before everything: the page, the API, the event stream and whatever else is asked for.

In this order: the judge of requests, the session, a place among the requests in flight. Only then the application is
called. Every answer gets the security headers and a request id.
"""

import asyncio
import contextlib
import secrets
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts import errors
from contracts.api import EVENTS_PATH, MAX_BODY_BYTES
from contracts.errors import Refusal
from gateway.adapters.http_protocol import TARGET
from gateway.app.answers import FAULT, refused
from gateway.app.sessions import Sessions
from gateway.domain.headers import with_defaults
from gateway.domain.requests import METHODS_WITH_BODY, is_api, judge_request
from gateway.domain.sessions import HEADER, Claims

# How much of a refused request's body is read, and for how long, so that the client is there to read the refusal.
DRAIN_BYTES = 4 * MAX_BODY_BYTES
DRAIN_SECONDS = 1.0

# Asked every few seconds by the container's health check, and not worth a line of log each time.
HEALTH_PATH = "/healthz"

log = structlog.get_logger()


@dataclass
class Slots:
    """A bounded number of things at the same time."""

    capacity: int
    taken: int = field(default=0, init=False)

    @contextlib.contextmanager
    def take(self) -> Iterator[bool]:
        """Whether there was room; it is given back at the end."""
        room = self.taken < self.capacity
        self.taken += room
        try:
            yield room
        finally:
            self.taken -= room


@dataclass(frozen=True)
class Room:
    """How much may be in flight: event streams, other requests of a session, and requests that need no session."""

    streams: Slots
    requests: Slots
    open_requests: Slots


@dataclass(frozen=True)
class Guard:
    """An ASGI application around another one. `port` is the port that browsers see."""

    app: ASGIApp
    port: int
    sessions: Sessions
    room: Room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge, then let through or refuse."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request_id = secrets.token_hex(16)
        answer = _Answer(send, request_id)
        refusal = judge_request(scope["method"], scope["extensions"][TARGET]["value"], scope["headers"], port=self.port)
        claims = None if refusal else self._session(scope)
        if isinstance(claims, Refusal):
            refusal = claims
        if refusal is not None:
            await _refuse(scope, receive, answer, refusal)
            return
        with self._slots(scope, claims).take() as room:
            if not room:
                detail = "There are too many requests or open tabs at the same time."
                await _refuse(
                    scope,
                    receive,
                    answer,
                    Refusal(code=errors.REQUEST_TOO_MANY, detail=detail, hint="Close some tabs, or try again."),
                )
                return
            scope["state"] = {"request_id": request_id, "session": claims}
            await self._run(scope, receive, answer)

    def _session(self, scope: Scope) -> Claims | Refusal | None:
        path = scope["path"]
        if not is_api(path) or (scope["method"], path) == ("POST", "/api/session"):
            return None
        return self.sessions.judge([value for name, value in scope["headers"] if name == HEADER])

    def _slots(self, scope: Scope, claims: Claims | Refusal | None) -> Slots:
        if claims is None:
            return self.room.open_requests
        return self.room.streams if scope["path"] == EVENTS_PATH else self.room.requests

    async def _run(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        """Call the application. What it raises is logged without its message, which may hold a person's text."""
        began = time.monotonic()
        try:
            await self.app(scope, receive, answer)
        except ClientDisconnect:
            log.info("client_left", request_id=answer.request_id)
        except Exception as exc:
            frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(exc.__traceback__)[-6:]]
            log.error("request_failed", request_id=answer.request_id, error=type(exc).__name__, frames=frames)  # noqa: TRY400
            if answer.status is None:
                await refused(FAULT, answer.request_id)(scope, receive, answer)
            # An answer that has begun stays incomplete: the server closes the connection, and so the client learns of it.
        if scope["path"] == HEALTH_PATH:
            return
        log.info(
            "request_served",
            request_id=answer.request_id,
            method=scope["method"],
            route=getattr(scope.get("route"), "path", None),
            status=answer.status,
            milliseconds=round((time.monotonic() - began) * 1000, 1),
        )


@dataclass
class _Answer:
    """The way back to the client: adds headers, and knows whether an answer has begun."""

    send: Send
    request_id: str
    status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", self.request_id.encode())]
            message = {**message, "headers": with_defaults(headers)}
        await self.send(message)


async def _refuse(scope: Scope, receive: Receive, answer: _Answer, refusal: Refusal) -> None:
    log.warning("request_refused", request_id=answer.request_id, code=refusal.code, method=scope["method"])
    await drain(scope, receive)
    await refused(refusal, answer.request_id, close=True)(scope, receive, answer)


async def drain(scope: Scope, receive: Receive) -> None:
    """Read what is left of a body, within bounds: a close with unread bytes would take the answer from the client."""
    names = {name for name, _ in scope["headers"]}
    if b"expect" in names or (scope["method"] not in METHODS_WITH_BODY and not names & {b"content-length", b"transfer-encoding"}):
        return
    left = DRAIN_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
