"""The way out: nothing is looked up or dialled for a caller without a ticket, and nothing private for one with a ticket."""

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import NewChat, OpenTab
from harness import recorded
from harness.api import Api
from harness.outside import host_listener
from harness.recorded import Script, call, text
from harness.stack import Stack, run

from contracts.chats import ModelRef

# A name that belongs to nobody (RFC 2606) and that the judge of names has nothing against: it has to be looked up.
NAME = "printer.example.com"


def credential(stack: Stack, *, network: dict[str, Any] | None = None, **fields: object) -> str:
    """The Proxy-Authorization of a ticket that is good for egress but for what is given."""
    grant = {"enabled": True, "allowed_hosts": [], **(network or {})}
    ticket = {"audience": "egress", "tool": "run_command", "arguments": {}, "network": grant, **fields}
    (encoded,) = stack.attack("orchestrator", "core", "sign", [{"ticket": ticket}])
    return proxy_authorization(encoded)


def proxy_authorization(encoded: str) -> str:
    """A ticket as curl sends it."""
    return "Basic " + base64.b64encode(f"ticket:{encoded}".encode()).decode()


def ask(stack: Stack, *lines: str, authorization: str | None = None, source: str = "tool-runner") -> list[dict[str, Any]]:
    """Send each request line to egress from inside a container; its answers as `status`, `code` and `body`."""
    shown = {} if authorization is None else {"Proxy-Authorization": authorization}
    requests = [{"line": line, "headers": {"Host": host_of(line.split()[1]), **shown}} for line in lines]
    answers: list[dict[str, Any]] = stack.attack(source, "proxy", requests)
    return answers


def host_of(target: str) -> str:
    """What a client says in Host for a request target."""
    return target.removeprefix("http://").partition("/")[0]


def questions(stack: Stack) -> int:
    """How many datagrams egress has sent: its questions to the resolver are the only ones it sends."""
    return int(stack.attack("egress", "datagrams_sent"))


@pytest.mark.proves("T8", "G7")
@pytest.mark.parametrize("source", ["tool-runner", "command-box"])
def test_without_a_ticket_nothing_is_looked_up(stack: Stack, source: str) -> None:
    good = credential(stack)
    forged = proxy_authorization("e30.AAAA")
    before = questions(stack)
    with beyond_egress(stack):
        for authorization in (None, "Basic eDp5", "Bearer x", good[:-12] + "AAAAAAAAAAA=", forged):
            (answer,) = ask(stack, f"CONNECT {NAME}:8000 HTTP/1.1", authorization=authorization, source=source)
            assert answer["status"] == 407
        assert questions(stack) == before
        # The control: with a ticket the name is asked for, and its private address refused.
        (answer,) = ask(stack, f"CONNECT {NAME}:8000 HTTP/1.1", authorization=good, source=source)
        assert answer["code"] == "address.private"
        assert questions(stack) > before


@pytest.mark.proves("T8")
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"audience": "tool-runner"}, id="ticket-for-the-runner"),
        pytest.param({"audience": "command-box"}, id="ticket-for-the-command-box"),
        pytest.param({"deadline": int(time.time() * 1000)}, id="expired"),
    ],
)
def test_a_ticket_for_something_else_is_no_credential(stack: Stack, fields: dict[str, Any]) -> None:
    authorization = credential(stack, **fields)
    before = questions(stack)
    (answer,) = ask(stack, f"CONNECT {NAME}:443 HTTP/1.1", authorization=authorization)
    assert answer["status"] == 407
    assert questions(stack) == before


@pytest.mark.proves("T8")
def test_a_call_whose_network_is_off_is_refused_before_any_look_up(stack: Stack) -> None:
    authorization = credential(stack, network={"enabled": False})
    before = questions(stack)
    answers = ask(stack, f"CONNECT {NAME}:443 HTTP/1.1", f"GET http://{NAME}/ HTTP/1.1", authorization=authorization)
    assert [(answer["status"], answer["code"]) for answer in answers] == [(403, "network.off")] * 2
    assert questions(stack) == before


@pytest.mark.proves("T3")
@pytest.mark.parametrize("line", ["CONNECT {}:{} HTTP/1.1", "GET http://{}:{}/ HTTP/1.1"], ids=["tunnel", "plain"])
def test_private_addresses_are_refused_with_their_reason(stack: Stack, line: str) -> None:
    authorization = credential(stack)
    with host_listener() as listener:
        hosts = {
            "127.0.0.1": "address.loopback",
            "2130706433": "address.loopback",
            "0x7f.1": "address.loopback",
            "0.0.0.0": "address.unspecified",
            "169.254.169.254": "address.metadata",
            "169.254.1.1": "address.link_local",
            "10.0.0.1": "address.private",
            "192.168.0.1": "address.private",
            "100.64.0.1": "address.shared",
            "224.0.0.1": "address.multicast",
            "[::1]": "address.loopback",
            "[::ffff:127.0.0.1]": "address.loopback",
            stack.network("outbound")["IPAM"]["Config"][0]["Gateway"]: "address.private",
            stack.addresses("egress")["outbound"]: "address.private",
            stack.addresses("redis")["jobs"]: "address.private",
            "localhost": "host.blocked",
            "host.docker.internal": "host.blocked",
            "redis": "host.blocked",
        }
        answers = ask(stack, *(line.format(host, listener.port) for host in hosts), authorization=authorization)
        assert {host: answer["code"] for host, answer in zip(hosts, answers, strict=True)} == hosts
        assert {answer["status"] for answer in answers} == {403}
        assert listener.peers == []


@contextmanager
def beyond_egress(stack: Stack) -> Iterator[str]:
    """A server on egress's outer network under NAME, at a private address: only a person may allow it. Gives the address."""
    name = f"{stack.project}-beyond-egress"
    serve = "import http.server as h; h.ThreadingHTTPServer(('0.0.0.0', 8000), h.SimpleHTTPRequestHandler).serve_forever()"
    network = ("--network", f"{stack.project}_outbound", "--network-alias", NAME)
    run("docker", "rm", "-f", name, check=False)
    run("docker", "run", "-d", "--init", "-w", "/srv", "--name", name, *network, recorded.IMAGE, "python3", "-c", serve)
    try:
        run("docker", "exec", name, "python3", "-c", recorded.AWAIT.replace("9000", "8000"))
        yield run("docker", "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name).strip()
    finally:
        run("docker", "rm", "-f", name, check=False)


@pytest.mark.proves("T16")
def test_exactly_the_allowed_host_and_port_is_connected_at_its_pinned_address(stack: Stack) -> None:
    with beyond_egress(stack) as address:
        allowed = {"host": NAME, "port": 8000, "address": address}
        authorization = credential(stack, network={"allowed_hosts": [allowed]})
        lines = [f"GET http://{NAME}:8000/ HTTP/1.1", f"GET http://{NAME}:8001/ HTTP/1.1", f"GET http://{address}:8000/ HTTP/1.1"]
        through, other_port, other_name = ask(stack, *lines, authorization=authorization)
        assert through["status"] == 200
        assert "Directory listing" in through["body"]
        assert (other_port["status"], other_name["status"]) == (403, 403)


@pytest.mark.proves("T3", "T8")
def test_a_command_with_the_network_on_meets_egress_and_its_refusals_are_listed(
    stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted)
    api.change_chat(chat.chat_id, network=True, policies={"run_command": "auto"})
    tab = open_tab(chat)
    (redis,) = (address for network, address in stack.addresses("redis").items() if network.endswith("jobs"))
    targets = ["127.0.0.1:80", "169.254.169.254:80", f"{redis}:6379", "localhost:3128", "host.docker.internal:80"]
    line = "; ".join(f"curl -sS -m 5 -o /dev/null -w '%{{http_code}}\\n' http://{target}/" for target in targets)
    exchange = api.send(chat.chat_id, Script([call("run_command", command=line), text("done")]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 60).values()
    (part,) = tab.view.calls_of(reply.reply_id)
    assert part.data["stdout"].split() == ["403"] * len(targets)
    assert [f"{entry.host}:{entry.port}" for entry in part.network] == targets
    assert all(entry.outcome == "refused" and entry.code for entry in part.network)
    assert part.outside


@pytest.mark.proves("T8")
def test_a_command_with_the_network_off_has_no_socket(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted)
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    tab = open_tab(chat)
    line = "python3 -c 'import socket; socket.create_connection((\"egress\", 3128), 3)'; env | grep -ci proxy"
    exchange = api.send(chat.chat_id, Script([call("run_command", command=line), text("done")]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 60).values()
    (part,) = tab.view.calls_of(reply.reply_id)
    assert part.data["stdout"].split() == ["0"]
    assert part.network == ()
