"""The running stack, through the compose and docker command lines and nothing else.

The command line, not a library: the same words are what a person types when a test has failed, and killing, starting
and running something inside a container are needed as well as bringing the stack up and down.
"""

import json
import os
import secrets
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = ROOT / "tests/attacks"
PYTHON = "/opt/venv/bin/python"

# Who runs what, by DESIGN section 1. `keys` is one-shot and not among them.
UIDS: Mapping[str, int] = {
    "gateway": 10001,
    "orchestrator": 10002,
    "redis": 10003,
    "js-sandbox": 10005,
    "egress": 10006,
    "local-model": 10007,
    "tool-runner": int(os.environ.get("SWITCHBOX_UID", "10010")),
    "command-box": int(os.environ.get("SWITCHBOX_UID", "10010")),
}
SERVICES = tuple(UIDS)
WITH_PYTHON = tuple(service for service in SERVICES if service != "redis")

BUILD_SECONDS = 900
UP_SECONDS = 240


class CommandFailed(AssertionError):
    """A docker command ended with an error; the message holds all it said."""


def run(*words: str, timeout: float = 60, check: bool = True, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    """Run a command and give its standard output.

    Raises:
        CommandFailed: it ended with an error and `check` is set.
        subprocess.TimeoutExpired: it took too long.
    """
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, input=stdin, env=env, check=False)
    if check and done.returncode:
        raise CommandFailed(f"{' '.join(words[:12])} -> {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Stack:
    """A compose project of Switchbox that is up."""

    project: str
    port: int

    def compose(self, *words: str, timeout: float = 120, check: bool = True) -> str:
        """Run `docker compose` on this project."""
        env = {**os.environ, "SWITCHBOX_PORT": str(self.port)}
        files = ("--project-directory", str(ROOT), "-f", str(ROOT / "compose.yaml"))
        return run("docker", "compose", *files, "-p", self.project, *words, timeout=timeout, check=check, env=env)

    def container(self, service: str) -> str:
        """The id of the service's first container, running or not."""
        found = self.compose("ps", "-a", "-q", service).split()
        assert found, f"{service} has no container"
        return found[0]

    def inspect(self, service: str) -> dict[str, Any]:
        """What docker says of the service's container."""
        details: list[dict[str, Any]] = json.loads(run("docker", "inspect", self.container(service)))
        return details[0]

    def addresses(self, service: str) -> dict[str, str]:
        """The service's IPv4 address on each of its networks, by the network's short name."""
        networks = self.inspect(service)["NetworkSettings"]["Networks"]
        return {
            name.removeprefix(f"{self.project}_"): settings["IPAddress"]
            for name, settings in networks.items()
            if settings["IPAddress"]
        }

    def network(self, name: str) -> dict[str, Any]:
        """What docker says of the network with this short name."""
        details: list[dict[str, Any]] = json.loads(run("docker", "network", "inspect", f"{self.project}_{name}"))
        return details[0]

    def networks(self) -> tuple[str, ...]:
        """The short names of the project's networks."""
        label = f"label=com.docker.compose.project={self.project}"
        names = run("docker", "network", "ls", "--filter", label, "--format", "{{.Name}}").split()
        return tuple(sorted(name.removeprefix(f"{self.project}_") for name in names))

    def exec(
        self, service: str, *words: str, uid: int | None = None, stdin: str = "", timeout: float = 60, check: bool = True
    ) -> str:
        """Run a command in the service's container, as the service's own uid unless another is given."""
        user = str(UIDS[service] if uid is None else uid)
        command = ("docker", "exec", "-i", "-u", user, self.container(service), *words)
        return run(*command, stdin=stdin, timeout=timeout, check=check)

    def attack(self, service: str, name: str, *arguments: object, uid: int | None = None, timeout: float = 60) -> Any:
        """Run `tests/attacks/<name>.py` inside the service's container and give the JSON value it prints.

        Arguments that are not text are handed over as JSON.
        """
        words = [argument if isinstance(argument, str) else json.dumps(argument) for argument in arguments]
        snippet = (ATTACKS / f"{name}.py").read_text(encoding="utf-8")
        return json.loads(self.exec(service, PYTHON, "-", *words, uid=uid, stdin=snippet, timeout=timeout))

    def login_link(self) -> str:
        """A new one-time login link, as the gateway makes it."""
        printed = self.exec("gateway", PYTHON, "-m", "gateway.app.login_link")
        return next(word for word in printed.split() if word.startswith("http://"))

    def crash(self, service: str) -> None:
        """Kill every process of the service with SIGKILL from inside, as a fault would; docker restarts it."""
        self.exec(service, "/bin/sh", "-c", "kill -9 -1", check=False)

    def kill(self, service: str) -> None:
        """Kill the container; it stays down until `start`."""
        run("docker", "kill", self.container(service))

    def start(self, *services: str) -> None:
        """Start what is down and wait until it is healthy."""
        self.compose("up", "-d", "--no-build", "--no-recreate", "--wait", "--wait-timeout", "90", *services, timeout=UP_SECONDS)

    def logs(self, *services: str, lines: int = 200) -> str:
        """The last log lines."""
        return self.compose("logs", "--no-color", "--tail", str(lines), *services, check=False)


@cache
def running(project: str) -> Stack:
    """A stack that somebody has brought up already.

    Raises:
        CommandFailed: no gateway of that project publishes a port.
    """
    label = ("--filter", f"label=com.docker.compose.project={project}", "--filter", "label=com.docker.compose.service=gateway")
    found = run("docker", "ps", "-q", *label).split()
    if not found:
        raise CommandFailed(f"no gateway of the project {project!r} is running: start it with `make up`")
    details = json.loads(run("docker", "inspect", found[0]))[0]
    return Stack(project, int(details["NetworkSettings"]["Ports"]["8787/tcp"][0]["HostPort"]))


@contextmanager
def fresh() -> Iterator[Stack]:
    """Build, bring up a stack of its own on a free port, and take it down with its volumes at the end."""
    stack = Stack(f"swtest-{secrets.token_hex(4)}", free_port())
    stack.compose("build", timeout=BUILD_SECONDS)
    try:
        stack.compose("up", "-d", "--wait", "--wait-timeout", str(UP_SECONDS), timeout=UP_SECONDS + 30)
        yield stack
    except CommandFailed as failure:
        failure.add_note(stack.logs(lines=60))
        raise
    finally:
        stack.compose("down", "-v", "--rmi", "local", "--remove-orphans", "--timeout", "5", timeout=120, check=False)
