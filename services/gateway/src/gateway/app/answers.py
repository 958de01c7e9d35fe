"""How refusals are sent: JSON of the contract's ErrorBody, under the status of their code."""

from collections.abc import Iterable
from http import HTTPStatus

from starlette.responses import Response

from contracts import errors
from contracts.errors import ErrorBody, Refusal
from gateway.domain.requests import METHODS
from gateway.domain.statuses import status_of

FAULT = Refusal(code=errors.INTERNAL, detail="Something went wrong inside the gateway. Its log has the request id.")


def refused(refusal: Refusal, request_id: str, *, close: bool = False, methods: Iterable[str] = METHODS) -> Response:
    """The answer to a refused request; `close` where its body was not read to the end, `methods` are those that would do."""
    status = status_of(refusal.code)
    body = ErrorBody(code=refusal.code, detail=refusal.detail, hint=refusal.hint, request_id=request_id)
    response = Response(body.model_dump_json(), status_code=status, media_type="application/json")
    if close:
        response.headers["Connection"] = "close"
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(sorted(methods))
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        response.headers["Retry-After"] = "1"
    return response
