"""Tools for models that cannot call them: the reply is JSON, either an answer or one call (`response_format`).

The endpoint holds the model to the schema, so the text is `{"answer": "..."}` or `{"tool": "...", "arguments": {...}}`.
The answer is shown while it grows.
"""

from collections.abc import Sequence

from pydantic_core import from_json

from contracts.base import JsonObject
from contracts.tools import Tool
from orchestrator.domain.arguments import BadArguments, parse_arguments
from orchestrator.domain.pieces import AskedCall


def response_schema(tools: Sequence[Tool]) -> JsonObject:
    """The JSON Schema of one reply: an answer, or a call of one of `tools`."""
    answer = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {"anyOf": [answer, *(_call_schema(tool) for tool in tools)]}


def instructions(tools: Sequence[Tool]) -> str:
    """What the model is told of the form, in the system prompt."""
    lines = [f"- {tool.name}: {tool.description} Arguments: {', '.join(tool.schema()['properties'])}." for tool in tools]
    answer = 'Reply with one JSON object. To answer the question: {"answer": ...}.'
    if not tools:
        return answer
    return f'{answer} Only when one of these tools is needed to answer: {{"tool": ..., "arguments": ...}}.\n' + "\n".join(lines)


def partial_answer(text: str) -> str:
    """The answer so far in a reply that is still growing; empty while there is none, or when it is a call."""
    try:
        value = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return ""
    answer = value.get("answer") if isinstance(value, dict) else None
    return answer if isinstance(answer, str) else ""


def read_reply(text: str) -> str | AskedCall:
    """A whole reply: the answer's text or the call. What is neither is taken as the answer it may have been meant as."""
    try:
        value = parse_arguments(text)
    except BadArguments:
        return partial_answer(text) or text
    if isinstance(value.get("tool"), str) and isinstance(value.get("arguments"), dict):
        return AskedCall("call_0", value["tool"], value["arguments"])
    answer = value.get("answer")
    return answer if isinstance(answer, str) else text


def _call_schema(tool: Tool) -> JsonObject:
    return {
        "type": "object",
        "properties": {"tool": {"const": tool.name}, "arguments": tool.schema()},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
