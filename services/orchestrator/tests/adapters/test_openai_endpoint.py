"""Recorded streams, played by a real server over a real socket, come out as the cases say."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from contracts.base import JsonObject
from orchestrator.adapters.openai_endpoint import OpenAIEndpoint
from orchestrator.domain.conversation import Conversation, UserTurn
from orchestrator.domain.errors import ModelError
from orchestrator.domain.pieces import TextPiece, TurnEnd
from orchestrator.domain.ports import ModelRequest

CASES = json.loads((Path(__file__).parents[4] / "tests/cases/model_streams.json").read_text(encoding="utf-8"))["cases"]
OPENAI_CASES = [pytest.param(case["input"], case["expect"], id=case["id"]) for case in CASES if case["input"]["api"] == "openai"]
REQUEST = ModelRequest(model="m", talk=Conversation("", (UserTurn("hello"),)))


async def play(pieces: list[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request with these pieces, then close."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    writer.close()


async def ask(pieces: list[bytes]) -> tuple[str, TurnEnd | ModelError]:
    """The text and the end of a reply streamed in these pieces."""
    server = await asyncio.start_server(lambda r, w: play(pieces, r, w), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = OpenAIEndpoint(f"http://127.0.0.1:{port}/v1", "native")
    text = ""
    try:
        async for piece in endpoint.stream(REQUEST):
            if isinstance(piece, TextPiece):
                text += piece.text
            else:
                return text, piece
    except ModelError as exc:
        return text, exc
    finally:
        await endpoint.close()
        server.close()
    raise AssertionError("the stream ended without an end")


def encoded(chunk: str) -> bytes:
    """The bytes of one chunk of a case."""
    return bytes.fromhex(chunk.removeprefix("hex:")) if chunk.startswith("hex:") else chunk.encode()


def described(end: TurnEnd) -> list[JsonObject]:
    """The calls as the cases write them."""
    return [
        {
            "id": call.provider_id,
            "name": call.name,
            **({"arguments_error": True} if call.arguments is None else {"arguments": call.arguments}),
        }
        for call in end.calls
    ]


@pytest.mark.parametrize(("given", "expected"), OPENAI_CASES)
def test_stream_case(given: dict[str, Any], expected: dict[str, Any]) -> None:
    text, end = asyncio.run(ask([encoded(chunk) for chunk in given["chunks"]]))
    assert text == expected["text"]
    if expected["end"] == "error":
        assert isinstance(end, ModelError)
        assert all(words in end.refusal.detail for words in expected.get("error_contains", []))
        return
    assert isinstance(end, TurnEnd)
    assert end.interrupted == (expected["end"] == "interrupted")
    assert described(end) == expected["tool_calls"]


def test_all_openai_cases_are_loaded() -> None:
    assert len(OPENAI_CASES) == 27
