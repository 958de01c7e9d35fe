"""Lines from egress are taken from egress's user only, and only when they are valid."""

import asyncio
import contextlib
import os
from pathlib import Path

from contracts.egress_log import NetworkDecision
from orchestrator.adapters.decisions_socket import DecisionsSocket

LINE = NetworkDecision(
    call_id="a" * 32, time=1, method="CONNECT", host="example.org", port=443, outcome="connected", address="93.184.215.14"
)


async def sent(folder: Path, data: bytes, allowed_uid: int) -> list[NetworkDecision]:
    """What is taken when `data` is sent on one connection."""
    taken: list[NetworkDecision] = []
    listener = DecisionsSocket(folder / "s", allowed_uid, taken.append)
    await listener.open()
    reader, writer = await asyncio.open_unix_connection(folder / "s")
    writer.write(data)
    writer.write_eof()
    async with asyncio.timeout(5):
        with contextlib.suppress(ConnectionError):
            await reader.read()
    writer.close()
    await listener.close()
    return taken


def test_a_valid_line_is_taken(tmp_path: Path) -> None:
    line = LINE.model_dump_json().encode() + b"\n"
    assert asyncio.run(sent(tmp_path, line * 2, os.getuid())) == [LINE, LINE]


def test_another_user_is_not_heard(tmp_path: Path) -> None:
    line = LINE.model_dump_json().encode() + b"\n"
    assert asyncio.run(sent(tmp_path, line, os.getuid() + 1)) == []


def test_malformed_and_endless_lines_end_the_connection(tmp_path: Path) -> None:
    good = LINE.model_dump_json().encode() + b"\n"
    for bad in (b"{}\n", b"\xff\n", b"x" * 100_000, good[:-2] + b',"more":1}\n'):
        assert asyncio.run(sent(tmp_path, good + bad + good, os.getuid())) == [LINE]
