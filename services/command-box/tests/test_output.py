"""What a command wrote is bounded, and its beginning and end are exact."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from command_box.output import HeadAndTail


@given(st.text(st.characters(codec="utf-8"), max_size=300), st.integers(2, 40), st.lists(st.integers(0, 900), max_size=8))
def test_beginning_and_end_are_kept_however_it_is_cut(text: str, limit: int, places: list[int]) -> None:
    data = text.encode()
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    kept = HeadAndTail(limit)
    live = "".join(kept.feed(data[start:end]) for start, end in itertools.pairwise(edges)) + kept.feed(b"", final=True)
    assert live == text
    assert kept.truncated == (len(text) > limit)
    if kept.truncated:
        head, tail = limit - limit // 2, limit // 2
        assert kept.text() == f"{text[:head]}\n[… {len(text) - limit} characters left out …]\n{text[len(text) - tail :]}"
    else:
        assert kept.text() == text


@given(st.binary(max_size=300), st.integers(2, 40))
def test_any_bytes_are_taken(data: bytes, limit: int) -> None:
    kept = HeadAndTail(limit)
    kept.feed(data)
    kept.feed(b"", final=True)
    kept.text().encode()


def test_an_endless_stream_takes_no_more_memory_than_its_limit() -> None:
    kept = HeadAndTail(1_000)
    for _ in range(10_000):
        kept.feed(b"y" * 1_000)
    assert len(kept.text()) < 1_100
