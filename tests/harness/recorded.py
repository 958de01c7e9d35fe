"""The recorded model beside a stack: its container, and scripts for it (see `recorded_model/server.py`)."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.stack import ROOT, Stack, run

IMAGE = "python:3.13-slim-trixie"
BASE_URL = "http://recorded-model:9000/v1"
MODEL = "recorded"

# Waits, at most five seconds, until the server listens.
AWAIT = """
import socket, time
deadline = time.monotonic() + 5
while socket.socket().connect_ex(("127.0.0.1", 9000)):
    assert time.monotonic() < deadline
    time.sleep(0.05)
"""

Turn = dict[str, Any]


def call(name: str, **arguments: object) -> Turn:
    """A turn that asks for one tool call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def text(words: str, *, tokens_per_second: float | None = None) -> Turn:
    """A turn that says something."""
    return {"text": words} if tokens_per_second is None else {"text": words, "tokens_per_second": tokens_per_second}


@dataclass(frozen=True)
class Script:
    """A message whose answers are known beforehand."""

    turns: Sequence[Turn] = ()
    panes: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    title: str = "A scripted question"
    script_id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def message(self) -> str:
        """What a person sends."""
        body = {
            "id": self.script_id,
            "turns": list(self.turns),
            "panes": {name: list(turns) for name, turns in self.panes.items()},
        }
        return f"{self.title}\n#script {json.dumps(body)}"


@dataclass(frozen=True)
class RecordedModel:
    """The running container."""

    container: str

    def requests(self, script: Script) -> list[dict[str, Any]]:
        """What the model was asked for this script, oldest first, each with `request` and how it `ended`."""
        url = f"http://127.0.0.1:9000/requests?id={script.script_id}"
        snippet = f"import urllib.request; print(urllib.request.urlopen({url!r}, timeout=5).read().decode())"
        found: list[dict[str, Any]] = json.loads(run("docker", "exec", self.container, "python3", "-c", snippet))
        return found


@contextmanager
def beside(stack: Stack) -> Iterator[RecordedModel]:
    """Run the recorded model on the stack's network of local models, under the name `recorded-model`."""
    name = f"{stack.project}-recorded-model"
    run("docker", "rm", "-f", name, check=False)
    network = ("--network", f"{stack.project}_models-local", "--network-alias", "recorded-model")
    walls = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534", "--init")
    code = ("-v", f"{ROOT / 'tests/recorded_model'}:/srv/recorded_model:ro")
    run("docker", "run", "-d", "--name", name, *network, *walls, *code, IMAGE, "python3", "/srv/recorded_model/server.py")
    try:
        run("docker", "exec", name, "python3", "-c", AWAIT)
        yield RecordedModel(name)
    finally:
        run("docker", "rm", "-f", name, check=False)
