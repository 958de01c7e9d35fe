"""The HTTP face: `POST /run` and `GET /health` over the js socket (contracts.javascript)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import structlog
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from contracts import errors
from contracts.errors import ErrorBody
from contracts.javascript import JsRequest
from js_sandbox.adapters.pool import Pool
from js_sandbox.app.handlers import RunProgram
from js_sandbox.domain.errors import NoChild

log = structlog.get_logger()

# A program of 200,000 characters, escaped, inside a ticket, in base64.
MAX_BODY_BYTES = 4 * 1024 * 1024

_HEALTH_SECONDS = 2.0


def application(pool: Pool, handler: RunProgram) -> Starlette:
    """The ASGI application; the pool is open while it runs."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        pool.open()
        try:
            yield
        finally:
            await pool.close()

    async def run(request: Request) -> Response:
        body = await _read(request)
        if body is None:
            return _error(413, errors.REQUEST_TOO_LARGE, "The request is too large.")
        try:
            message = JsRequest.model_validate_json(body)
        except ValidationError:
            return _error(400, errors.REQUEST_BODY, "The request is not a JsRequest.")
        try:
            return await _unless_disconnected(request, _answer(handler, message))
        except NoChild as exc:
            return _error(503, exc.code, "JavaScript cannot be run at the moment.", hint="Try again in a few seconds.")

    async def health(_request: Request) -> Response:
        if await pool.is_ready(_HEALTH_SECONDS):
            return Response(status_code=200)
        return _error(503, errors.TOOL_UNAVAILABLE, "No process is ready.")

    return Starlette(routes=[Route("/run", run, methods=["POST"]), Route("/health", health, methods=["GET"])], lifespan=lifespan)


async def _answer(handler: RunProgram, message: JsRequest) -> Response:
    result = await handler.run(message)
    return Response(result.model_dump_json(), media_type="application/json")


async def _unless_disconnected(request: Request, answer: Coroutine[Any, Any, Response]) -> Response:
    """The answer; it is cancelled when the client closes the connection first, which is how a program is stopped."""
    answering = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        log.info("client_left")
        # Nobody reads it. 499 is the customary number for that.
        return Response(status_code=499)
    finally:
        answering.cancel()
        leaving.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _read(request: Request) -> bytes | None:
    """The body, or None when it is larger than any real one."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


def _error(status: int, code: str, detail: str, hint: str = "") -> Response:
    body = ErrorBody(code=code, detail=detail, hint=hint)
    return Response(body.model_dump_json(), status_code=status, media_type="application/json")
