"""Runs inside command-box's container: one request to its socket, entries out as they come.

Standard input: the request's JSON, then a line with the seconds after which to hang up (or -1).
"""

import asyncio
import contextlib
import sys
from pathlib import Path

import local_socket


async def main() -> None:
    """Ask, and print each line of the answer."""
    request, patience = sys.stdin.read().rsplit("\n", 1)
    async with local_socket.client(Path("/run/switchbox/command/command.sock"), timeout_seconds=None) as http:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(float(patience) if float(patience) >= 0 else None):
                async with http.stream("POST", "/run", content=request) as response:
                    async for line in response.aiter_lines():
                        print(line, flush=True)


asyncio.run(main())
