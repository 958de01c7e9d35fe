"""One value, one form; two values, two forms."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.canonical import NotCanonical, canonical_hash, canonical_json

text = st.text(st.characters(codec="utf-8"))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(text, values, max_size=4)


@given(objects)
def test_the_form_says_the_value_whatever_the_order_of_its_keys(value: dict[str, object]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert canonical_json(value) == canonical_json(backwards)
    assert json.loads(canonical_json(value)) == value


@given(objects, objects)
def test_different_values_have_different_hashes(first: dict[str, object], second: dict[str, object]) -> None:
    assert (canonical_hash(first) == canonical_hash(second)) == (
        json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    )


@pytest.mark.parametrize(
    "value", [2**53 + 1, math.nan, math.inf, "\ud800"], ids=["too large", "NaN", "infinite", "half a character"]
)
def test_what_json_cannot_say_exactly_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical_json({"value": value})
