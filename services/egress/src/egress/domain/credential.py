"""Who is asking: the proxy credential is a ticket that the orchestrator signed for this call."""

import base64
import binascii

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from contracts import errors
from contracts.errors import Refusal
from contracts.tickets import Ticket
from policy import tickets

# The user name in a proxy URL, `http://ticket:<ticket>@egress:3128`. It says what kind of credential follows.
USER = "ticket"


def read_credential(value: bytes | None) -> str | Refusal:
    """The encoded ticket in a Proxy-Authorization header: `Basic` with the user `ticket`, or `Bearer`."""
    if value is None:
        return Refusal(
            code=errors.TICKET_MISSING, detail="There is no proxy credential.", hint="Take the proxy's URL from http_proxy."
        )
    scheme, _, rest = value.decode("latin-1").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            user, _, password = base64.b64decode(rest.strip(), validate=True).decode("ascii").partition(":")
        except (binascii.Error, ValueError):
            return _malformed("The proxy credential is not valid base64.")
        return password if user == USER else _malformed(f"The user of the proxy credential is not {USER!r}.")
    return _malformed("The proxy credential is neither Basic nor Bearer.")


def admit(encoded: str, key: Ed25519PublicKey, now: int) -> Ticket | Refusal:
    """The ticket of the call that asks, or why there is none; `now` is Unix time in ms.

    `policy.tickets.accept` is for tickets that run a call once. This one is a credential: the orchestrator issues it
    together with the call's own ticket, after `decide` has allowed the call, and the call shows it for each of its
    connections until the deadline. So signature, audience and deadline are checked; but neither the nonce nor the epoch
    (egress has no Redis), and no approval is looked for: it is bound to the call's arguments, which a credential does
    not carry. Whoever gets hold of a credential can use it until its deadline, for what the call was granted, and in
    this call's name.
    """
    ticket = tickets.verify(encoded, key, "egress", now)
    if isinstance(ticket, Refusal):
        return ticket
    return _malformed("A ticket that carries arguments is no credential.") if ticket.arguments else ticket


class Admission:
    """Admits credentials, and remembers the last ones: a call shows the same one for each of its connections.

    A signature does not change its mind; of what was checked only the time can, so that is checked again.
    """

    def __init__(self, key: Ed25519PublicKey, *, remembered: int = 256) -> None:
        """Nothing is remembered yet."""
        self._key = key
        self._remembered = remembered
        self._tickets: dict[bytes, Ticket] = {}

    def admit(self, value: bytes | None, now: int) -> Ticket | Refusal:
        """`read_credential` and `admit` on the value of a Proxy-Authorization header."""
        ticket = self._tickets.get(value or b"")
        if ticket is not None and now < ticket.deadline:
            return ticket
        encoded = read_credential(value)
        outcome = encoded if isinstance(encoded, Refusal) else admit(encoded, self._key, now)
        if value and isinstance(outcome, Ticket):
            if len(self._tickets) >= self._remembered:
                del self._tickets[next(iter(self._tickets))]
            self._tickets[value] = outcome
        return outcome


def judge_grant(ticket: Ticket) -> Refusal | None:
    """Whether the call may use the network at all."""
    if ticket.policy == "off":
        return Refusal(code=errors.POLICY_OFF, detail=f"{ticket.tool} is switched off in this chat.")
    if not ticket.network.enabled:
        return Refusal(
            code=errors.NETWORK_OFF,
            detail="The network is switched off in this chat.",
            hint="A person can switch it on in the chat's tool policies.",
        )
    return None


def _malformed(detail: str) -> Refusal:
    return Refusal(code=errors.TICKET_MALFORMED, detail=detail, hint="Take the proxy's URL from http_proxy.")
