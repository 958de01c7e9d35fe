"""Who may reach what is not public: only a person's exact host and port, and the operator's list."""

from ipaddress import ip_address

import pytest

from contracts import errors
from contracts.errors import Refusal
from contracts.tickets import AllowedHost
from policy.destinations import Dial, LookUp, OperatorRules, judge_answers, judge_destination, parse_operator_rules

NAS = AllowedHost(host="nas.lan", port=8080, address="192.168.1.5")


def test_an_allowed_host_is_dialled_at_its_pinned_address_without_a_lookup() -> None:
    assert judge_destination("nas.lan", 8080, allowed_hosts=[NAS]) == Dial((ip_address("192.168.1.5"),))


@pytest.mark.parametrize(("host", "port"), [("nas.lan", 80), ("nas.lan", 8081), ("x.nas.lan", 8080), ("lan", 8080)])
def test_an_allowed_host_opens_nothing_beside_it(host: str, port: int) -> None:
    verdict = judge_destination(host, port, allowed_hosts=[NAS])
    assert isinstance(verdict, Refusal)
    assert verdict.code == errors.HOST_BLOCKED


def test_an_allowed_host_does_not_open_its_address() -> None:
    verdict = judge_destination(ip_address("192.168.1.5"), 8080, allowed_hosts=[NAS])
    assert isinstance(verdict, Refusal)
    assert verdict.code == errors.ADDRESS_PRIVATE


def test_an_allowed_literal_address_is_dialled() -> None:
    allowed = AllowedHost(host="192.168.1.5", port=80, address="192.168.1.5")
    assert judge_destination(ip_address("192.168.1.5"), 80, allowed_hosts=[allowed]) == Dial((ip_address("192.168.1.5"),))


def test_a_public_name_is_looked_up_and_a_public_address_dialled() -> None:
    assert judge_destination("example.com", 443) == LookUp("example.com")
    assert judge_destination(ip_address("1.1.1.1"), 443) == Dial((ip_address("1.1.1.1"),))


def test_no_answer_is_a_refusal() -> None:
    verdict = judge_answers("example.com", 443, [])
    assert isinstance(verdict, Refusal)
    assert verdict.code == errors.HOST_UNRESOLVED


def test_operator_networks_count_as_public_and_their_neighbours_do_not() -> None:
    rules = parse_operator_rules(["10.1.0.0/16"], [])
    assert isinstance(judge_answers("mirror.example.com", 80, [ip_address("10.1.2.3")], operator=rules), Dial)
    assert isinstance(judge_answers("mirror.example.com", 80, [ip_address("10.2.0.1")], operator=rules), Refusal)
    assert isinstance(judge_destination("localhost", 80, operator=rules), Refusal)


def test_an_operator_host_is_exact_in_name_and_port() -> None:
    rules = parse_operator_rules(["Mirror:3142"], [])
    assert judge_destination("mirror", 3142, operator=rules) == LookUp("mirror")
    assert isinstance(judge_answers("mirror", 3142, [ip_address("10.2.0.1")], operator=rules), Dial)
    assert isinstance(judge_destination("mirror", 80, operator=rules), Refusal)


def test_what_the_operator_refused_is_refused_although_public_or_allowed() -> None:
    rules = parse_operator_rules(["5.5.5.5/32"], ["5.5.0.0/16"])
    verdict = judge_answers("example.com", 443, [ip_address("5.5.5.5")], operator=rules)
    assert isinstance(verdict, Refusal)
    assert verdict.code == errors.ADDRESS_OPERATOR


@pytest.mark.parametrize("entry", ["example.com", "10.0.0.1/8", "10.0.0.0/33", "http://example.com:80", "a b:80", ""])
def test_an_unreadable_operator_entry_stops_the_start(entry: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_operator_rules([entry], [])


def test_no_rules_are_the_default() -> None:
    assert parse_operator_rules([], []) == OperatorRules()
