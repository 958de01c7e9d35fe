"""Turning what executors say into what a reply keeps. Whatever they say is untrusted: it was validated before it got here."""

from contracts import errors
from contracts.errors import Refusal
from contracts.javascript import JsResult
from contracts.tool_jobs import ToolResult

EFFECT_UNKNOWN = ToolResult(
    outcome="failed",
    refusal=Refusal(
        code=errors.TOOL_EFFECT_UNKNOWN,
        detail="The tool's service stopped while the call was under way. Whether it took effect is not known.",
        hint="Look at the workspace before you repeat it.",
    ),
)
BAD_RESULT = ToolResult(
    outcome="failed",
    refusal=Refusal(code=errors.TOOL_BAD_RESULT, detail="The tool's service answered with something that is not a result."),
)


def unavailable(service: str) -> ToolResult:
    """The service that would run the call does not answer; the call was withdrawn before anybody began it."""
    return ToolResult(
        outcome="failed",
        refusal=Refusal(
            code=errors.TOOL_UNAVAILABLE,
            detail=f"{service} does not answer, so the call was withdrawn.",
            hint=f"See why with: docker compose logs {service}. Ask again when it is back.",
        ),
    )


def from_javascript(result: JsResult) -> ToolResult:
    """A program's end as a tool result: the value, then what it logged."""
    data = {"value": result.value, "console": result.console, "duration_seconds": result.duration_seconds}
    logged = f"\nconsole:\n{result.console}" if result.console else ""
    if result.outcome == "ok":
        value = "undefined" if result.value is None else result.value
        return ToolResult(outcome="ok", content=value + logged, data=data, truncated=result.truncated)
    refusal = result.refusal or Refusal(code=errors.TOOL_FAILED, detail="The program failed.")
    outcome = {"timed_out": "timed_out", "refused": "refused"}.get(result.outcome, "failed")
    return ToolResult(outcome=outcome, content=logged.strip(), data=data, refusal=refusal, truncated=result.truncated)  # type: ignore[arg-type]  # the three words above
