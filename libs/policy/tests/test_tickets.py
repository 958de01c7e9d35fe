"""A ticket runs one call, for one executor, once, in time: every other use is refused with its reason."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import Refusal
from contracts.tickets import ApprovalClaim, Ticket, WorkspaceRef
from policy.decide import ToolCall, hash_call
from policy.tickets import MemoryNonceKeeper, accept, sign, verify

NOW = 1_700_000_000_000
KEY = Ed25519PrivateKey.generate()
TICKET = Ticket(
    audience="tool-runner",
    call_id="1" * 32,
    chat_id="2" * 32,
    tool="read_file",
    arguments={"path": "a.txt"},
    workspace=WorkspaceRef(name="3" * 32),
    policy="auto",
    policy_hash="4" * 64,
    stream="5" * 32,
    nonce="6" * 32,
    epoch=7,
    issued_at=NOW,
    deadline=NOW + 60_000,
    timeout_seconds=20,
)
ENCODED = sign(TICKET, KEY)


def with_changes(**changes: Any) -> Ticket:
    """The ticket, changed."""
    return TICKET.model_copy(update=changes)


def code(answer: Ticket | Refusal) -> str:
    """The refusal's code; a ticket fails the test."""
    assert isinstance(answer, Refusal)
    return answer.code


def accepted(encoded: str, now: int = NOW, keeper: MemoryNonceKeeper | None = None) -> Ticket | Refusal:
    """Accept as the tool-runner does."""
    return accept(encoded, KEY.public_key(), "tool-runner", now, keeper or MemoryNonceKeeper(lambda: now))


def test_a_good_ticket_is_read_back_whole() -> None:
    assert accepted(ENCODED) == TICKET


@given(st.integers(0, len(ENCODED) - 1), st.characters(codec="ascii"))
def test_any_changed_character_is_refused(place: int, character: str) -> None:
    changed = ENCODED[:place] + character + ENCODED[place + 1 :]
    answer = accepted(changed)
    # The last character of each part holds bits that base64 does not use; such a twin says the same ticket.
    assert isinstance(answer, Refusal) or answer == TICKET


@given(st.text(max_size=200))
def test_what_is_no_ticket_is_refused_and_never_an_error(text: str) -> None:
    assert code(accepted(text)) in ("ticket.malformed", "ticket.signature")


def test_another_key_is_refused() -> None:
    assert code(accepted(sign(TICKET, Ed25519PrivateKey.generate()))) == "ticket.signature"


def test_a_signature_over_the_bare_payload_is_refused() -> None:
    payload = TICKET.model_dump_json().encode()
    parts = (base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (payload, KEY.sign(payload)))
    assert code(accepted(".".join(parts))) == "ticket.signature"


def test_another_audience_is_refused() -> None:
    assert code(verify(ENCODED, KEY.public_key(), "command-box", NOW)) == "ticket.audience"


@pytest.mark.parametrize(("now", "refused"), [(NOW + 59_999, False), (NOW + 60_000, True)], ids=["before", "at"])
def test_the_deadline_is_the_first_moment_too_late(now: int, refused: bool) -> None:
    assert isinstance(verify(ENCODED, KEY.public_key(), "tool-runner", now), Refusal) == refused


def test_a_ticket_is_used_once() -> None:
    keeper = MemoryNonceKeeper(lambda: NOW)
    assert accepted(ENCODED, keeper=keeper) == TICKET
    assert code(accepted(ENCODED, keeper=keeper)) == "ticket.used"


def test_a_ticket_from_before_the_keeper_began_is_refused() -> None:
    assert code(accepted(ENCODED, keeper=MemoryNonceKeeper(lambda: NOW + 1))) == "ticket.epoch"


def test_a_ticket_of_an_earlier_epoch_is_refused() -> None:
    keeper = MemoryNonceKeeper(lambda: NOW)
    assert isinstance(accepted(sign(with_changes(epoch=8, nonce="8" * 32), KEY), keeper=keeper), Ticket)
    assert code(accepted(ENCODED, keeper=keeper)) == "ticket.epoch"


def test_policy_is_judged_again_from_the_ticket() -> None:
    assert code(accepted(sign(with_changes(policy="off"), KEY))) == "policy.off"
    assert code(accepted(sign(with_changes(policy="ask"), KEY))) == "approval.mismatch"


def test_an_approval_must_be_for_the_arguments_that_run() -> None:
    call = ToolCall("read_file", {"path": "a.txt"}, TICKET.workspace, network=False)
    claim = ApprovalClaim(approval_id="a" * 32, call_hash=hash_call(call), expires_at=NOW + 1)
    good = with_changes(policy="ask", approval=claim)
    assert accepted(sign(good, KEY)) == good
    other = good.model_copy(update={"arguments": {"path": "b.txt"}})
    assert code(accepted(sign(other, KEY))) == "approval.mismatch"


def test_nonces_are_forgotten_only_after_their_deadline() -> None:
    times = [NOW]
    keeper = MemoryNonceKeeper(lambda: times[0])
    assert keeper.take(TICKET) is None
    times[0] = NOW + 59_999
    assert keeper.take(TICKET) is not None
