"""What a model's stream is made of, whatever the endpoint."""

from dataclasses import dataclass
from typing import Literal

from contracts.base import JsonObject
from contracts.chats import Usage


@dataclass(frozen=True)
class TextPiece:
    """Some more text, or reasoning where the endpoint gives it."""

    channel: Literal["text", "reasoning"]
    text: str


@dataclass(frozen=True)
class AskedCall:
    """A tool call that the model asked for. `arguments` is None when what came is not one JSON object: see `problem`."""

    provider_id: str
    name: str
    arguments: JsonObject | None
    problem: str = ""


UNKNOWN_USAGE = Usage()


@dataclass(frozen=True)
class TurnEnd:
    """The end of one model response.

    It is interrupted when the endpoint closed before saying that it was done, and cut off when it reached the limit of
    tokens.
    """

    calls: tuple[AskedCall, ...] = ()
    usage: Usage = UNKNOWN_USAGE
    interrupted: bool = False
    cut_off: bool = False


Piece = TextPiece | TurnEnd
