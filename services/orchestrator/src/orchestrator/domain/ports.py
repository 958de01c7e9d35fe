"""What the core needs of the outside, as the use cases see it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from contracts.tickets import Ticket
from contracts.tool_jobs import Output, ToolResult
from contracts.tools import Tool
from orchestrator.domain.conversation import Conversation
from orchestrator.domain.pieces import Piece

# Unix time in milliseconds.
Clock = Callable[[], int]
OnOutput = Callable[[Output], None]


@dataclass(frozen=True)
class ModelRequest:
    """One response of a model to a conversation. `tools` is empty where the model is to answer without."""

    model: str
    talk: Conversation
    tools: tuple[Tool, ...] = ()
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


class ModelEndpoint(Protocol):
    """An endpoint that models are asked through."""

    tool_calls: Literal["native", "constrained", "none"]
    default_max_tokens: int | None

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """The response in pieces; the last is the one `TurnEnd`. Closing the iterator ends the request.

        Raises:
            ModelError: the endpoint could not be reached, refused, or broke off with an error.
        """

    async def models(self) -> list[str]:
        """The ids of the models it offers.

        Raises:
            ModelError: it could not be asked.
        """

    async def close(self) -> None:
        """Close all connections."""


class Executor(Protocol):
    """Whoever runs a call: the queue to the tool-runner, or the js-sandbox."""

    async def run(self, tool: Tool, ticket: Ticket, on_output: OnOutput) -> ToolResult:
        """Run the call to its end. Being cancelled stops the call, and returns only when it has stopped or 5 s have passed."""


class EpochSource(Protocol):
    """Where tickets get their epoch."""

    def current(self) -> Awaitable[int]:
        """The epoch of tickets signed now."""
