"""How a call ended, in the form that the model and the screen get."""

from contracts import errors
from contracts.base import JsonObject
from contracts.errors import Refusal
from contracts.tool_jobs import ToolResult

TRY_AGAIN = "Look at the workspace before you repeat it."


def done(content: str, data: JsonObject, *, truncated: bool = False) -> ToolResult:
    """It did what was asked."""
    return ToolResult(outcome="ok", content=content, data=data, truncated=truncated)


def refused(refusal: Refusal) -> ToolResult:
    """It was not done, and nothing was changed."""
    return ToolResult(outcome="refused", content=sentence(refusal), refusal=refusal)


def failed(code: str, detail: str, hint: str = "") -> ToolResult:
    """It went wrong."""
    refusal = Refusal(code=code, detail=detail, hint=hint)
    return ToolResult(outcome="failed", content=sentence(refusal), refusal=refusal)


def stopped(detail: str) -> ToolResult:
    """It was stopped by a person, or because the reply was."""
    refusal = Refusal(code=errors.TOOL_STOPPED, detail=detail)
    return ToolResult(outcome="stopped", content=sentence(refusal), refusal=refusal)


def sentence(refusal: Refusal) -> str:
    """What a model is told of a refusal."""
    return f"{refusal.detail} {refusal.hint}".strip()


INTERNAL = failed(errors.TOOL_FAILED, "The tool failed inside; its log says more.", TRY_AGAIN)
EFFECT_UNKNOWN = failed(errors.TOOL_EFFECT_UNKNOWN, "The call was cut off; whether it took effect is not known.", TRY_AGAIN)
TOO_LARGE = failed(errors.TOOL_RESULT_TOO_LARGE, "The result is too large to be passed on.", "Ask for less at once.")
BAD_ANSWER = failed(errors.TOOL_BAD_RESULT, "command-box answered in a form that is not allowed.", TRY_AGAIN)
