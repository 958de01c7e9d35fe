"""Egress, asked from inside command-box by whoever has the network of tools: nothing without a ticket."""

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api
from harness.recorded import Script, call, text
from harness.stack import PYTHON, Stack

from contracts.chats import ModelRef

ASK = """
import base64, socket, sys
credential, target = sys.argv[1:]
head = f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n"
if credential:
    head += "Proxy-Authorization: Basic " + base64.b64encode(f"ticket:{credential}".encode()).decode() + "\\r\\n"
connection = socket.create_connection(("egress", 3128), timeout=5)
connection.sendall((head + "\\r\\n").encode())
print(connection.recv(4096).decode().split()[1])
"""


@pytest.mark.proves("T8", "G7")
@pytest.mark.parametrize("credential", ["", "x", "a.b", "e30.AAAA"])
def test_without_a_ticket_nothing_is_looked_up(stack: Stack, credential: str) -> None:
    name = "no-such-name.switchbox-test.example"
    before = stack.logs("egress", lines=1000).count(name)
    said = stack.exec("command-box", PYTHON, "-", credential, f"{name}:443", stdin=ASK)
    assert said.split() == ["407"]
    assert stack.logs("egress", lines=1000).count(name) == before


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
