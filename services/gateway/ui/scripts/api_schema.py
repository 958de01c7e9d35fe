"""Write the JSON Schema of the browser API, from which the app's TypeScript types are made.

    python api_schema.py            writes src/api/schema.gen.json beside this folder
    python api_schema.py --check    exits 1 when that file is not what the contracts say

Needs `contracts` on the path. `npm run types` then makes src/api/types.gen.ts from the schema, so that each of the two
steps can be checked where only its own language is installed.
"""

import json
import sys
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from contracts import api, errors, events
from contracts.base import Message

SCHEMA_FILE = Path(__file__).resolve().parent.parent / "src" / "api" / "schema.gen.json"


class _AnyEvent(BaseModel):
    """Carries the union of events into the schema under a name."""

    event: events.Event


class _Generator(GenerateJsonSchema):
    """What is sent to the app carries every field, those with a default too."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Whether the field is always there."""
        return self.mode == "serialization" or super().field_is_required(field, total)


def models() -> list[tuple[type[BaseModel], Literal["validation", "serialization"]]]:
    """What the app receives (every field present) and what it sends (defaults may be left out)."""
    received: list[type[Message]] = [api.Session, errors.ErrorBody, *(route.reply for route in api.ROUTES)]
    sent: list[type[Message]] = [api.LoginCode, *(route.body for route in api.ROUTES if route.body)]
    pairs: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(_AnyEvent, "serialization")]
    pairs += [(model, "serialization") for model in dict.fromkeys(received)]
    pairs += [(model, "validation") for model in dict.fromkeys(sent)]
    return pairs


def types_only(schema: Any) -> Any:
    """Drop what would only become clutter in TypeScript: the titles of fields (an alias each) and default values."""
    if isinstance(schema, list):
        return [types_only(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A title that is not text is a field of that name.
    named_title = {"title": types_only(schema["title"])} if isinstance(schema.get("title"), dict) else {}
    return named_title | {key: types_only(value) for key, value in schema.items() if key not in ("title", "default")}


def render() -> str:
    """The schema file's content: one definition per message, in the order of their names."""
    _, document = models_json_schema(models(), ref_template="#/$defs/{model}", schema_generator=_Generator)
    definitions = types_only(document["$defs"])
    definitions["Event"] = definitions.pop("_AnyEvent")["properties"]["event"]
    return json.dumps({"$defs": dict(sorted(definitions.items()))}, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schema, or compare it when asked with --check."""
    text = render()
    if "--check" in arguments:
        if SCHEMA_FILE.is_file() and SCHEMA_FILE.read_text(encoding="utf-8") == text:
            return 0
        sys.stderr.write(f"{SCHEMA_FILE.name} is stale: run scripts/api_schema.py, then `npm run types`.\n")
        return 1
    SCHEMA_FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
