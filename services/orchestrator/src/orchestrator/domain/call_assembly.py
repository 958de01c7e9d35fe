"""Putting tool calls together from the pieces in which OpenAI-compatible endpoints stream them.

Endpoints differ: some leave the index out, some give every call the index 0, some send null for no arguments or an
object where text is usual. A piece belongs to a new call when it brings an id that is not the open call's; otherwise
to the call of its index; otherwise to the last call.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from orchestrator.domain.arguments import BadArguments, parse_arguments
from orchestrator.domain.pieces import AskedCall

MAX_CALLS = 64
MAX_CHARACTERS = 24 * 1024 * 1024


class TooMuch(ValueError):
    """The endpoint sent more calls or longer arguments than any reply needs."""


@dataclass
class _Building:
    index: int | None
    provider_id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallAssembly:
    """Collects pieces; `finish` gives the calls in the order in which they began."""

    def __init__(self) -> None:
        """Begin with no call."""
        self._calls: list[_Building] = []
        self._characters = 0

    def add(self, index: int | None, provider_id: str | None, name: str | None, arguments: Any) -> None:
        """Take one piece.

        Raises:
            TooMuch: there are more than MAX_CALLS calls or MAX_CHARACTERS characters.
        """
        call = self._find(index, provider_id)
        if call is None:
            if len(self._calls) >= MAX_CALLS:
                raise TooMuch(f"The model asked for more than {MAX_CALLS} tools at once.")
            call = _Building(index, provider_id or "")
            self._calls.append(call)
        if name:
            call.name = name
        if arguments is not None:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self._characters += len(text)
            if self._characters > MAX_CHARACTERS:
                raise TooMuch("The model's tool arguments are too long.")
            call.arguments.append(text)

    def finish(self) -> tuple[AskedCall, ...]:
        """The calls; one whose arguments are not a JSON object says so and must not be run."""
        return tuple(_asked(position, call) for position, call in enumerate(self._calls))

    def _find(self, index: int | None, provider_id: str | None) -> _Building | None:
        if provider_id:
            return next((call for call in self._calls if call.provider_id == provider_id), None)
        if index is not None:
            return next((call for call in reversed(self._calls) if call.index == index), None)
        return self._calls[-1] if self._calls else None


def _asked(position: int, call: _Building) -> AskedCall:
    provider_id = call.provider_id or f"call_{position}"
    try:
        return AskedCall(provider_id, call.name, parse_arguments("".join(call.arguments)))
    except BadArguments as exc:
        return AskedCall(provider_id, call.name, None, str(exc))
