"""Orchestrator and js-sandbox: one HTTP request over the js socket for each program.

`POST /run` with the JSON of `JsRequest` answers 200 and the JSON of `JsResult`. `GET /health` answers 200.
Closing the connection stops the program.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import Message
from .errors import Refusal
from .tool_jobs import EncodedTicket

TIMEOUT_SECONDS = 5.0
HEAP_BYTES = 128 * 1024 * 1024
MAX_RESULT_CHARACTERS = 100_000


class JsRequest(Message):
    """Run the program in the ticket's argument `code`."""

    ticket: EncodedTicket


class JsResult(Message):
    """How the program ended.

    `value` is the JSON text of the program's last value (`undefined` has none: None). `console` is what it logged.
    `refusal` is set when `outcome` is not `ok`: a code that starts with `js.` or `ticket.`; for an exception its
    detail is the message with line numbers.
    """

    outcome: Literal["ok", "exception", "forbidden", "timed_out", "memory", "refused"]
    value: Annotated[str, Field(max_length=MAX_RESULT_CHARACTERS)] | None = None
    console: Annotated[str, Field(max_length=MAX_RESULT_CHARACTERS)] = ""
    refusal: Refusal | None = None
    truncated: bool = False
    duration_seconds: float = 0.0
