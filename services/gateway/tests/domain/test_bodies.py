import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.api import ChatChange, Empty, NewMessage
from contracts.errors import Refusal
from gateway.domain.bodies import canonical, read_body


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        (b"", "JSON"),
        (b'{"text":', "JSON"),
        (b"[" * 200_000, "recursion"),
        (b'{"text": "x", "extra": ' + b'{"a":' * 5_000, "recursion"),
        (b'{"text": "x", "extra": 1}', "extra"),
        (b'{"text": 1}', "text"),
        (b'{"text": ""}', "text"),
        (b'{"text": "x", "pane_ids": ["../etc"]}', "pane_ids.0"),
        (b'{"text": "\\ud800"}', "JSON"),
        (b'{"text": "\xff"}', "JSON"),
        (b"null", "object"),
        (b'"text"', "object"),
    ],
)
def test_a_bad_body_is_refused_and_told_what_is_wrong_where(raw: bytes, where: str) -> None:
    refusal = read_body(NewMessage, raw)
    assert isinstance(refusal, Refusal)
    assert refusal.code == errors.REQUEST_BODY
    assert where in refusal.detail
    assert len(refusal.detail) < 2_000


def test_the_refusal_does_not_repeat_what_was_written() -> None:
    refusal = read_body(NewMessage, b'{"text": {"my": "private words"}}')
    assert isinstance(refusal, Refusal)
    assert "private" not in refusal.detail


def test_what_is_passed_on_is_what_was_read() -> None:
    """A field that comes twice, or was not sent, cannot be read otherwise by the core."""
    body = read_body(ChatChange, b'{"title": "first", "title": "second"}')
    assert isinstance(body, ChatChange)
    assert json.loads(canonical(body)) == {"title": "second"}
    nothing = read_body(Empty, b"{}")
    assert isinstance(nothing, Empty)
    assert canonical(nothing) == b"{}"


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_json_is_either_a_message_or_refused(value: object) -> None:
    read = read_body(NewMessage, json.dumps(value).encode())
    assert isinstance(read, Refusal) or json.loads(canonical(read)) == value
