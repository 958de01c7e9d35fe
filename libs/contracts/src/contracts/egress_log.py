"""Egress to orchestrator: one line of JSON on the decisions socket for each thing a call asked of the network.

The orchestrator believes nothing in it but for the call whose egress ticket it issued: a line that names an unknown
call is dropped.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import Id, Message, UnixMilliseconds
from .errors import Code

MAX_LINE_BYTES = 4_096


class NetworkDecision(Message):
    """A call asked for a host and port; this is what became of it.

    A request without a valid ticket has no call to belong to and is only counted by egress, never sent.
    """

    kind: Literal["network-decision"] = "network-decision"
    call_id: Id
    time: UnixMilliseconds
    method: Literal["CONNECT", "HTTP"]
    host: Annotated[str, Field(max_length=253)]
    port: Annotated[int, Field(ge=0, le=65_535)]
    outcome: Literal["connected", "refused", "failed"]
    code: Code | None = None
    address: Annotated[str, Field(max_length=45)] | None = None
