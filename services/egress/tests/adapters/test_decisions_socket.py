"""Lines reach the socket in order, over a lost connection too, and never hold the proxy up."""

import asyncio
from pathlib import Path

import uvloop

from contracts.egress_log import NetworkDecision
from egress.adapters.decisions_socket import DecisionsSocket


def decision(number: int) -> NetworkDecision:
    return NetworkDecision(
        call_id="c" * 32, time=number, method="HTTP", host="example.com", port=80, outcome="connected", address="1.1.1.1"
    )


async def receive(path: Path, count: int) -> list[NetworkDecision]:
    """Listen, take so many lines of one connection, and stop listening."""
    got: asyncio.Future[list[NetworkDecision]] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = [NetworkDecision.model_validate_json(await reader.readline()) for _ in range(count)]
        writer.close()
        if not got.done():
            got.set_result(lines)

    path.unlink(missing_ok=True)
    async with await asyncio.start_unix_server(serve, path), asyncio.timeout(10):
        return await got


def test_lines_wait_for_the_socket_and_survive_a_restart_of_its_server(tmp_path: Path) -> None:
    async def main() -> None:
        client = DecisionsSocket(tmp_path / "s")
        task = asyncio.create_task(client.run())
        for number in (1, 2):
            client.write(decision(number))
        await asyncio.sleep(0.2)
        assert await receive(tmp_path / "s", 2) == [decision(1), decision(2)]
        await asyncio.sleep(0.1)
        for number in (3, 4, 5):
            client.write(decision(number))
        assert await receive(tmp_path / "s", 3) == [decision(3), decision(4), decision(5)]
        assert client.dropped == 0
        task.cancel()

    uvloop.run(main())


def test_a_full_queue_drops_and_counts(tmp_path: Path) -> None:
    client = DecisionsSocket(tmp_path / "nobody", queue_lines=3)
    for number in range(10):
        client.write(decision(number))
    assert client.dropped == 7
