"""Outside text stays between its tags, whatever it holds."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.outside_text import wrap

CASES = json.loads((Path(__file__).parents[4] / "tests/cases/tool_output.json").read_text(encoding="utf-8"))["cases"]
PATTERN = re.compile(r"<\s*(/?)\s*tool_output(?![A-Za-z0-9_])", re.IGNORECASE)
FRAGMENTS = [
    "<",
    "/",
    "\uff1c",
    "\ufe64",
    "\u200b",
    "\u00ad",
    " ",
    "\n",
    "tool_output",
    "TOOL_",
    "output",
    "\uff4f",
    "\u0338",
    ">",
    "x",
    "_",
    "</tool_output>",
]


def tags(wrapped: str) -> list[str]:
    """The tags that a reader of the folded text sees: '' for an opening one, '/' for a closing one."""
    folded = "".join(character for character in unicodedata.normalize("NFKC", wrapped) if unicodedata.category(character) != "Cf")
    assert re.search(r"</tool_output>$", folded), "nothing follows the closing tag"
    return PATTERN.findall(folded)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_tool_output_case(case: dict[str, Any]) -> None:
    given_, expected = case["input"], case["expect"]
    wrapped = wrap(given_["content"], tool=given_["tool"])
    assert tags(wrapped) == ["", "/"]
    assert all(text in wrapped for text in expected.get("present", []))
    if expected.get("unchanged"):
        assert given_["content"] in wrapped


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join) | st.text(), st.text(max_size=20))
def test_no_text_closes_or_forges_the_tags(content: str, tool: str) -> None:
    assert tags(wrap(content, tool=tool)) == ["", "/"]


@given(st.text(st.characters(exclude_characters="<\uff1c\ufe64"), max_size=100))
def test_text_without_brackets_is_unchanged(content: str) -> None:
    assert content in wrap(content, tool="web_fetch")
