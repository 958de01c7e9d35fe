"""The whole table of requests against a real gateway process: raw sockets in front, a core on a Unix socket behind."""

import json
from collections.abc import Callable

import http_cases
import pytest
from gateway_process import CHAT, Gateway, SmallCore

CASES = http_cases.load()


@pytest.fixture
def target(gateway: Gateway, core: SmallCore, session: str) -> http_cases.Target:
    put_file: Callable[[str, bytes], None] = core.files.__setitem__
    return http_cases.Target(
        listens_at=("127.0.0.1", gateway.port),
        port=gateway.port,
        session=session,
        read_path="/api/chats",
        json_path=f"/api/chats/{CHAT}/messages",
        valid_json=json.dumps({"text": "hello"}),
        file_path=f"/api/chats/{CHAT}/files/",
        put_file=put_file,
        state=lambda: list(core.seen),
    )


@pytest.mark.proves("G2", "G3", "G4", "G5")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_request(case: dict, target: http_cases.Target, core: SmallCore) -> None:
    http_cases.run(case, target)
    assert len(core.seen) == (case["expect"]["decision"] == "allow")


def test_the_whole_table_was_read() -> None:
    assert len(CASES) >= 52
