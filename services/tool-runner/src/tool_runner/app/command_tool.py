"""run_command: handed on to command-box, its output relayed as it comes, its end turned into a result."""

import structlog

from contracts import errors
from contracts.commands import OUTPUT_CHARACTERS, Exited, Refused, RunRequest
from contracts.errors import Refusal
from contracts.tool_jobs import Job, Output, ToolResult
from tool_runner.adapters.command_box import CommandBox, CommandRun, CutOff, NotStarted
from tool_runner.app.running import RunningCall, StopReason
from tool_runner.domain import results
from tool_runner.domain.command_results import cut_off, result_of_command

log: structlog.stdlib.BoundLogger = structlog.get_logger()


class CommandTool:
    """Runs the commands of all chats on one command-box."""

    def __init__(self, box: CommandBox) -> None:
        """`box` judges the command's own ticket; nothing of it is decided here."""
        self._box = box

    def run(self, job: Job, call: RunningCall) -> ToolResult:
        """Run the command of `job`; the call's switch stops it."""
        if job.command_ticket is None:
            return results.failed(errors.TICKET_MALFORMED, "The job has no ticket for command-box.")
        request = RunRequest(ticket=job.command_ticket, egress_ticket=job.egress_ticket)
        written = _Written()
        try:
            with self._box.run(request) as run, call.switch.stopping_by(run.stop):
                return _follow(run, call, written)
        except NotStarted as exc:
            log.warning("command_not_started", call_id=call.ticket.call_id, error=str(exc))
            return results.failed(
                errors.TOOL_UNAVAILABLE, "command-box is not there; the command was not run.", "Try again in a moment."
            )
        except CutOff as exc:
            log.info("command_cut_off", call_id=call.ticket.call_id, reason=call.switch.reason, error=str(exc))
            return cut_off(written.stdout, written.stderr, _CUT_OFF[call.switch.reason])


def _follow(run: CommandRun, call: RunningCall, written: "_Written") -> ToolResult:
    for entry in run.entries():
        match entry:
            case Output():
                written.add(entry)
                call.stream.output(entry)
            case Refused(refusal=refusal):
                return _refused(refusal)
            case Exited():
                return result_of_command(entry)
            case _:
                # It is alive; the attendant says so to whoever waits.
                pass
    return results.BAD_ANSWER


def _refused(refusal: Refusal) -> ToolResult:
    """command-box says "refused" too of a command that failed to start, or whose end it lost sight of."""
    if refusal.code.startswith("tool."):
        return results.failed(refusal.code, refusal.detail, refusal.hint)
    return results.refused(refusal)


# Closing the connection stops the command; it does not tell us what the command had done until then.
_CUT_OFF: dict[StopReason | None, ToolResult] = {
    None: results.EFFECT_UNKNOWN,
    StopReason.LOST: results.EFFECT_UNKNOWN,
    StopReason.CANCELLED: results.stopped("The command was stopped. command-box ends everything it started."),
    StopReason.SHUTDOWN: results.stopped("The command was stopped: the tool-runner is shutting down."),
}


class _Written:
    """The beginning of what the command wrote, for the case that its end is never told."""

    def __init__(self) -> None:
        self.stdout = ""
        self.stderr = ""

    def add(self, output: Output) -> None:
        if output.stream == "stdout":
            self.stdout += output.text[: OUTPUT_CHARACTERS - len(self.stdout)]
        else:
            self.stderr += output.text[: OUTPUT_CHARACTERS - len(self.stderr)]
