"""The judge of request bodies: what the route's model does not describe is refused, with what is wrong where."""

from pydantic import ValidationError

from contracts import errors
from contracts.base import Message
from contracts.errors import Refusal

_MAX_PROBLEMS = 5
_MAX_PLACE_CHARACTERS = 120


def read_body[Model: Message](model: type[Model], raw: bytes) -> Model | Refusal:
    """The body as `model`, or why it is refused. Strict, unknown fields forbidden, nesting bounded by the JSON parser (200)."""
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        return Refusal(code=errors.REQUEST_BODY, detail=_describe(error), hint="Nothing was changed.")


def canonical(message: Message) -> bytes:
    """The JSON to pass on: what was validated and nothing else, so that no second parser can read it otherwise.

    Fields that were not sent stay absent, since in a change absence means 'as it is'.
    """
    return message.model_dump_json(exclude_unset=True).encode()


def _describe(error: ValidationError) -> str:
    """What is wrong where, without the input itself: a message may hold what a person wrote."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [_line(".".join(str(step) for step in problem["loc"]), problem["msg"]) for problem in problems[:_MAX_PROBLEMS]]
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"and {len(problems) - _MAX_PROBLEMS} more")
    return "; ".join(lines)


def _line(place: str, message: str) -> str:
    place = place.encode("ascii", "backslashreplace").decode()[:_MAX_PLACE_CHARACTERS]
    return f"{place}: {message[:200]}" if place else message[:200]
