"""The HTTP transport to model endpoints: event streams are tidied on their way to the SDK."""

from collections.abc import AsyncIterator

import httpx2

from orchestrator.domain.event_stream import EventStreamTidier, EventTooLarge


class EventStreamTransport(httpx2.AsyncHTTPTransport):
    """An ordinary transport, except that bodies of type text/event-stream go through `EventStreamTidier`."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; see the class."""
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/event-stream":
            assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 (what an async transport gives)
            response.stream = _TidyStream(response.stream)
        return response


class _TidyStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        tidier = EventStreamTidier()
        try:
            async for data in self._inner:
                if tidy := tidier.feed(data):
                    yield tidy
        except EventTooLarge as exc:
            raise httpx2.ReadError(str(exc)) from exc
        if rest := tidier.finish():
            yield rest

    async def aclose(self) -> None:
        await self._inner.aclose()
