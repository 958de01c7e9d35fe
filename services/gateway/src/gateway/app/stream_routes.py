"""The two routes whose answers are not JSON: the event stream of a tab, and the files of a workspace."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from urllib.parse import quote

import structlog
from fastapi import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from contracts import errors
from contracts.errors import Refusal
from gateway.adapters.core import Core, CoreReply, CoreStream
from gateway.app.answers import refused
from gateway.app.core_routes import NO_SUCH_ID, Endpoint, passed_on, unavailable
from gateway.domain.errors import CoreUnavailableError
from gateway.domain.files import CONTENT_SECURITY_POLICY, HEAD_BYTES, content_disposition, media_type

_ID = re.compile("[0-9a-f]{32}")
# Event ids are at most 2**53 - 1, so that JavaScript can hold them.
_NUMBER = re.compile("[0-9]{1,16}")
_MAX_ERROR_BYTES = 64 * 1024

log = structlog.get_logger()


class Relay(StreamingResponse):
    """An answer that is passed on as it comes. However it ends, what holds the connection to the core is closed."""

    def __init__(self, chunks: AsyncIterator[bytes], stack: AsyncExitStack, headers: Mapping[str, str]) -> None:
        """`stack` is closed after the last byte, or when the client has gone."""
        super().__init__(chunks, headers=headers)
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        async with self._stack:
            await super().__call__(scope, receive, send)


def events_endpoint(core: Core) -> Endpoint:
    """`GET /api/events?chat=<id>&after=<n>`: the core's events, byte for byte, each as soon as it comes.

    The header Last-Event-ID, which a browser sends when it connects again, goes before `after`. When the core goes away
    the stream ends; when the client goes, so does the connection to the core.
    """

    async def handle(request: Request) -> Response:
        request_id = request.state.request_id
        chat = request.query_params.get("chat", "")
        after = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        if set(request.query_params) - {"chat", "after"} or not _ID.fullmatch(chat) or not _NUMBER.fullmatch(after):
            detail = "The address has to name a chat (?chat=<id>) and may say after which event to go on (&after=<number>)."
            return refused(Refusal(code=errors.REQUEST_BODY, detail=detail), request_id)
        opened = await _open(core, f"/api/events?chat={chat}&after={after}", "text/event-stream", request_id)
        if isinstance(opened, Response):
            return opened
        stream, stack = opened
        headers = {"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        return Relay(_until_broken(stream.chunks, request_id), stack, headers)

    return handle


def file_endpoint(core: Core) -> Endpoint:
    """`GET /api/chats/{chat_id}/files/{path}[?download=1]`: a workspace file, as what it is and never as a document."""

    async def handle(request: Request) -> Response:
        request_id = request.state.request_id
        chat_id, path = request.path_params["chat_id"], request.path_params["path"]
        download = request.query_params.get("download", "0")
        if not _ID.fullmatch(chat_id) or not path:
            return refused(NO_SUCH_ID, request_id)
        if set(request.query_params) - {"download"} or download not in {"0", "1"}:
            return refused(
                Refusal(code=errors.REQUEST_BODY, detail="The address may say ?download=1 and nothing else."), request_id
            )
        target = f"/api/chats/{chat_id}/files/{quote(path, safe='/')}"
        opened = await _open(core, target, "application/octet-stream", request_id)
        if isinstance(opened, Response):
            return opened
        stream, stack = opened
        try:
            head, rest = await _peek(stream.chunks, HEAD_BYTES)
        except CoreUnavailableError as exc:
            await stack.aclose()
            return unavailable(exc, request_id, changes=False)
        headers = {
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Content-Disposition": content_disposition(path, download=download == "1"),
            # As a header: Starlette would add a charset to a text type that is given otherwise.
            "Content-Type": media_type(head),
        }
        if stream.size is not None:
            headers["Content-Length"] = str(stream.size)
        return Relay(rest, stack, headers)

    return handle


async def _open(core: Core, target: str, expected: str, request_id: str) -> tuple[CoreStream, AsyncExitStack] | Response:
    """The core's stream and what closes it, or the answer to give instead."""
    stack = AsyncExitStack()
    try:
        stream = await stack.enter_async_context(core.stream(target, request_id))
        if stream.status == 200 and stream.media_type == expected:  # noqa: PLR2004 (OK)
            return stream, stack
        body, _ = await _peek(stream.chunks, _MAX_ERROR_BYTES)
    except CoreUnavailableError as exc:
        await stack.aclose()
        return unavailable(exc, request_id, changes=False)
    except BaseException:
        await stack.aclose()
        raise
    await stack.aclose()
    status = stream.status if stream.status >= 400 else 502  # noqa: PLR2004 (the first status that is an error; bad gateway)
    return passed_on(CoreReply(status, body), request_id)


async def _peek(chunks: AsyncIterator[bytes], wanted: int) -> tuple[bytes, AsyncIterator[bytes]]:
    """At least the first `wanted` bytes (fewer where there are no more), and everything, those included."""
    seen = bytearray()
    async for chunk in chunks:
        seen += chunk
        if len(seen) >= wanted:
            break

    async def everything() -> AsyncIterator[bytes]:
        if seen:
            yield bytes(seen)
        async for chunk in chunks:
            yield chunk

    return bytes(seen[:wanted]), everything()


async def _until_broken(chunks: AsyncIterator[bytes], request_id: str) -> AsyncIterator[bytes]:
    """Events end where the core breaks off, and the browser connects again.

    A file, on the other hand, breaks off towards the browser as well, so that it is not taken for whole.
    """
    try:
        async for chunk in chunks:
            yield chunk
    except CoreUnavailableError as exc:
        log.warning("event_stream_broke", request_id=request_id, reason=exc.reason)
