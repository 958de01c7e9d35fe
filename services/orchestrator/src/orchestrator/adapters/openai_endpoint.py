"""OpenAI-compatible endpoints, through the official SDK. Whatever comes is checked before it is used."""

import json
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx2
import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk

from contracts import errors
from contracts.base import JsonObject
from contracts.chats import Usage
from contracts.errors import Refusal
from contracts.tools import Tool
from orchestrator.adapters.event_stream_transport import EventStreamTransport
from orchestrator.domain import constrained
from orchestrator.domain.call_assembly import CallAssembly, TooMuch
from orchestrator.domain.conversation import AssistantTurn, Conversation, openai_messages, plain_messages
from orchestrator.domain.errors import ModelError
from orchestrator.domain.pieces import AskedCall, Piece, TextPiece, TurnEnd
from orchestrator.domain.ports import ModelRequest

# More than any model writes in one response; an endpoint that sends more is broken or hostile.
MAX_RESPONSE_CHARACTERS = 4_000_000
MAX_MODELS = 1_000
MAX_MODEL_ID_CHARACTERS = 200
MAX_TOLD_CHARACTERS = 500
TIMEOUT = httpx2.Timeout(120, connect=10)


class OpenAIEndpoint:
    """One endpoint. `tool_calls` says how its models get tools: natively, by constrained JSON, or not at all."""

    def __init__(
        self, base_url: str, tool_calls: Literal["native", "constrained", "none"], default_max_tokens: int | None = None
    ) -> None:
        """Use the API below `base_url` (such as `http://127.0.0.1:11434/v1`). Redirects are not followed; no proxy is used.

        `default_max_tokens` is the limit of a response where a pane sets none; None leaves it to the endpoint.
        """
        self.default_max_tokens = default_max_tokens
        self.tool_calls: Literal["native", "constrained", "none"] = tool_calls
        http = httpx2.AsyncClient(transport=EventStreamTransport(), follow_redirects=False, trust_env=False, timeout=TIMEOUT)
        # The SDK retries 408, 409, 429 and 5xx with back-off before the first byte, never after it.
        self._client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=2, http_client=http)

    async def models(self) -> list[str]:
        """See `ModelEndpoint.models`."""
        try:
            page = await self._client.with_options(max_retries=0, timeout=5).models.list()
        except openai.OpenAIError as exc:
            raise _model_error(exc) from exc
        # The SDK does not check types, and data is null at some endpoints.
        names = [str(model.id) for model in page.data or []]
        return [name for name in names if 0 < len(name) <= MAX_MODEL_ID_CHARACTERS][:MAX_MODELS]

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """See `ModelEndpoint.stream`."""
        if self.tool_calls == "constrained" and request.tools:
            # Small models that are offered tools again after a result call them for ever; so they may only answer then.
            pieces = self._constrained(request, () if _has_tool_result(request.talk) else request.tools)
        else:
            pieces = self._native(request)
        try:
            async for piece in pieces:
                yield piece
        except (openai.OpenAIError, httpx2.HTTPError, json.JSONDecodeError, UnicodeDecodeError, TooMuch) as exc:
            raise _model_error(exc) from exc

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _native(self, request: ModelRequest) -> AsyncIterator[Piece]:
        native = self.tool_calls == "native"
        messages = openai_messages(request.talk) if native else plain_messages(request.talk)
        tools = [_native_tool(tool.name, tool.description, tool.schema()) for tool in request.tools] if native else []
        async for piece in self._respond(request, messages, {"tools": tools} if tools else {}):
            yield piece

    async def _constrained(self, request: ModelRequest, tools: tuple[Tool, ...]) -> AsyncIterator[Piece]:
        """Stream the answer out of the JSON while it grows; at the end, a call if it was one."""
        prompt = "\n\n".join(filter(None, (request.talk.system_prompt, constrained.instructions(tools))))
        messages = plain_messages(Conversation(prompt, request.talk.turns))
        schema = {"name": "reply", "strict": True, "schema": constrained.response_schema(tools)}
        text, shown = "", ""
        async for piece in self._respond(request, messages, {"response_format": {"type": "json_schema", "json_schema": schema}}):
            match piece:
                case TextPiece("text", more):
                    text += more
                    answer = constrained.partial_answer(text)
                    if len(answer) > len(shown):
                        yield TextPiece("text", answer[len(shown) :])
                        shown = answer
                case TurnEnd(interrupted=True) | TurnEnd(cut_off=True):
                    # Half a call is no call: what was shown of an answer stays.
                    yield piece
                case TurnEnd():
                    reply = constrained.read_reply(text)
                    if isinstance(reply, AskedCall):
                        yield TurnEnd((reply,), piece.usage)
                    else:
                        if reply.startswith(shown) and reply != shown:
                            yield TextPiece("text", reply[len(shown) :])
                        yield piece
                case _:
                    yield piece

    async def _respond(self, request: ModelRequest, messages: list[JsonObject], extra: JsonObject) -> AsyncIterator[Piece]:
        settings = {"temperature": request.temperature, "top_p": request.top_p, "max_tokens": request.max_tokens}
        body = {
            "model": request.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            **{name: value for name, value in settings.items() if value is not None},
            **extra,
        }
        async with await self._begin(body) as stream:
            calls, usage, finish, characters = CallAssembly(), Usage(), "", 0
            async for chunk in stream:
                usage = _usage(chunk) or usage
                for choice in (chunk.choices or [])[:1]:
                    finish = choice.finish_reason or finish
                    for piece in _texts(choice.delta):
                        characters += len(piece.text)
                        if characters > MAX_RESPONSE_CHARACTERS:
                            raise TooMuch("The model's response is too long.")
                        yield piece
                    _collect(calls, choice.delta)
            yield TurnEnd(calls.finish() if finish else (), usage, interrupted=not finish, cut_off=finish == "length")

    async def _begin(self, body: JsonObject) -> openai.AsyncStream[ChatCompletionChunk]:
        """Send the request; a model that says it cannot take tools is asked again without."""
        create: Any = self._client.chat.completions.create
        try:
            return await create(**body)  # type: ignore[no-any-return]  # the SDK's overloads do not know of a built body
        except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
            if "tools" not in body or "tool" not in exc.message.lower():
                raise
            return await create(**{name: value for name, value in body.items() if name != "tools"})  # type: ignore[no-any-return]  # as above


def _has_tool_result(talk: Conversation) -> bool:
    """Whether the model has just been given what its calls brought."""
    last = talk.turns[-1] if talk.turns else None
    return isinstance(last, AssistantTurn) and bool(last.calls)


def _texts(delta: Any) -> list[TextPiece]:
    fields = (("reasoning", "reasoning_content"), ("reasoning", "reasoning"), ("text", "content"))
    found = [(channel, getattr(delta, name, None)) for channel, name in fields]
    pieces = [TextPiece(channel, value) for channel, value in found if isinstance(value, str) and value]  # type: ignore[arg-type]  # the two literals above
    return pieces[:2]


def _collect(calls: CallAssembly, delta: Any) -> None:
    for piece in getattr(delta, "tool_calls", None) or []:
        function = getattr(piece, "function", None)
        index, name, provider_id = getattr(piece, "index", None), getattr(function, "name", None), getattr(piece, "id", None)
        calls.add(
            index if isinstance(index, int) else None,
            provider_id if isinstance(provider_id, str) else None,
            name if isinstance(name, str) else None,
            getattr(function, "arguments", None),
        )


def _usage(chunk: Any) -> Usage | None:
    usage = getattr(chunk, "usage", None)
    if usage is None:
        return None
    tokens = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    asked, answered = (value if isinstance(value, int) and value >= 0 else None for value in tokens)
    return Usage(input_tokens=asked, output_tokens=answered)


def _native_tool(name: str, description: str, schema: JsonObject) -> JsonObject:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _model_error(exc: Exception) -> ModelError:
    match exc:
        case openai.APIStatusError() if exc.response.is_redirect:
            refusal = Refusal(
                code=errors.MODEL_REDIRECT,
                detail="The endpoint answered with a redirect, which is not followed.",
                hint="Enter the address that it redirects to.",
            )
        case openai.APIStatusError():
            refusal = Refusal(code=errors.MODEL_REFUSED, detail=f"The endpoint answered {exc.status_code}: {_short(exc.message)}")
        case openai.APIConnectionError():
            refusal = Refusal(
                code=errors.MODEL_UNREACHABLE,
                detail="The model's endpoint cannot be reached, or closed the connection.",
                hint="Is it running? Retry when it is.",
            )
        case openai.APIError():
            refusal = Refusal(code=errors.MODEL_STREAM, detail=f"The endpoint broke off with an error: {_short(_told(exc))}")
        case TooMuch():
            refusal = Refusal(code=errors.MODEL_STREAM, detail=str(exc))
        case httpx2.HTTPError():
            refusal = Refusal(
                code=errors.MODEL_UNREACHABLE, detail="The connection to the model's endpoint broke.", hint="Retry."
            )
        case _:
            refusal = Refusal(code=errors.MODEL_STREAM, detail="The endpoint sent something that is not a part of a reply.")
    return ModelError(refusal)


def _told(exc: openai.APIError) -> str:
    """The endpoint's own words: some send an object with a message, some just text."""
    return exc.body if isinstance(exc.body, str) else exc.message


def _short(text: str) -> str:
    return text if len(text) <= MAX_TOLD_CHARACTERS else text[:MAX_TOLD_CHARACTERS] + "…"
