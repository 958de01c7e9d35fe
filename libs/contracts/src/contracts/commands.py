"""Tool-runner and command-box: one HTTP request over the command socket for each command.

`POST /run` with the JSON of `RunRequest` answers 200 and a stream of lines, each the JSON of one `CommandEntry`; the
last is an `Exited` or a `Refused`. A ticket that is not accepted answers with `Refused` as the only line. Closing the
connection stops the command and everything it started. `GET /health` answers 200.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from .base import Message
from .errors import Refusal
from .tool_jobs import Alive, EncodedTicket, Output

# Characters kept of each stream, half from its beginning and half from its end.
OUTPUT_CHARACTERS = 20_000


class RunRequest(Message):
    """Run the command of this ticket. The egress ticket, if any, becomes the proxy credential in its environment."""

    ticket: EncodedTicket
    egress_ticket: EncodedTicket | None = None


class Exited(Message):
    """The command has ended and everything it started was killed.

    `exit_code` is the shell's: 128 + n after signal n; None when it was killed by us. `survivors` is the number of
    its processes that could not be killed within five seconds (0 in all known cases).
    """

    kind: Literal["exited"] = "exited"
    ending: Literal["exited", "timed_out", "stopped"]
    exit_code: Annotated[int, Field(ge=0, le=255)] | None
    stdout: str
    stderr: str
    truncated: bool
    duration_seconds: float
    survivors: int = 0


class Refused(Message):
    """The command was not started."""

    kind: Literal["refused"] = "refused"
    refusal: Refusal


CommandEntry = Annotated[Output | Alive | Exited | Refused, Field(discriminator="kind")]
command_entry: TypeAdapter[Output | Alive | Exited | Refused] = TypeAdapter(CommandEntry)
