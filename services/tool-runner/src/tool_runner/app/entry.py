"""The one entry for jobs (`contracts.tool_jobs.JOB_ENTRY`): from a job's text to a call that was answered.

The order is the safety: ticket verified and taken, arguments checked, cancel looked for, and only then does anything
run. A job whose ticket is not accepted is not answered: where to would be its own word.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError
from redis.exceptions import RedisError

from contracts import errors
from contracts.base import Message
from contracts.errors import Refusal
from contracts.tickets import Ticket
from contracts.tool_jobs import Job, ToolResult
from contracts.tools import TOOLS, RunCommand
from policy.tickets import NonceKeeper, accept
from tool_runner.adapters.cancel_stream import Word
from tool_runner.adapters.result_stream import ResultStream
from tool_runner.app.command_tool import CommandTool
from tool_runner.app.file_tools import FileTools
from tool_runner.app.running import Attendant, RunningCall
from tool_runner.domain import results

log: structlog.stdlib.BoundLogger = structlog.get_logger()


@dataclass(frozen=True)
class Services:
    """What running a call takes."""

    key: Ed25519PublicKey
    nonces: NonceKeeper
    clock: Callable[[], int]
    ask: Callable[[Ticket], Word]
    open_stream: Callable[[str], ResultStream]
    attendant: Attendant
    files: FileTools
    commands: CommandTool


def run_job(text: str, services: Services) -> None:
    """Run the call of one job and answer it. It does not raise: whatever happens ends in an answer or a log line."""
    try:
        accepted = _accept(text, services)
    except RedisError as exc:
        log.warning("ticket_not_taken", error=type(exc).__name__)
        return
    if isinstance(accepted, Refusal):
        log.warning("ticket_refused", code=accepted.code)
        return
    job, ticket = accepted
    began = time.monotonic()
    stream = services.open_stream(ticket.stream)
    result = _run(job, ticket, stream, services)
    stream.done(result)
    code = result.refusal.code if result.refusal else None
    seconds = time.monotonic() - began
    log.info("call_ended", call_id=ticket.call_id, tool=ticket.tool, outcome=result.outcome, code=code, seconds=round(seconds, 4))


def _accept(text: str, services: Services) -> tuple[Job, Ticket] | Refusal:
    try:
        job = Job.model_validate_json(text)
    except ValidationError:
        return Refusal(code=errors.TICKET_MALFORMED, detail="The job has no allowed form.")
    ticket = accept(job.ticket, services.key, "tool-runner", services.clock(), services.nonces)
    return ticket if isinstance(ticket, Refusal) else (job, ticket)


def _run(job: Job, ticket: Ticket, stream: ResultStream, services: Services) -> ToolResult:
    """The result of an accepted call, whatever happens on the way."""
    try:
        arguments = _arguments(ticket)
        if isinstance(arguments, Refusal):
            return results.refused(arguments)
        if services.ask(ticket) is not Word.GO_ON:
            return results.stopped("The call was stopped before it began.")
        stream.started()
        call = RunningCall(ticket, stream)
        with services.attendant.watching(call):
            if isinstance(arguments, RunCommand):
                return services.commands.run(job, call)
            return services.files.run(ticket.workspace.name, arguments)
    except RedisError as exc:
        # Nobody could be told that it begins, so it did not.
        log.warning("call_not_begun", call_id=ticket.call_id, error=type(exc).__name__)
        return results.failed(errors.TOOL_UNAVAILABLE, "The queue was lost; the call was not run.", "Try again in a moment.")
    except Exception:
        log.exception("call_failed", call_id=ticket.call_id, tool=ticket.tool)
        return results.INTERNAL


def _arguments(ticket: Ticket) -> Message | Refusal:
    """The arguments as the tool's model has them, if the tool is one that runs here."""
    tool = TOOLS.get(ticket.tool)
    if tool is None or tool.audience != "tool-runner":
        return Refusal(code=errors.TICKET_TOOL, detail=f"{ticket.tool} does not run in the tool-runner.")
    try:
        return tool.arguments.model_validate(ticket.arguments)
    except ValidationError as exc:
        return Refusal(
            code=errors.POLICY_ARGUMENTS, detail=f"The arguments are not what {ticket.tool} takes ({exc.error_count()} wrong)."
        )
