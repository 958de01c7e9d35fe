"""Orchestrator and tool-runner: a job goes in by an RQ queue, entries come back on one Redis stream.

A job is queued by the name `JOB_ENTRY` with one argument, the JSON text of `Job`. The runner answers on the stream
`redis_keys.result_stream(ticket.stream)`; each entry of the stream has the single field `entry`, the JSON text of one
of `StreamEntry`. The last entry is a `Done`; a runner sends an `Alive` at least every `ALIVE_SECONDS` while it works.
Whatever comes back is untrusted: its size and form are checked by the reader.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from .base import JsonObject, Message
from .errors import Refusal
from .tickets import MAX_TICKET_BYTES

JOB_ENTRY = "tool_runner.app.entry.run_job"
QUEUES = ("files", "fetch", "commands")
QueueName = Literal["files", "fetch", "commands"]

ALIVE_SECONDS = 2.0
MAX_ENTRY_BYTES = 1_000_000
MAX_ENTRIES = 20_000

EncodedTicket = Annotated[str, Field(max_length=MAX_TICKET_BYTES * 4 // 3 + 128)]


class Job(Message):
    """One call for the tool-runner, with the tickets it hands on to those that help with it.

    `ticket` is for the audience tool-runner; `command_ticket` for command-box, with the same call and arguments;
    `egress_ticket` is the call's proxy credential, absent while the chat's network switch is off.
    """

    kind: Literal["job"] = "job"
    ticket: EncodedTicket
    command_ticket: EncodedTicket | None = None
    egress_ticket: EncodedTicket | None = None


class Started(Message):
    """The runner has verified the ticket and begins."""

    kind: Literal["started"] = "started"


class Output(Message):
    """A piece of what a running command wrote, as it came."""

    kind: Literal["output"] = "output"
    stream: Literal["stdout", "stderr"]
    text: Annotated[str, Field(max_length=65_536)]


class Alive(Message):
    """Nothing new, but the runner is at work."""

    kind: Literal["alive"] = "alive"


class ToolResult(Message):
    """How a call ended. `content` is what the model is told; `data` what a screen shows beside it (see `tools`)."""

    outcome: Literal["ok", "refused", "failed", "stopped", "timed_out"]
    content: Annotated[str, Field(max_length=400_000)] = ""
    data: JsonObject = Field(default_factory=dict)
    refusal: Refusal | None = None
    truncated: bool = False


class Done(Message):
    """The call has ended and nothing of it is alive any more, unless `result` says otherwise."""

    kind: Literal["done"] = "done"
    result: ToolResult


StreamEntry = Annotated[Started | Output | Alive | Done, Field(discriminator="kind")]
stream_entry: TypeAdapter[Started | Output | Alive | Done] = TypeAdapter(StreamEntry)
