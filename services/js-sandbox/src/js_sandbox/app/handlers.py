"""What the service does for the orchestrator: run the program that a ticket carries, once."""

import asyncio
import json
import time
from collections.abc import Callable

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError

from contracts import errors
from contracts.errors import Refusal
from contracts.javascript import TIMEOUT_SECONDS, JsRequest, JsResult
from contracts.tickets import Ticket
from contracts.tools import RunJs
from js_sandbox.adapters.pool import Pool
from js_sandbox.domain.reply import parse_reply, result_of_death, result_of_reply, timed_out
from policy.tickets import NonceKeeper, accept

log = structlog.get_logger()

TOOL = "run_js"
# A child reports by itself that the time is over, with what the console had; this much later it is killed.
_GRACE_SECONDS = 0.5


class RunProgram:
    """The use case behind `POST /run`."""

    def __init__(self, pool: Pool, key: Ed25519PublicKey, nonces: NonceKeeper, clock: Callable[[], int]) -> None:
        """`clock` gives Unix time in ms."""
        self._pool = pool
        self._key = key
        self._nonces = nonces
        self._clock = clock

    async def run(self, request: JsRequest) -> JsResult:
        """Judge the ticket, then run its program in a process of its own. Cancelling this kills the process.

        Raises:
            NoChild: there is no process to run it in.
        """
        ticket = accept(request.ticket, self._key, "js-sandbox", self._clock(), self._nonces)
        if isinstance(ticket, Refusal):
            return self._refused(ticket)
        program = _program(ticket)
        if isinstance(program, Refusal):
            return self._refused(program)
        child = await self._pool.take()
        try:
            if self._clock() >= ticket.deadline:
                return self._refused(
                    Refusal(code=errors.TICKET_EXPIRED, detail="The call waited for its turn until its deadline had passed.")
                )
            began = time.monotonic()
            seconds = min(ticket.timeout_seconds, TIMEOUT_SECONDS)
            work = json.dumps({"code": program.code, "seconds": seconds}).encode()
            try:
                answer = await child.ask(work, seconds + _GRACE_SECONDS)
            except TimeoutError:
                result = timed_out(seconds)
            else:
                reply = None if answer is None else parse_reply(answer)
                if reply is None:
                    self._pool.discard(child)
                    result = result_of_death(await asyncio.shield(child.ended))
                else:
                    result = result_of_reply(reply, seconds)
        finally:
            self._pool.discard(child)
        result = result.model_copy(update={"duration_seconds": round(time.monotonic() - began, 6)})
        log.info("program_ended", call_id=ticket.call_id, outcome=result.outcome, duration_seconds=result.duration_seconds)
        return result

    @staticmethod
    def _refused(refusal: Refusal) -> JsResult:
        log.warning("program_refused", code=refusal.code)
        return JsResult(outcome="refused", refusal=refusal)


def _program(ticket: Ticket) -> RunJs | Refusal:
    if ticket.tool != TOOL:
        return Refusal(code=errors.TICKET_TOOL, detail=f"The ticket is for {ticket.tool}, not for {TOOL}.")
    try:
        return RunJs.model_validate(ticket.arguments)
    except ValidationError as exc:
        return Refusal(
            code=errors.POLICY_ARGUMENTS,
            detail=f"The arguments of {TOOL} are not what its schema says: {exc.error_count()} faults.",
        )
