"""Settings: guards are shut unless somebody opens them, and what cannot be read stops the start."""

from ipaddress import ip_network
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from egress.app.settings import Settings
from egress.app.wiring import read_judges
from policy.destinations import OperatorRules


def test_nothing_is_open_by_default(monkeypatch) -> None:
    monkeypatch.delenv("EGRESS_OPERATOR_ALLOWED", raising=False)
    settings = Settings()
    assert settings.operator_rules() == OperatorRules()
    assert settings.ipv6 is False


def test_the_operators_lists_are_read(monkeypatch) -> None:
    monkeypatch.setenv("EGRESS_OPERATOR_ALLOWED", "10.0.0.0/8, mirror:3142")
    monkeypatch.setenv("EGRESS_OPERATOR_REFUSED", "5.5.5.0/24")
    rules = Settings().operator_rules()
    assert rules.networks == (ip_network("10.0.0.0/8"),)
    assert rules.hosts == frozenset({("mirror", 3142)})
    assert rules.refused == (ip_network("5.5.5.0/24"),)


@pytest.mark.parametrize("text", ["10.0.0.0", "10.0.0.1/8", "mirror", "*"])
def test_an_entry_that_cannot_be_read_stops_the_start(monkeypatch, text: str) -> None:
    monkeypatch.setenv("EGRESS_OPERATOR_ALLOWED", text)
    with pytest.raises(ValueError, match=r".+"):
        Settings().operator_rules()


def test_another_kind_of_key_stops_the_start(tmp_path: Path) -> None:
    pem = generate_private_key(SECP256R1()).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "ticket.pub").write_bytes(pem)
    with pytest.raises(ValueError, match="EGRESS_PUBLIC_KEY_FILE"):
        read_judges(Settings(public_key_file=tmp_path / "ticket.pub"))


def test_a_missing_key_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"ticket\.pub"):
        read_judges(Settings(public_key_file=tmp_path / "ticket.pub"))
