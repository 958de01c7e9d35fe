"""Text in pages, folders as lines: nothing is lost at a page's edge, nothing hostile in a name gets through as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.tool_jobs import MAX_ENTRY_BYTES, Done
from contracts.tools import MAX_LISTED, MAX_READ_CHARACTERS
from tool_runner.domain import file_results
from tool_runner.domain.file_results import lines_of_listing, page_of_text, visible
from workspace import Entry, Listing, Written


@given(st.text(max_size=300))
def test_the_pages_of_a_file_are_the_file(text: str) -> None:
    text = text.replace("\0", "")
    pieces, offset = [], 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_results, "MAX_READ_CHARACTERS", 50)
        while True:
            result = page_of_text("a", text.encode(), offset)
            following = result.data.get("next_offset")
            pieces.append(result.content.rpartition("\n\n[Cut here")[0] if following else result.content)
            assert result.truncated is (following is not None)
            if following is None:
                break
            offset = following
    assert "".join(pieces) == (text or "(The file is empty.)")


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfea\0", b"\x89PNG\r\n", "é".encode("latin-1")])
def test_what_is_no_text_is_refused_with_its_size(content: bytes) -> None:
    result = page_of_text("a.bin", content, 0)
    assert result.outcome == "refused"
    assert result.refusal is not None
    assert result.refusal.code == errors.FILE_BINARY
    assert f"{len(content)} bytes" in result.content


def test_an_offset_beyond_the_end_is_refused() -> None:
    assert page_of_text("a", b"abc", 4).outcome == "refused"
    assert page_of_text("a", b"abc", 3).content == "(Nothing more.)"


def test_the_largest_page_fits_into_an_entry() -> None:
    for character in ("\x01", "日", "😀", '"'):
        result = page_of_text("a", (character * (MAX_READ_CHARACTERS + 1)).encode(), 0)
        assert len(Done(result=result).model_dump_json().encode()) <= MAX_ENTRY_BYTES


def test_a_listing_has_a_line_for_each_entry() -> None:
    entries = (
        Entry("d", "folder", 4096, 1.5),
        Entry("f", "file", 1234, 1.5),
        Entry("l", "link", 3, 1.5),
        Entry("p", "other", 0, 1.5),
    )
    result = lines_of_listing(".", Listing(entries, complete=True))
    assert result.content == "d/\nf  1,234 bytes\nl  (a link)\np  (neither a file nor a folder)"
    assert result.data["entries"][1] == {"name": "f", "kind": "file", "size_bytes": 1234, "modified": 1500}
    assert not result.truncated


def test_the_largest_listing_fits_into_an_entry_and_says_that_it_was_cut() -> None:
    for name in ("\x01" * 255, "日" * 85, "\udc80" * 255):
        listing = Listing(tuple(Entry(name, "file", 10**12, 1.0) for _ in range(MAX_LISTED)), complete=True)
        result = lines_of_listing(".", listing)
        assert len(Done(result=result).model_dump_json().encode()) <= MAX_ENTRY_BYTES
        assert result.truncated
        assert not result.data["complete"]


@given(st.text(st.characters(), max_size=40))
def test_a_name_is_shown_without_anything_that_cannot_be_seen(name: str) -> None:
    assert visible(name).isprintable()
    visible(name).encode()


def test_an_empty_folder_says_so() -> None:
    assert lines_of_listing(".", Listing((), complete=True)).content == "(The folder is empty.)"


def test_a_write_says_what_it_replaced() -> None:
    assert file_results.written("a", Written(5, None)).content == "Wrote 5 bytes to a. It is new."
    assert file_results.written("a", Written(5, 1_000)).content == "Wrote 5 bytes to a. It replaced 1,000 bytes."
