"""A real OpenAI-compatible endpoint on loopback whose responses a test writes beforehand."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any


def text(*pieces: str) -> list[dict[str, Any]]:
    """A response of text."""
    return [{"content": piece} for piece in pieces]


def call(name: str, arguments: object, call_id: str = "t1") -> list[dict[str, Any]]:
    """A response that asks for one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": function}]}]


class ScriptedModel:
    """Answers each request with the next response; `hold` keeps a response open after its pieces until it is set."""

    def __init__(self, responses: Sequence[list[dict[str, Any]]]) -> None:
        """`responses` are lists of deltas."""
        self._responses = list(responses)
        self.requests: list[dict[str, Any]] = []
        self.hold: asyncio.Event | None = None
        self.cut = False
        self.closed_by_client = asyncio.Event()
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["ScriptedModel"]:
        """Serve while the context is open."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((int(line.split(":")[1]) for line in head.lower().splitlines() if line.startswith("content-length:")), 0)
        self.requests.append(json.loads(await reader.readexactly(length)))
        deltas = self._responses.pop(0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for delta in deltas:
            writer.write(_chunk(delta, None))
            await writer.drain()
        if self.hold is not None:
            gone = asyncio.create_task(reader.read(1))
            held = asyncio.create_task(self.hold.wait())
            await asyncio.wait({gone, held}, return_when=asyncio.FIRST_COMPLETED)
            held.cancel()
            if gone.done():
                self.closed_by_client.set()
            gone.cancel()
        if not self.cut:
            writer.write(
                _chunk({}, "stop") + b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\ndata: [DONE]\n\n'
            )
        writer.close()


def _chunk(delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode()
