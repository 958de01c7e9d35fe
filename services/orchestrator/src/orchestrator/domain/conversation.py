"""From a chat's history to the messages a model gets: what this pane was asked and what it answered, nothing of others."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contracts.base import JsonObject
from contracts.chats import CallPart, Exchange, Part, Reply
from orchestrator.domain.outside_text import SYSTEM_NOTE, wrap

CONTINUE = "Go on exactly where you stopped. Do not repeat anything that is already there."


@dataclass(frozen=True)
class AssistantTurn:
    """One response of the model: its text, and the calls it asked for with what they gave."""

    text: str
    calls: tuple[CallPart, ...] = ()


@dataclass(frozen=True)
class UserTurn:
    """A person's message."""

    text: str


@dataclass(frozen=True)
class Conversation:
    """What one pane's model is told."""

    system_prompt: str
    turns: tuple[UserTurn | AssistantTurn, ...] = field(default_factory=tuple)


def conversation(
    system_prompt: str, history: Sequence[Exchange], pane_id: str, parts: Sequence[Part], *, resume: bool = False
) -> Conversation:
    """The conversation of one pane up to the reply in progress.

    `history` ends with the exchange being answered; `parts` is what the reply in progress has so far. Of earlier
    exchanges the pane's last reply counts; an exchange that this pane has no reply to is left out. `resume` asks the
    model to go on with text that was cut off.
    """
    turns: list[UserTurn | AssistantTurn] = []
    for exchange in history[:-1]:
        reply = _last_reply(exchange.replies, pane_id)
        if reply is not None:
            turns.append(UserTurn(exchange.text))
            turns.extend(_assistant_turns(reply.parts))
    turns.append(UserTurn(history[-1].text))
    turns.extend(_assistant_turns(parts))
    if resume and isinstance(turns[-1], AssistantTurn) and not turns[-1].calls:
        turns.append(UserTurn(CONTINUE))
    return Conversation(system_prompt, tuple(turns))


def openai_messages(talk: Conversation) -> list[JsonObject]:
    """The messages of an OpenAI-compatible request, tool calls in their native form."""
    messages = _system(talk)
    for turn in talk.turns:
        match turn:
            case UserTurn(text):
                messages.append({"role": "user", "content": text})
            case AssistantTurn(text, ()):
                messages.append({"role": "assistant", "content": text})
            case AssistantTurn(text, calls):
                messages.append({"role": "assistant", "content": text, "tool_calls": [_native_call(call) for call in calls]})
                messages.extend({"role": "tool", "tool_call_id": call.call_id, "content": told(call)} for call in calls)
    return messages


def plain_messages(talk: Conversation) -> list[JsonObject]:
    """The same for a model that knows no tool calls: they are told as text."""
    messages = _system(talk)
    for turn in talk.turns:
        match turn:
            case UserTurn(text):
                messages.append({"role": "user", "content": text})
            case AssistantTurn(text, calls):
                if text:
                    messages.append({"role": "assistant", "content": text})
                for call in calls:
                    asked = json.dumps({"tool": call.tool, "arguments": call.arguments}, ensure_ascii=False)
                    messages.append({"role": "assistant", "content": asked})
                    messages.append({"role": "user", "content": f"Result of {call.tool}:\n{told(call)}"})
    return messages


def told(call: CallPart) -> str:
    """What the model is told of a call: its result, or why there is none."""
    content = wrap(call.content, tool=call.tool) if call.outside and call.content else call.content
    if call.refusal is None:
        return content
    outcome = (
        "The person declined this call." if call.state == "declined" else f"Not done ({call.refusal.code}): {call.refusal.detail}"
    )
    return f"{outcome}\n{content}".strip()


def _last_reply(replies: Iterable[Reply], pane_id: str) -> Reply | None:
    mine = [reply for reply in replies if reply.pane_id == pane_id and reply.parts]
    return max(mine, key=lambda reply: reply.attempt, default=None)


def _assistant_turns(parts: Iterable[Part]) -> list[AssistantTurn]:
    """Text, then the calls of one response that follow it, make one turn; reasoning is not sent back."""
    turns: list[AssistantTurn] = []
    text = ""
    calls: list[CallPart] = []
    for part in parts:
        if part.kind == "reasoning":
            continue
        if calls and not (isinstance(part, CallPart) and part.turn == calls[-1].turn):
            turns.append(AssistantTurn(text, tuple(calls)))
            text, calls = "", []
        if isinstance(part, CallPart):
            calls.append(part)
        else:
            text += part.text
    if text or calls:
        turns.append(AssistantTurn(text, tuple(calls)))
    return turns


def _system(talk: Conversation) -> list[JsonObject]:
    outside = any(call.outside for turn in talk.turns if isinstance(turn, AssistantTurn) for call in turn.calls)
    prompt = "\n\n".join(filter(None, (talk.system_prompt, SYSTEM_NOTE if outside else "")))
    return [{"role": "system", "content": prompt}] if prompt else []


def _native_call(call: CallPart) -> JsonObject:
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
    }
