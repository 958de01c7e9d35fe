"""The one decision: every policy, every approval, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import Refusal
from contracts.tickets import ApprovalClaim, Policy, WorkspaceRef
from policy.decide import Allow, Ask, ToolCall, decide, hash_call

NOW = 1_700_000_000_000
CALL = ToolCall("run_command", {"command": "ls"}, WorkspaceRef(name="a" * 32), network=False)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.text(st.characters(codec="utf-8")), json_values, max_size=4)
calls = st.builds(
    ToolCall,
    st.sampled_from(["run_command", "read_file"]),
    arguments,
    st.builds(WorkspaceRef, name=st.sampled_from(["a" * 32, "b" * 32])),
    st.booleans(),
)


def approval(call_hash: str, expires_at: int = NOW + 1) -> ApprovalClaim:
    """An approval of that hash."""
    return ApprovalClaim(approval_id="c" * 32, call_hash=call_hash, expires_at=expires_at)


@given(calls, st.dictionaries(st.sampled_from(["run_command", "read_file"]), st.sampled_from(["auto", "ask", "off"])))
def test_without_approvals_the_policy_alone_decides(call: ToolCall, policies: dict[str, Policy]) -> None:
    decision = decide(call, policies, (), NOW)
    match policies.get(call.tool):
        case "auto":
            assert decision == Allow()
        case "ask":
            assert decision == Ask(hash_call(call))
        case "off":
            assert isinstance(decision, Refusal)
            assert decision.code == "policy.off"
        case _:
            assert isinstance(decision, Refusal)
            assert decision.code == "policy.unknown_tool"


@given(calls, calls)
def test_an_approval_allows_its_own_call_and_no_other(shown: ToolCall, run: ToolCall) -> None:
    decision = decide(run, {run.tool: "ask"}, (approval(hash_call(shown)),), NOW)
    assert isinstance(decision, Allow) == (shown == run and _same(shown.arguments, run.arguments))


@pytest.mark.parametrize(
    "changed",
    [
        replace(CALL, tool="read_file"),
        replace(CALL, arguments={"command": "ls "}),
        replace(CALL, arguments={"command": "ls", "more": None}),
        replace(CALL, workspace=WorkspaceRef(name="b" * 32)),
        replace(CALL, network=True),
    ],
    ids=["tool", "argument", "extra argument", "workspace", "network"],
)
def test_any_change_after_the_approval_asks_again(changed: ToolCall) -> None:
    assert isinstance(decide(changed, {changed.tool: "ask"}, (approval(hash_call(CALL)),), NOW), Ask)


def test_an_expired_approval_is_refused_with_its_reason() -> None:
    decision = decide(CALL, {"run_command": "ask"}, (approval(hash_call(CALL), NOW),), NOW)
    assert isinstance(decision, Refusal)
    assert decision.code == "approval.expired"


def test_off_wins_over_an_approval() -> None:
    decision = decide(CALL, {"run_command": "off"}, (approval(hash_call(CALL)),), NOW)
    assert isinstance(decision, Refusal)


def _same(first: object, second: object) -> bool:
    """Equal as JSON: Python takes True for 1, JSON does not."""
    return repr(first) == repr(second) or sorted(map(repr, first.items())) == sorted(map(repr, second.items()))  # type: ignore[attr-defined]
