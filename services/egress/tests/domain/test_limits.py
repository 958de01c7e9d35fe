"""Counting what is open."""

from egress.domain.limits import Limits, OpenCalls


def test_a_call_has_its_own_limit_and_all_calls_have_one() -> None:
    calls = OpenCalls(Limits(connections=3, connections_per_call=2))
    assert [calls.enter("a"), calls.enter("a"), calls.enter("a")] == [True, True, False]
    assert [calls.enter("b"), calls.enter("b")] == [True, False]
    calls.leave("a")
    assert calls.enter("b")


def test_a_call_that_left_is_forgotten() -> None:
    calls = OpenCalls(Limits())
    calls.enter("a")
    calls.leave("a")
    assert not calls._open  # that nothing is kept cannot be seen from outside
