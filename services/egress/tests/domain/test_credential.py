"""Only a ticket for egress, signed, in time and with the network on, lets a call through."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from contracts import errors
from contracts.errors import Refusal
from contracts.tickets import NetworkGrant, Ticket
from egress.domain.credential import Admission, admit, judge_grant, read_credential


def encoded(text: str) -> bytes:
    return b"Basic " + base64.b64encode(text.encode())


@pytest.mark.parametrize(
    "value", [encoded("ticket:abc.def"), b"basic " + encoded("ticket:abc.def")[6:], b"Bearer abc.def", b"bearer  abc.def "]
)
def test_a_credential_is_read_from_basic_and_bearer(value: bytes) -> None:
    assert read_credential(value) == "abc.def"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, errors.TICKET_MISSING),
        (b"", errors.TICKET_MALFORMED),
        (b"Basic", errors.TICKET_MALFORMED),
        (b"Basic !!!", errors.TICKET_MALFORMED),
        (b"Basic /w==", errors.TICKET_MALFORMED),
        (encoded("someone:abc.def"), errors.TICKET_MALFORMED),
        (b"Digest abc", errors.TICKET_MALFORMED),
    ],
)
def test_anything_else_is_no_credential(value: bytes | None, code: str) -> None:
    refusal = read_credential(value)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_a_valid_ticket_is_admitted_again_and_again(make_ticket, key, now) -> None:
    credential = make_ticket()
    for _ in range(3):
        assert isinstance(admit(credential, key.public_key(), now), Ticket)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"audience": "tool-runner"}, errors.TICKET_AUDIENCE),
        ({"audience": "command-box"}, errors.TICKET_AUDIENCE),
        ({"deadline": 1}, errors.TICKET_EXPIRED),
        ({"arguments": {"command": "ls"}}, errors.TICKET_MALFORMED),
    ],
)
def test_another_ticket_is_turned_away(make_ticket, key, now, changes: dict, code: str) -> None:
    refusal = admit(make_ticket(**changes), key.public_key(), now)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_a_ticket_expires_at_its_deadline(make_ticket, key, now) -> None:
    credential = make_ticket(deadline=now + 1)
    assert isinstance(admit(credential, key.public_key(), now), Ticket)
    assert isinstance(admit(credential, key.public_key(), now + 1), Refusal)


def test_a_ticket_of_another_signer_is_turned_away(make_ticket, now) -> None:
    refusal = admit(make_ticket(), Ed25519PrivateKey.generate().public_key(), now)
    assert isinstance(refusal, Refusal)
    assert refusal.code == errors.TICKET_SIGNATURE


def test_a_changed_ticket_is_turned_away(make_ticket, key, now) -> None:
    payload, _, signature = make_ticket(network=NetworkGrant()).partition(".")
    text = base64.urlsafe_b64decode(payload + "==").replace(b'"enabled":false', b'"enabled":true ')
    refusal = admit(base64.urlsafe_b64encode(text).rstrip(b"=").decode() + "." + signature, key.public_key(), now)
    assert isinstance(refusal, Refusal)
    assert refusal.code == errors.TICKET_SIGNATURE


@pytest.mark.parametrize("garbage", ["", ".", "a.b", "ä.b", "x" * 100])
def test_garbage_is_turned_away(key, now, garbage: str) -> None:
    refusal = admit(garbage, key.public_key(), now)
    assert isinstance(refusal, Refusal)
    assert refusal.code in (errors.TICKET_MALFORMED, errors.TICKET_SIGNATURE)


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"network": NetworkGrant()}, errors.NETWORK_OFF), ({"policy": "off"}, errors.POLICY_OFF), ({}, None)],
)
def test_the_network_switch_decides(make_ticket, key, now, changes: dict, code: str | None) -> None:
    ticket = admit(make_ticket(**changes), key.public_key(), now)
    assert isinstance(ticket, Ticket)
    refusal = judge_grant(ticket)
    assert (refusal.code if refusal else None) == code


def test_a_remembered_credential_still_expires_and_still_has_to_be_exact(make_ticket, key, now) -> None:
    admission = Admission(key.public_key())
    value = b"Bearer " + make_ticket(deadline=now + 5).encode()
    first = admission.admit(value, now)
    assert isinstance(first, Ticket)
    assert admission.admit(value, now + 4) == first
    expired = admission.admit(value, now + 5)
    assert isinstance(expired, Refusal)
    assert expired.code == errors.TICKET_EXPIRED
    assert isinstance(admission.admit(value[:-4] + b"AAAA", now), Refusal)


def test_what_was_refused_is_not_remembered(make_ticket, key, now) -> None:
    admission = Admission(key.public_key())
    for value in (None, b"", b"Bearer x.y", b"Bearer " + make_ticket(audience="tool-runner").encode()):
        assert isinstance(admission.admit(value, now), Refusal)
        assert isinstance(admission.admit(value, now), Refusal)
    assert not admission._tickets


def test_only_the_last_credentials_are_remembered(make_ticket, key, now) -> None:
    admission = Admission(key.public_key(), remembered=2)
    values = [b"Bearer " + make_ticket().encode() for _ in range(4)]
    assert all(isinstance(admission.admit(value, now), Ticket) for value in values)
    assert list(admission._tickets) == values[2:]
