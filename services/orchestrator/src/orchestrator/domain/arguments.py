"""Reading the arguments of a tool call: one JSON object, nothing guessed."""

import json
from typing import Any

from contracts.base import JsonObject

MAX_ARGUMENT_CHARACTERS = 24 * 1024 * 1024


class BadArguments(ValueError):
    """What the model sent is not one JSON object."""


def parse_arguments(text: str) -> JsonObject:
    """The object that `text` says; empty text is no arguments.

    Raises:
        BadArguments: the text is too long, not JSON, not an object, holds a key twice (what an approval card shows and
            what runs could differ) or a number that JSON does not have.
    """
    if not text.strip():
        return {}
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        raise BadArguments("The arguments are too long.")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (json.JSONDecodeError, RecursionError) as exc:
        raise BadArguments(f"The arguments are not JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise BadArguments("The arguments are not a JSON object.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise BadArguments("The arguments hold the same key twice.")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise BadArguments(f"The arguments hold {name}, which JSON does not have.")
