"""However an event stream is cut into pieces, the same events come out."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.event_stream import EventStreamTidier

EVENTS = [b'data: {"a": 1}', b"event: x\ndata: y", b"data: \xe2\x82\xac"]
NOISE = [b": comment", b"data:", b"event: ping\ndata: "]


def tidy(pieces: list[bytes]) -> bytes:
    """All that comes out for these pieces."""
    tidier = EventStreamTidier()
    return b"".join(tidier.feed(piece) for piece in pieces) + tidier.finish()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """`data` cut at `places`."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(
    st.lists(st.sampled_from([*EVENTS, *NOISE]), max_size=6),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
    st.lists(st.integers(0, 500), max_size=8),
)
def test_events_survive_any_cut_and_noise_does_not(items: list[bytes], newline: bytes, mark: bool, places: list[int]) -> None:
    wire = (b"\xef\xbb\xbf" if mark else b"") + b"".join(item.replace(b"\n", newline) + newline * 2 for item in items)
    assert tidy(cut(wire, places)) == b"".join(item + b"\n\n" for item in items if item in EVENTS)


def test_a_last_event_without_its_blank_line_is_kept() -> None:
    assert tidy([b"data: 1\n\ndata: 2"]) == b"data: 1\n\ndata: 2\n\n"
