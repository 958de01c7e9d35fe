"""The routes of contracts.api.ROUTES: judge the path's ids and the body, pass on, judge the answer."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import structlog
from fastapi import Request
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.responses import Response

from contracts import errors
from contracts.api import MAX_BODY_BYTES, Route
from contracts.base import Message
from contracts.errors import ErrorBody, Refusal
from gateway.adapters.core import Core, CoreReply
from gateway.app.answers import refused
from gateway.app.guard import drain
from gateway.domain.bodies import canonical, read_body
from gateway.domain.errors import CoreUnavailableError

BODY_SECONDS = 10.0

# What may stand in the place of each parameter of a path; a parameter that is not here stops the start.
PARAMETERS: dict[str, str] = {
    "chat_id": "[0-9a-f]{32}",
    "reply_id": "[0-9a-f]{32}",
    "approval_id": "[0-9a-f]{32}",
    "provider_id": "[a-z0-9-]{1,40}",
}
NO_SUCH_ID = Refusal(code=errors.REQUEST_NOT_FOUND, detail="The address names nothing that can exist here.")

Endpoint = Callable[[Request], Awaitable[Response]]
log = structlog.get_logger()


def parameters(path: str) -> dict[str, re.Pattern[str]]:
    """The parameters of a route's path, each with the pattern of its values."""
    return {name: re.compile(PARAMETERS[name]) for name in re.findall(r"\{(\w+)\}", path)}


def endpoint(route: Route, core: Core) -> Endpoint:
    """The handler of one route."""
    patterns = parameters(route.path)

    async def handle(request: Request) -> Response:
        request_id = request.state.request_id
        values = request.path_params
        if not all(pattern.fullmatch(values[name]) for name, pattern in patterns.items()):
            return refused(NO_SUCH_ID, request_id)
        body = await body_of(request, route.body) if route.body is not None else None
        if isinstance(body, Refusal):
            return await refused_body(request, body)
        target = route.path.format_map(values)
        try:
            reply = await core.ask(route.method, target, None if body is None else canonical(body), request_id)
        except CoreUnavailableError as exc:
            return unavailable(exc, request_id, changes=route.method != "GET")
        return passed_on(reply, request_id)

    return handle


async def body_of[Model: Message](request: Request, model: type[Model]) -> Model | Refusal:
    """The request's body as `model`, read within bounds of size and time."""
    received = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                received += chunk
                if len(received) > MAX_BODY_BYTES:
                    return Refusal(
                        code=errors.REQUEST_TOO_LARGE,
                        detail=f"The body is larger than {MAX_BODY_BYTES} bytes. Nothing was changed.",
                    )
    except TimeoutError:
        return Refusal(
            code=errors.REQUEST_TIMED_OUT,
            detail=f"The body did not arrive within {BODY_SECONDS:.0f} seconds. Nothing was changed.",
        )
    return read_body(model, bytes(received))


async def refused_body(request: Request, refusal: Refusal) -> Response:
    """The answer to a bad body; one that was not read to its end ends the connection too."""
    unread = refusal.code != errors.REQUEST_BODY
    if refusal.code == errors.REQUEST_TOO_LARGE:
        await drain(request.scope, request.receive)
    log.warning("body_refused", request_id=request.state.request_id, code=refusal.code)
    return refused(refusal, request.state.request_id, close=unread)


def unavailable(exc: CoreUnavailableError, request_id: str, *, changes: bool) -> Response:
    """The answer when the core gave none."""
    log.error("core_unavailable", request_id=request_id, reason=exc.reason, sent=exc.sent)
    detail = "The core does not answer, so nothing was done."
    if exc.sent:
        detail = "The core broke off. Whether the change took effect is not known." if changes else "The core broke off."
    hint = "It may be starting. Try again in a few seconds; `docker compose ps` shows its state."
    return refused(Refusal(code=exc.code, detail=detail, hint=hint), request_id)


def passed_on(reply: CoreReply, request_id: str) -> Response:
    """The core's answer, which has to be a JSON object, and an ErrorBody where its status says that it is an error."""
    if reply.status >= 400:  # noqa: PLR2004 (the first status that is an error)
        return _passed_error(reply, request_id)
    if _is_object(reply.body):
        return Response(reply.body, status_code=reply.status, media_type="application/json")
    log.error("core_answer_unreadable", request_id=request_id, status=reply.status)
    return _bad_answer(request_id)


def _passed_error(reply: CoreReply, request_id: str) -> Response:
    try:
        error = ErrorBody.model_validate_json(reply.body)
    except ValidationError:
        log.error("core_answer_unreadable", request_id=request_id, status=reply.status)  # noqa: TRY400 (the input may be a person's text)
        return _bad_answer(request_id)
    body = error.model_copy(update={"request_id": request_id})
    return Response(body.model_dump_json(), status_code=reply.status, media_type="application/json")


def _bad_answer(request_id: str) -> Response:
    detail = "The core answered with something that is no answer of its own."
    return refused(Refusal(code=errors.CORE_UNAVAILABLE, detail=detail, hint="Its log has the request id."), request_id)


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(from_json(body), dict)
    except ValueError:
        return False
