"""Every case of ssrf_urls.json, driven through the same judges that web_fetch and egress use, with a fake network."""

import json
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import pytest

from contracts import errors
from contracts.errors import Refusal
from policy.destinations import Dial, judge_answers, judge_destination
from policy.fetching import first_hop, next_hop

CASES = json.loads((Path(__file__).parents[3] / "tests/cases/ssrf_urls.json").read_text(encoding="utf-8"))["cases"]

# Our codes in the words of the case file.
CLASS_OF_CODE = {
    errors.ADDRESS_LOOPBACK: "loopback",
    errors.ADDRESS_UNSPECIFIED: "unspecified",
    errors.ADDRESS_PRIVATE: "private",
    errors.ADDRESS_LINK_LOCAL: "link_local",
    errors.ADDRESS_METADATA: "metadata",
    errors.ADDRESS_SHARED: "cgnat",
    errors.ADDRESS_MULTICAST: "multicast",
    errors.ADDRESS_RESERVED: "reserved",
    errors.ADDRESS_TRANSITION: "transition",
    errors.HOST_BLOCKED: "blocked_host",
    errors.HOST_UNRESOLVED: "blocked_host",
    errors.URL_SCHEME: "bad_scheme",
    errors.URL_MALFORMED: "bad_url",
    errors.URL_REDIRECT: "redirect",
}


@dataclass
class FakeNetwork:
    """The DNS answers and HTTP replies of one case; it remembers what was looked up and dialled."""

    dns: dict[str, list[str] | list[list[str]]]
    http: dict[str, dict[str, object]]
    dialled: list[str] = field(default_factory=list)
    lookups: dict[str, int] = field(default_factory=dict)

    def look_up(self, name: str) -> list[str]:
        """The next answer for this name; the last one repeats."""
        answers = self.dns.get(name, [])
        count = self.lookups[name] = self.lookups.get(name, -1) + 1
        if answers and isinstance(answers[0], list):
            return answers[min(count, len(answers) - 1)]  # type: ignore[return-value]  # it is the list of lists here
        return answers  # type: ignore[return-value]  # and the plain list here


def fetch(url: str, network: FakeNetwork) -> Refusal | None:
    """What web_fetch and egress do between them: None when a page was reached."""
    hop = first_hop(url)
    while not isinstance(hop, Refusal):
        target = hop.target
        verdict = judge_destination(target.host, target.port)
        if not isinstance(verdict, Dial | Refusal):
            answers = [ip_address(text) for text in network.look_up(verdict.name)]
            verdict = judge_answers(target.host, target.port, answers)
        if isinstance(verdict, Refusal):
            return verdict
        network.dialled.append(str(verdict.addresses[0]))
        reply = network.http.get(target.url, {"status": 200})
        following = next_hop(hop, int(str(reply["status"])), reply.get("location"))  # type: ignore[arg-type]  # text or None
        if following is None:
            return None
        hop = following
    return hop


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: dict) -> None:
    given, expected = case["input"], case["expect"]
    assert set(given) <= {"url", "dns", "http"}
    assert set(expected) <= {"decision", "classes", "dials", "never_dials"}
    network = FakeNetwork(given.get("dns", {}), given.get("http", {}))
    refusal = fetch(given["url"], network)
    assert ("refuse" if refusal else "allow") == expected["decision"], refusal
    if refusal:
        assert CLASS_OF_CODE[refusal.code] in expected["classes"]
    if "dials" in expected:
        assert network.dialled == expected["dials"]
    assert not set(network.dialled) & set(expected.get("never_dials", []))


def test_the_case_file_is_whole() -> None:
    assert len(CASES) >= 60
