"""The walls, attacked from inside every container: what each service can reach, write and become.

Known and stated limits, tried here so that the statement stays true: services on a normal bridge (gateway, orchestrator,
egress) reach what the host itself listens on at every address of the host. For gateway that is all it reaches.
"""

import re
import socket
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from harness.outside import host_listener, outside_host
from harness.stack import PYTHON, SERVICES, UIDS, WITH_PYTHON, Stack

pytestmark = pytest.mark.proves("G1", "G7", "T8")

# The engine's resolver listens on this address inside every container; it is nobody else's.
ENGINE_RESOLVER = "127.0.0.11"

# Every TCP way between two containers that exists, by DESIGN section 1.
WAYS = {
    ("tool-runner", "redis", 6379),
    ("tool-runner", "egress", 3128),
    ("command-box", "egress", 3128),
    ("orchestrator", "redis", 6379),
    ("orchestrator", "local-model", 8080),
}
CUT_OFF_FROM_HOST = ("tool-runner", "command-box", "js-sandbox", "local-model", "redis")
ON_NORMAL_BRIDGES = ("gateway", "orchestrator", "egress")

SECRETS_AND_SOCKETS = {
    "gateway": {"/keys/gateway", "/run/switchbox/core"},
    "orchestrator": {"/keys/orchestrator", "/run/switchbox/core", "/run/switchbox/js", "/run/switchbox/decisions"},
    "redis": {"/keys/redis"},
    "tool-runner": {"/keys/public", "/keys/tool-runner", "/run/switchbox/command"},
    "command-box": {"/keys/public", "/run/switchbox/command"},
    "js-sandbox": {"/keys/public", "/run/switchbox/js"},
    "egress": {"/keys/public", "/run/switchbox/decisions"},
    "local-model": set(),
}
SOCKETS = {
    "gateway": "/run/switchbox/core/core.sock",
    "orchestrator": "/run/switchbox/js/js.sock",
    "tool-runner": "/run/switchbox/command/command.sock",
    "egress": "/run/switchbox/decisions/decisions.sock",
}
# /dev is a small tmpfs of the engine; only root, who runs nothing here, may write there.
WRITABLE = {"/tmp", "/dev", "/dev/shm", "/dev/mqueue", "/witness", "/data", "/workspaces", "/run/switchbox"}


@pytest.mark.parametrize("service", WITH_PYTHON)
def test_no_process_has_capabilities_or_can_gain_privileges(stack: Stack, service: str) -> None:
    """The kernel's word on every process of the container, the one of this look included."""
    facts = stack.attack(service, "process_facts")
    assert len(facts) >= 2
    for process in facts:
        assert set(process["Uid"].split()) == {str(UIDS[service])}, process
        assert {process[name] for name in process if name.startswith("Cap")} == {"0" * 16}, process
        assert (process["NoNewPrivs"], process["Seccomp"]) == ("1", "2"), process


def test_redis_has_no_capabilities_and_cannot_gain_privileges(stack: Stack) -> None:
    """The same for the container without Python."""
    status = stack.exec("redis", "/bin/sh", "-c", "cat /proc/[0-9]*/status")
    assert set(re.findall(r"^Cap\w+:\s+(\w+)$", status, re.MULTILINE)) == {"0" * 16}
    assert set(re.findall(r"^(?:NoNewPrivs|Seccomp):\s+(\w+)$", status, re.MULTILINE)) == {"1", "2"}
    assert {word for line in re.findall(r"^Uid:(.*)$", status, re.MULTILINE) for word in line.split()} == {str(UIDS["redis"])}


@pytest.mark.parametrize("uid", [None, 0], ids=["own-uid", "root"])
@pytest.mark.parametrize("service", WITH_PYTHON)
def test_root_file_system_is_read_only(stack: Stack, service: str, uid: int | None) -> None:
    """A file can be made in scratch and in the service's own volumes and nowhere else, by root neither."""
    writable = stack.attack(service, "writes", uid=uid)
    assert "/tmp" in writable
    assert [folder for folder in writable if not any(folder == top or folder.startswith(f"{top}/") for top in WRITABLE)] == []


def test_root_file_system_of_redis_is_read_only(stack: Stack) -> None:
    """The same for the container without Python."""
    attempt = "for d in / /etc /usr /usr/local /usr/bin /var /var/lib /home /root /opt /srv /data; do touch $d/was-here 2>/dev/null && echo $d; done; true"
    assert stack.exec("redis", "/bin/sh", "-c", attempt, uid=0).split() == []


@pytest.mark.parametrize("service", SERVICES)
def test_service_holds_only_its_own_keys_and_sockets(stack: Stack, service: str) -> None:
    """What is mounted below /keys and /run/switchbox, seen from inside."""
    listed = stack.exec(service, "/bin/sh", "-c", "ls -d /keys/* /run/switchbox/* 2>/dev/null; true").split()
    assert set(listed) == SECRETS_AND_SOCKETS[service]


@pytest.mark.parametrize("service", SERVICES)
def test_service_has_no_secret_in_its_environment(stack: Stack, service: str) -> None:
    """Nothing that looks like a key or a password stands where every child process would inherit it."""
    environment = stack.inspect(service)["Config"]["Env"]
    assert [
        entry for entry in environment if re.search(r"(?i)secret|passw|token|api_?key", entry) and "_FILE=/keys/" not in entry
    ] == []


@pytest.mark.parametrize(("service", "path"), SOCKETS.items())
def test_socket_hangs_up_on_another_uid(stack: Stack, service: str, path: str) -> None:
    """The service's own uid gets an answer, every other uid in the same container not a byte."""
    assert stack.attack(service, "unix_socket", [path], uid=12345) == {path: "closed"}
    assert stack.attack(service, "unix_socket", [path], uid=0) == {path: "closed"}
    if service != "egress":  # Lines go one way there: nothing is ever answered.
        assert stack.attack(service, "unix_socket", [path])[path].startswith("HTTP/1.1 ")


def test_containers_reach_each_other_only_where_designed(stack: Stack) -> None:
    """Every listener of every container, tried from every other container at every address: exactly these ways are open."""
    targets = [
        (service, address, port)
        for service in SERVICES
        for address in stack.addresses(service).values()
        for port in listeners(stack, service)
    ]
    assert {port for _, _, port in targets} >= {8787, 6379, 3128, 8080}
    opened = set()
    for source in SERVICES:
        others = [target for target in targets if target[0] != source]
        outcomes = connect(stack, source, [(address, port) for _, address, port in others])
        found = {target for target, outcome in zip(others, outcomes, strict=True) if outcome == "open"}
        opened |= {(source, name, port) for name, address, port in found if arrives(stack, source, (name, address, port))}
    assert opened == WAYS


def test_orchestrator_listens_on_no_tcp_port(stack: Stack) -> None:
    """No listener in its own list of sockets, and every one of its ports refuses the host's users."""
    assert listeners(stack, "orchestrator") == set()
    address = stack.addresses("orchestrator")["models"]
    assert [port for port in range(1, 65536) if answers(address, port)] == []


def test_js_sandbox_has_no_interface_but_loopback(stack: Stack) -> None:
    """No interface, no route, no listener."""
    assert interfaces(stack, "js-sandbox") == {"lo"}
    assert stack.exec("js-sandbox", "/bin/sh", "-c", "tail -n +2 /proc/net/route") == ""
    assert listeners(stack, "js-sandbox") == set()
    assert stack.addresses("js-sandbox") == {}


@pytest.mark.parametrize("service", SERVICES)
def test_ipv6_is_off(stack: Stack, service: str) -> None:
    """No interface has an IPv6 address, link-local ones included."""
    assert stack.exec(service, "/bin/sh", "-c", "cat /proc/net/if_inet6 2>/dev/null; true") == ""


def test_only_the_gateway_is_published_and_only_on_loopback(stack: Stack) -> None:
    """What the engine publishes, and that no other address of this machine answers on that port."""
    published = {service: stack.inspect(service)["NetworkSettings"]["Ports"] for service in SERVICES}
    bindings = {service: [entry for entries in ports.values() for entry in entries or ()] for service, ports in published.items()}
    assert bindings.pop("gateway") == [{"HostIp": "127.0.0.1", "HostPort": str(stack.port)}]
    assert not any(bindings.values())
    assert answers("127.0.0.1", stack.port)
    assert [address for address in host_addresses() if address != "127.0.0.1" and answers(address, stack.port)] == []


def test_untrusted_containers_do_not_reach_the_host(stack: Stack) -> None:
    """A listener on every address of the host hears nothing from them, not even a refusal goes back from another port."""
    with host_listener() as listener:
        for service in CUT_OFF_FROM_HOST:
            addresses = sorted({*host_addresses(), *bridge_addresses(stack)} - {"127.0.0.1"})
            outcomes = connect(stack, service, [(address, port) for address in addresses for port in (listener.port, 1)])
            assert set(outcomes) <= {"timeout", "ENETUNREACH", "EHOSTUNREACH"}, (service, outcomes)
        assert listener.peers == []
        socket.create_connection(("127.0.0.1", listener.port), 2).close()
        assert listener.heard.wait(5), "the listener was deaf, so the silence above says nothing"


@pytest.mark.parametrize("service", ON_NORMAL_BRIDGES)
def test_stated_limit_normal_bridges_reach_host_listeners(stack: Stack, service: str) -> None:
    """The limit that SECURITY.md states: what the host listens on at all addresses is open to these three."""
    with host_listener() as listener:
        (network,) = [name for name in stack.addresses(service) if name in {"edge", "models", "outbound"}]
        address = stack.network(network)["IPAM"]["Config"][0]["Gateway"]
        assert connect(stack, service, [(address, listener.port)]) == ["open"]
        assert connect(stack, service, [(address, stack.port)]) == ["ECONNREFUSED"]


def test_gateway_gets_no_answer_from_beyond_the_host(stack: Stack) -> None:
    """A machine beyond the host hears egress, which is masqueraded, and gateway gets no connection to it."""
    with outside_host() as outside:
        assert connect(stack, "egress", [(outside.address, outside.port)]) == ["open"]
        assert connect(stack, "orchestrator", [(outside.address, outside.port)]) == ["open"]
        assert connect(stack, "gateway", [(outside.address, outside.port)]) == ["timeout"]
        for service in CUT_OFF_FROM_HOST:
            assert set(connect(stack, service, [(outside.address, outside.port)])) <= {"timeout", "ENETUNREACH"}, service


@pytest.mark.parametrize("service", [name for name in WITH_PYTHON if name not in {"egress", "orchestrator"}])
def test_outside_names_are_not_looked_up(stack: Stack, service: str) -> None:
    """A name that this machine can resolve is unknown in the container, asked in either way."""
    name = resolvable_name()
    assert stack.attack(service, "look_up", [name]) == {name: []}


def test_egress_looks_up_outside_names(stack: Stack) -> None:
    """The control of the test above: the same questions bring answers where they should."""
    name = resolvable_name()
    assert stack.attack("egress", "look_up", [name])[name]


def arrives(stack: Stack, source: str, target: tuple[str, str, int]) -> bool:
    """Whether a connection that opened ends at the target: a router beyond the host may answer for any address."""
    name, address, port = target
    hold = f"import socket,time; s=socket.create_connection(({address!r},{port}),5); print('open',flush=True); time.sleep(3)"
    words = ["docker", "exec", stack.container(source), PYTHON, "-S", "-c", hold]
    if source == "redis":
        return True
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        opened = held.stdout.readline() == "open\n"
        # proc_net_tcp(5): local and remote address in hex, then the state; 01 is an established connection.
        rows = [line.split() for line in stack.exec(name, "/bin/sh", "-c", "cat /proc/net/tcp").splitlines()[1:]]
        peers = {row[2].split(":")[0] for row in rows if row[3] == "01" and int(row[1].split(":")[1], 16) == port}
        held.kill()
    mine = {socket.inet_aton(own)[::-1].hex().upper() for own in stack.addresses(source).values()}
    return opened and bool(peers & mine)


def connect(stack: Stack, service: str, targets: list[tuple[str, int]]) -> list[str]:
    """The outcome of each connection, tried from inside the service's container."""
    if service != "redis":
        return list(stack.attack(service, "connect", targets))
    # Two at once, since the container may hold few processes; a line is the target's place and what became of it.
    attempts = "".join(
        f"(timeout 1 bash -c '</dev/tcp/{host}/{port}' 2>&1; echo status=$?) | tr '\\n' ' ' | sed 's/^/{place} /;s/$/\\n/' & {'wait;' if place % 2 else ''}"
        for place, (host, port) in enumerate(targets)
    )
    printed = stack.exec("redis", "/bin/bash", "-c", f"{attempts} wait").splitlines()
    said = {int(place): words for place, _, words in (line.partition(" ") for line in printed)}
    assert sorted(said) == list(range(len(targets))), printed
    return [outcome(said[place]) for place in range(len(targets))]


def outcome(said: str) -> str:
    """What bash and timeout said of one connection, as an errno's name."""
    if "status=0" in said:
        return "open"
    if "status=124" in said:
        return "timeout"
    names = {"refused": "ECONNREFUSED", "Network is unreachable": "ENETUNREACH", "No route to host": "EHOSTUNREACH"}
    return next((name for words, name in names.items() if words in said), f"? {said}")


def listeners(stack: Stack, service: str) -> set[int]:
    """The TCP ports that anything in the container listens on, the engine's resolver excepted."""
    table = stack.exec(service, "/bin/sh", "-c", "cat /proc/net/tcp /proc/net/tcp6 2>/dev/null; true")
    listening = (line.split()[1].split(":") for line in table.splitlines() if line.split()[3:4] == ["0A"])
    resolver = bytes(map(int, reversed(ENGINE_RESOLVER.split(".")))).hex().upper()
    return {int(port, 16) for address, port in listening if address != resolver}


def interfaces(stack: Stack, service: str) -> set[str]:
    """The network interfaces of a container."""
    lines = stack.exec(service, "/bin/cat", "/proc/net/dev").splitlines()[2:]
    return {line.partition(":")[0].strip() for line in lines}


def answers(address: str, port: int) -> bool:
    """Whether somebody takes a connection of this machine."""
    with socket.socket() as attempt:
        attempt.settimeout(2)
        return attempt.connect_ex((address, port)) == 0


def host_addresses() -> set[str]:
    """Every IPv4 address of this machine (proc_net(5), fib_trie)."""
    return set(re.findall(r"\|-- ([\d.]+)\n\s+/32 host LOCAL", Path("/proc/net/fib_trie").read_text(encoding="ascii")))


def bridge_addresses(stack: Stack) -> set[str]:
    """The addresses that the engine reserves for the bridges of the stack, whether they have them or not."""
    return {network["IPAM"]["Config"][0]["Gateway"] for network in map(stack.network, stack.networks())}


@cache
def resolvable_name() -> str:
    """The host of this machine's own package source, which it can look up; skips where there is none."""
    sources = [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    for url in re.findall(r"https?://\S+", "\n".join(path.read_text(encoding="utf-8") for path in sources)):
        name = urlsplit(url).hostname or ""
        try:
            socket.getaddrinfo(name, 80, socket.AF_INET)
        except OSError:
            continue
        return name
    pytest.skip("this machine can look no outside name up itself, so a container's silence would prove nothing")
