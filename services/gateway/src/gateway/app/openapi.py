"""The OpenAPI document of the API, made from the same table as the routes and from the contracts' own models."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from contracts.api import EVENTS_PATH, FILE_PATH, ROUTES, Empty, LoginCode, Route, Session
from contracts.base import Message
from contracts.errors import ErrorBody
from gateway.app.core_routes import parameters
from gateway.domain.sessions import HEADER

_SESSION_ROUTES = (
    Route("log_in", "POST", "/api/session", Session, LoginCode),
    Route("log_out", "DELETE", "/api/session", Empty),
)
_REFERENCES = "#/components/schemas/{model}"
_IDS = {"type": "string", "pattern": "^[0-9a-f]{32}$"}

Json = dict[str, Any]
Key = tuple[type[BaseModel], JsonSchemaMode]
References = Mapping[Any, Any]


def document() -> str:
    """The document as JSON text."""
    routes = (*ROUTES, *_SESSION_ROUTES)
    models: list[Key] = [(ErrorBody, "serialization")]
    models += [(route.reply, "serialization") for route in routes]
    models += [(route.body, "validation") for route in routes if route.body is not None]
    references, schemas = models_json_schema(models, ref_template=_REFERENCES)
    failure = _json_content("Why it was refused, or what went wrong.", references[ErrorBody, "serialization"])
    paths: Json = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, references, failure)
    paths[EVENTS_PATH] = {"get": _events(failure)}
    paths[FILE_PATH.replace(":path", "")] = {"get": _file(failure)}
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Switchbox", "version": "1"},
            "paths": paths,
            "components": {
                "schemas": schemas["$defs"],
                "securitySchemes": {"session": {"type": "apiKey", "in": "header", "name": HEADER.decode().title()}},
            },
            "security": [{"session": []}],
        }
    )


def _operation(route: Route, references: References, failure: Json) -> Json:
    operation: Json = {
        "operationId": route.name,
        "parameters": [
            _in_path(name, {"type": "string", "pattern": f"^{pattern.pattern}$"})
            for name, pattern in parameters(route.path).items()
        ],
        "responses": {
            "200": _json_content(_first_line(route.reply), references[route.reply, "serialization"]),
            "default": failure,
        },
    }
    if route.body is not None:
        schema = references[route.body, "validation"]
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if route.name == "log_in":
        operation["security"] = []
    return operation


def _events(failure: Json) -> Json:
    return {
        "operationId": "events",
        "parameters": [
            {"name": "chat", "in": "query", "required": True, "schema": _IDS},
            {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}},
            {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer", "minimum": 0}},
        ],
        "responses": {
            "200": {"description": "Server-Sent Events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            "default": failure,
        },
    }


def _file(failure: Json) -> Json:
    return {
        "operationId": "read_file",
        "parameters": [
            _in_path("chat_id", _IDS),
            _in_path("path", {"type": "string"}),
            {"name": "download", "in": "query", "schema": {"enum": ["0", "1"]}},
        ],
        "responses": {
            "200": {"description": "The file, as an image or as plain text.", "content": {"text/plain": {}, "image/*": {}}},
            "default": failure,
        },
    }


def _in_path(name: str, schema: Json) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _json_content(description: str, schema: Any) -> Json:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _first_line(model: type[Message]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]
