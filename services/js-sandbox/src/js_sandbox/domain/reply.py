"""From what a child said, or how it died, to the answer for the orchestrator. A child's word is untrusted."""

import signal
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from contracts import errors
from contracts.base import Message
from contracts.errors import Refusal
from contracts.javascript import HEAP_BYTES, MAX_RESULT_CHARACTERS, JsResult

MAX_DETAIL_CHARACTERS = 2_000
# An account of an exception holds the source line, an underline of its length, and the stack.
MAX_ACCOUNT_CHARACTERS = 1_000_000

# V8's name for a program evaluated by mini-racer, and the name of our own prelude in stack frames.
_PROGRAM = "<anonymous>"
_PRELUDE = "switchbox:prelude"
_FRAME = "    at "
_MAX_DIGITS = 9
_NO_CODE_FROM_TEXT = "EvalError: Code generation from strings disallowed"
_NO_BUFFER = "RangeError: Array buffer allocation failed"
_TOP_LEVEL_AWAIT = "SyntaxError: await is only valid"


class ChildReply(Message):
    """What a child may say: see js_sandbox.adapters.program.Ending."""

    kind: Literal["value", "thrown", "timed_out", "memory"]
    text: Annotated[str, Field(max_length=MAX_ACCOUNT_CHARACTERS)] | None
    console: Annotated[str, Field(max_length=MAX_RESULT_CHARACTERS)]
    truncated: bool


def parse_reply(body: bytes) -> ChildReply | None:
    """The reply in a child's frame; None if it is none."""
    try:
        return ChildReply.model_validate_json(body)
    except ValidationError:
        return None


def result_of_reply(reply: ChildReply, seconds: float) -> JsResult:
    """The result that a child reported; `seconds` is the time limit it ran under."""
    match reply.kind:
        case "value":
            value = reply.text if reply.text is None else reply.text[:MAX_RESULT_CHARACTERS]
            return JsResult(outcome="ok", value=value, console=reply.console, truncated=reply.truncated)
        case "timed_out":
            return timed_out(seconds, reply.console, truncated=reply.truncated)
        case "memory":
            return out_of_memory(reply.console, truncated=reply.truncated)
        case "thrown":
            return _result_of_exception(explain(reply.text or ""), reply)


def _result_of_exception(refusal: Refusal, reply: ChildReply) -> JsResult:
    if refusal.detail.startswith(_NO_BUFFER):
        return out_of_memory(reply.console, truncated=reply.truncated)
    outcome: Literal["forbidden", "exception"] = "forbidden" if refusal.code == errors.JS_FORBIDDEN else "exception"
    return JsResult(outcome=outcome, console=reply.console, refusal=refusal, truncated=reply.truncated)


def result_of_death(exit_code: int) -> JsResult:
    """The result when a child died without a word that can be used.

    V8 traps when it cannot get memory, the C and C++ libraries abort, and the kernel kills when the container's memory
    is at its end; SIGXCPU is the processor limit. Anything else is a fault of the engine, or a program that broke it.
    """
    match -exit_code:
        case signal.SIGTRAP | signal.SIGABRT | signal.SIGKILL:
            return out_of_memory()
        case signal.SIGXCPU:
            return JsResult(
                outcome="timed_out",
                refusal=Refusal(code=errors.JS_TIMED_OUT, detail="The program used up its processor time."),
            )
    return JsResult(
        outcome="exception",
        refusal=Refusal(
            code=errors.JS_EXCEPTION, detail=f"The JavaScript engine stopped without an answer (exit code {exit_code})."
        ),
    )


def timed_out(seconds: float, console: str = "", *, truncated: bool = False) -> JsResult:
    """The result of a program that did not end in time."""
    return JsResult(
        outcome="timed_out",
        console=console,
        truncated=truncated,
        refusal=Refusal(
            code=errors.JS_TIMED_OUT,
            detail=f"The program did not end within {seconds:g} seconds and was stopped.",
            hint="Do less in one call, or check for a loop or a timer that never ends.",
        ),
    )


def out_of_memory(console: str = "", *, truncated: bool = False) -> JsResult:
    """The result of a program that needed more memory than it may have."""
    return JsResult(
        outcome="memory",
        console=console,
        truncated=truncated,
        refusal=Refusal(
            code=errors.JS_MEMORY,
            detail=f"The program needed more than {HEAP_BYTES // 1024**2} MB of memory and was stopped.",
            hint="Keep less at once: process in pieces.",
        ),
    )


def explain(account: str) -> Refusal:
    """The refusal for V8's account of an exception: its message and where it happened.

    An account is `place:line: message`, the source line, an underline, and for errors an empty line and the stack. A
    program may have written any of that, so this is a presentation, not a judgement; nothing but the text depends on
    it, save that a program can claim the code js.forbidden for itself.
    """
    message, line = _head(account)
    frames = _frames(account)
    if not frames and line is not None:
        message += f" (line {line})"
    detail = "\n".join([message, *frames])
    if len(detail) > MAX_DETAIL_CHARACTERS:
        detail = detail[: MAX_DETAIL_CHARACTERS - 1] + "…"
    if message.startswith(_NO_CODE_FROM_TEXT):
        return Refusal(
            code=errors.JS_FORBIDDEN, detail=detail, hint="eval, Function and the like are off: write the code itself."
        )
    hint = ""
    if message.startswith(_TOP_LEVEL_AWAIT):
        hint = "The program is a script: wrap it in (async () => { … })() and return the value from there."
    return Refusal(code=errors.JS_EXCEPTION, detail=detail, hint=hint)


def _head(account: str) -> tuple[str, int | None]:
    """The message without its place, and the line of the program, if it is one of the program."""
    lines = account.split("\n")
    underline = next((index for index, line in enumerate(lines) if index > 1 and line.strip(" ") and not line.strip(" ^")), None)
    message = "\n".join(lines[: underline - 1] if underline else lines[:1])
    for place in (_PROGRAM, _PRELUDE):
        number, colon, text = message.removeprefix(f"{place}:").partition(": ")
        if message.startswith(place) and colon and number.isascii() and number.isdigit():
            return text, int(number[:_MAX_DIGITS]) if place == _PROGRAM else None
    return message, None


def _frames(account: str) -> list[str]:
    """The stack frames that are in the program, its place written as `line`."""
    frames = [line for line in account.split("\n") if line.startswith(_FRAME) and _PRELUDE not in line]
    return [frame.replace(f"{_PROGRAM}:", "line ") for frame in frames]
