"""What an escaping connection would reach: a listener of the host, and a machine beyond it. Nothing real is touched.

The machine beyond is a network namespace and a cable. It knows the way to this host and to nothing behind it: so it
answers what comes with the host's own address (masqueraded) and cannot answer what comes with a container's.
"""

import os
import secrets
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

import pytest

from harness.stack import run

# Takes connections until its input is closed.
SERVER = """
import socket, sys, threading
tcp = socket.create_server(("0.0.0.0", 9009))
threading.Thread(target=lambda: [tcp.accept() for _ in iter(int, 1)], daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class OutsideHost:
    """Where it listens."""

    address: str
    port: int = 9009


@contextmanager
def outside_host() -> Iterator[OutsideHost]:
    """Make it for the length of a test; skips without root or without `ip`."""
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("a machine beyond the host can be made by root with iproute2 only")
    tag = secrets.token_hex(3)
    name, here, there = f"swout-{tag}", f"swh{tag}", f"swo{tag}"
    subnet = f"10.213.{secrets.randbelow(256)}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        run("ip", "addr", "add", f"{subnet}.1/30", "dev", here)
        run("ip", "link", "set", here, "up")
        run("ip", "-n", name, "addr", "add", f"{subnet}.2/30", "dev", there)
        run("ip", "-n", name, "link", "set", there, "up")
        with subprocess.Popen(
            ["ip", "netns", "exec", name, "python3", "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            yield OutsideHost(f"{subnet}.2")
            server.kill()
    finally:
        run("ip", "link", "del", here, check=False)
        run("ip", "netns", "del", name, check=False)


@dataclass
class HostListener:
    """A listener of the host on all its addresses, and who came."""

    server: socket.socket
    peers: list[str] = field(default_factory=list)
    heard: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.getsockname()[1])

    def listen(self) -> Self:
        """Take connections until the socket is closed."""
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def _accept(self) -> None:
        while True:
            try:
                connection, peer = self.server.accept()
            except OSError:
                return
            connection.close()
            self.peers.append(peer[0])
            self.heard.set()


@contextmanager
def host_listener() -> Iterator[HostListener]:
    """Listen on 0.0.0.0 of the host for the length of a test."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        yield HostListener(server).listen()
        server.shutdown(socket.SHUT_RDWR)
