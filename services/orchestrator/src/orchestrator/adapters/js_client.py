"""Programs for the js-sandbox, over its Unix socket."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx2
from pydantic import ValidationError

import local_socket
from contracts import errors
from contracts.errors import Refusal
from contracts.javascript import TIMEOUT_SECONDS, JsRequest, JsResult
from contracts.tickets import Ticket
from contracts.tool_jobs import ToolResult
from contracts.tools import Tool
from orchestrator.domain import results
from orchestrator.domain.ports import OnOutput

MAX_ANSWER_BYTES = 2_000_000
# A program may wait for its turn when eight others run.
WAIT_SECONDS = 2 * TIMEOUT_SECONDS + 2

BROKE_OFF = ToolResult(
    outcome="failed",
    refusal=Refusal(
        code=errors.TOOL_FAILED,
        detail="js-sandbox stopped while the program ran. A program has no effects outside, so nothing else happened.",
        hint="Ask again.",
    ),
)


class JsClient:
    """Runs calls on the js-sandbox; see `domain.ports.Executor`. Cancelling closes the connection, which stops the program."""

    def __init__(self, socket: Path, sign: Callable[[Ticket], str]) -> None:
        """`sign` makes a ticket's form on the wire."""
        self._http = local_socket.client(socket, timeout_seconds=WAIT_SECONDS)
        self._sign = sign

    async def run(self, _tool: Tool, ticket: Ticket, _on_output: OnOutput) -> ToolResult:
        """See `Executor.run`."""
        request = JsRequest(ticket=self._sign(ticket))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                answer = await self._post(request.model_dump_json())
        except httpx2.ConnectError:
            return results.unavailable("js-sandbox")
        except (httpx2.HTTPError, TimeoutError):
            return BROKE_OFF
        if answer is None:
            return results.BAD_RESULT
        try:
            return results.from_javascript(JsResult.model_validate_json(answer))
        except ValidationError:
            return results.BAD_RESULT

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _post(self, body: str) -> bytes | None:
        """The answer's bytes, or None when it is no answer to a run."""
        headers = {"Content-Type": "application/json"}
        async with self._http.stream("POST", "/run", content=body, headers=headers) as response:
            received = bytearray()
            async for piece in response.aiter_raw():
                received += piece
                if len(received) > MAX_ANSWER_BYTES:
                    return None
            return bytes(received) if response.status_code == httpx2.codes.OK else None
