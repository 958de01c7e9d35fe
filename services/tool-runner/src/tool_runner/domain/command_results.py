"""What a model is told of a command that ended. What command-box says is untrusted here: it is cut, never believed."""

from typing import Literal

from contracts import errors
from contracts.base import JsonObject
from contracts.commands import Exited
from contracts.errors import Refusal
from contracts.tool_jobs import ToolResult

# command-box keeps OUTPUT_CHARACTERS of each stream, unless it is set up otherwise; more than this is not passed on.
MAX_STREAM_CHARACTERS = 60_000
MAX_SECONDS = 100_000


def result_of_command(exited: Exited) -> ToolResult:
    """A command that ran to its end is `ok` whatever its exit code: the model reads the code."""
    stdout, stderr = exited.stdout[:MAX_STREAM_CHARACTERS], exited.stderr[:MAX_STREAM_CHARACTERS]
    truncated = exited.truncated or len(exited.stdout) > len(stdout) or len(exited.stderr) > len(stderr)
    data: JsonObject = {
        "exit_code": exited.exit_code,
        "stdout": stdout,
        "stderr": stderr,
        "duration_seconds": _seconds(exited),
        "survivors": exited.survivors,
    }
    content = "\n".join(filter(None, (_head(exited), _block("stdout", stdout), _block("stderr", stderr))))
    outcome: Literal["ok", "timed_out", "stopped"] = "ok" if exited.ending == "exited" else exited.ending
    return ToolResult(outcome=outcome, content=content, data=data, refusal=_refusal(exited), truncated=truncated)


def _seconds(exited: Exited) -> float:
    """JSON can say Infinity and NaN to us, but we may not say it to others."""
    return round(exited.duration_seconds, 3) if 0 <= exited.duration_seconds <= MAX_SECONDS else 0.0


def _head(exited: Exited) -> str:
    head = {
        "exited": f"Exit code: {exited.exit_code}",
        "timed_out": f"Stopped: it ran longer than its limit ({_seconds(exited):.1f} s).",
        "stopped": "Stopped before it ended.",
    }[exited.ending]
    if exited.survivors:
        head += f" {exited.survivors} of its processes could not be killed and may still run."
    return head if exited.stdout or exited.stderr else f"{head}\n(It wrote nothing.)"


def _block(name: str, text: str) -> str:
    return f"{name}:\n{text}" if text else ""


def _refusal(exited: Exited) -> Refusal | None:
    match exited.ending:
        case "exited":
            return None
        case "timed_out":
            return Refusal(
                code=errors.TOOL_TIMED_OUT,
                detail=f"The command was stopped after {_seconds(exited):.1f} seconds, with everything it started.",
                hint="Let it do less at once.",
            )
        case "stopped":
            return Refusal(code=errors.TOOL_STOPPED, detail="The command was stopped, with everything it started.")


def cut_off(stdout: str, stderr: str, result: ToolResult) -> ToolResult:
    """`result` with what a command had written before its end was lost sight of."""
    shown = "\n".join(filter(None, (_block("stdout", stdout), _block("stderr", stderr))))
    if not shown:
        return result
    data: JsonObject = {"exit_code": None, "stdout": stdout, "stderr": stderr}
    return result.model_copy(
        update={"content": f"{result.content}\nUntil then it wrote:\n{shown}", "data": data, "truncated": True}
    )
