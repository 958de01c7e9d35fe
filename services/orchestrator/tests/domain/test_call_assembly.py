"""Calls come out as they were asked, however an endpoint cuts and numbers them."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.arguments import BadArguments, parse_arguments
from orchestrator.domain.call_assembly import CallAssembly, TooMuch

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=3)


@given(st.lists(objects, min_size=1, max_size=4), st.sampled_from(["own", "zero", "none"]), st.integers(1, 7))
def test_pieces_of_any_length_and_numbering_make_the_same_calls(
    wanted: list[dict[str, object]], numbering: str, length: int
) -> None:
    assembly = CallAssembly()
    for number, arguments in enumerate(wanted):
        index = {"own": number, "zero": 0, "none": None}[numbering]
        assembly.add(index, f"t{number}", "tool", None)
        text = json.dumps(arguments)
        for start in range(0, len(text), length):
            assembly.add(index, None, None, text[start : start + length])
    assert [call.arguments for call in assembly.finish()] == wanted


@given(st.text())
def test_any_text_is_an_object_or_refused(text: str) -> None:
    with contextlib.suppress(BadArguments):
        assert isinstance(parse_arguments(text), dict)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', "[1]", '{"a":NaN}', '{"a":', "[" * 100_000], ids=["twice", "list", "NaN", "cut", "deep"]
)
def test_what_is_not_one_plain_object_is_refused(text: str) -> None:
    with pytest.raises(BadArguments):
        parse_arguments(text)


def test_an_endless_stream_of_calls_is_ended() -> None:
    assembly = CallAssembly()
    with pytest.raises(TooMuch):
        for number in range(1_000):
            assembly.add(None, f"t{number}", "tool", "{}")
