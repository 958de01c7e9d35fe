"""Signing tickets and verifying them. An executor calls `accept` and acts on nothing but the ticket it returns."""

import base64
import binascii
from collections.abc import Callable
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import ValidationError

from contracts import errors
from contracts.errors import Refusal
from contracts.tickets import MAX_TICKET_BYTES, SIGNING_CONTEXT, Audience, Ticket
from policy.canonical import NotCanonical
from policy.decide import Allow, decide_ticket


class NonceKeeper(Protocol):
    """Remembers which tickets were taken. The one part of `accept` that is not pure, so it is handed in."""

    def take(self, ticket: Ticket) -> Refusal | None:
        """Take the ticket's nonce; a refusal if it was taken before, or if the ticket's epoch has passed."""


def sign(ticket: Ticket, key: Ed25519PrivateKey) -> str:
    """The ticket's form on the wire."""
    payload = ticket.model_dump_json().encode()
    return f"{_encode(payload)}.{_encode(key.sign(SIGNING_CONTEXT + payload))}"


def verify(encoded: str, key: Ed25519PublicKey, audience: Audience, now: int) -> Ticket | Refusal:
    """Check form, signature, audience and deadline, in this order; `now` is Unix time in ms.

    It does not check that the ticket is used once, nor the epoch: see `accept`.
    """
    parts = _decode(encoded)
    if parts is None:
        return Refusal(code=errors.TICKET_MALFORMED, detail="This is not a ticket.")
    payload, signature = parts
    try:
        key.verify(signature, SIGNING_CONTEXT + payload)
    except InvalidSignature:
        return Refusal(code=errors.TICKET_SIGNATURE, detail="The ticket was not signed by the orchestrator.")
    try:
        ticket = Ticket.model_validate_json(payload)
    except ValidationError:
        return Refusal(
            code=errors.TICKET_MALFORMED, detail="The ticket is signed but of another form: update all services together."
        )
    if ticket.audience != audience:
        return Refusal(code=errors.TICKET_AUDIENCE, detail=f"The ticket is for {ticket.audience}, not for {audience}.")
    if now >= ticket.deadline:
        return Refusal(code=errors.TICKET_EXPIRED, detail="The ticket's deadline has passed.")
    return ticket


def accept(encoded: str, key: Ed25519PublicKey, audience: Audience, now: int, nonces: NonceKeeper) -> Ticket | Refusal:
    """Verify a ticket, run `decide` on what it carries, and take its nonce: after this the call may run, once."""
    ticket = verify(encoded, key, audience, now)
    if isinstance(ticket, Refusal):
        return ticket
    try:
        decision = decide_ticket(ticket, now)
    except NotCanonical as exc:
        return Refusal(code=errors.TICKET_MALFORMED, detail=f"The ticket's arguments have no canonical form: {exc}")
    if isinstance(decision, Refusal):
        return decision
    if not isinstance(decision, Allow):
        return Refusal(code=errors.APPROVAL_MISMATCH, detail="The ticket carries no approval for exactly this call.")
    return nonces.take(ticket) or ticket


class MemoryNonceKeeper:
    """For executors without Redis: nonces in memory, each until its ticket's deadline.

    It knows nothing of the time before it was made, so it refuses tickets issued before then; and it refuses a ticket
    whose epoch is lower than the highest it has seen. Not thread-safe.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        """`clock` gives Unix time in ms."""
        self._clock = clock
        self._born = clock()
        self._epoch = 0
        self._taken: dict[str, int] = {}

    def take(self, ticket: Ticket) -> Refusal | None:
        """See `NonceKeeper.take`."""
        now = self._clock()
        self._taken = {nonce: deadline for nonce, deadline in self._taken.items() if now < deadline}
        if ticket.issued_at < self._born or ticket.epoch < self._epoch:
            return Refusal(code=errors.TICKET_EPOCH, detail="The ticket is from before a restart.", hint="Ask again.")
        if ticket.nonce in self._taken:
            return Refusal(code=errors.TICKET_USED, detail="The ticket was used before.")
        self._epoch = ticket.epoch
        self._taken[ticket.nonce] = ticket.deadline
        return None


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(encoded: str) -> tuple[bytes, bytes] | None:
    if len(encoded) > MAX_TICKET_BYTES * 4 // 3 + 128:
        return None
    payload, dot, signature = encoded.partition(".")
    if not dot:
        return None
    try:
        return _decode_part(payload), _decode_part(signature)
    except (binascii.Error, ValueError):
        return None


def _decode_part(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
