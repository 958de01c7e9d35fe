"""A machine beyond this one, made of a network namespace and a cable: it knows the way to this host and to nothing behind it.

So it answers what comes with the host's own address (masqueraded) and cannot answer what comes with a container's.
Nothing of the real network is touched.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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
