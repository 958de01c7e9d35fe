"""Refusals read the same for a program and for a person."""

import json

import pytest

from contracts import errors
from contracts.errors import Refusal
from egress.domain.answers import refusal_response, status_of


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (errors.TICKET_MISSING, 407),
        (errors.TICKET_EXPIRED, 407),
        (errors.NETWORK_OFF, 403),
        (errors.POLICY_OFF, 403),
        (errors.ADDRESS_PRIVATE, 403),
        (errors.HOST_BLOCKED, 403),
        (errors.URL_MALFORMED, 403),
        (errors.HOST_UNRESOLVED, 502),
        (errors.HOST_UNREACHABLE, 502),
        (errors.HOST_TIMED_OUT, 504),
        (errors.NETWORK_BUSY, 503),
        (errors.REQUEST_MALFORMED, 400),
        (errors.REQUEST_TOO_LARGE, 431),
    ],
)
def test_each_code_has_its_status(code: str, status: int) -> None:
    assert status_of(code) == status


def test_an_answer_carries_code_detail_and_hint() -> None:
    answer = refusal_response(Refusal(code=errors.TICKET_MISSING, detail="Ünknown.", hint="Ask."))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 407 ")
    assert b"\r\nX-Switchbox-Code: ticket.missing\r\n" in head + b"\r\n"
    assert b"\r\nProxy-Authenticate: Basic " in head
    assert f"\r\nContent-Length: {len(body)}\r\n".encode() in head
    assert json.loads(body) == {"code": "ticket.missing", "detail": "Ünknown.", "hint": "Ask.", "request_id": ""}


def test_a_detail_cannot_add_a_header() -> None:
    head, _, _ = refusal_response(Refusal(code=errors.HOST_BLOCKED, detail="a\r\nSet-Cookie: b")).partition(b"\r\n\r\n")
    assert b"Set-Cookie" not in head
