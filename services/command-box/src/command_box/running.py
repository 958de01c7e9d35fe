"""One command from its start to the end of all it started, as entries that come while it runs."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from typing import Literal

from command_box.output import LIVE_CHARACTERS, HeadAndTail
from contracts import errors
from contracts.commands import Exited, Refused
from contracts.errors import Refusal
from contracts.tool_jobs import ALIVE_SECONDS, Alive, Output
from seal import Command, Ended, Launcher, LaunchFailed, Run

READ_BYTES = 65_536
ENTRY_CHARACTERS = 16_384
# A live view is read by a person: what comes faster is joined.
LIVE_INTERVAL_SECONDS = 0.05

Entry = Output | Alive | Exited | Refused
Name = Literal["stdout", "stderr"]


async def run(launcher: Launcher, command: Command, output_characters: int) -> AsyncIterator[Entry]:
    """Run the command. Closing the iterator stops it; it ends only when nothing that it started is alive."""
    try:
        started = launcher.start(command)
    except LaunchFailed as exc:
        yield Refused(refusal=Refusal(code=errors.TOOL_FAILED, detail=f"The command was not started: {exc}."))
        return
    view = _View(started, output_characters)
    try:
        async for entry in view.entries():
            yield entry
    finally:
        await asyncio.shield(view.close())


class _View:
    """Reads a run's output and its end."""

    def __init__(self, started: Run, output_characters: int) -> None:
        self._started = started
        self._kept = {"stdout": HeadAndTail(output_characters), "stderr": HeadAndTail(output_characters)}
        self._live: list[tuple[Name, str]] = []
        self._live_left = LIVE_CHARACTERS
        self._ended = asyncio.ensure_future(_ended(started.control))
        self._readers = [
            asyncio.ensure_future(self._read(started.stdout, "stdout")),
            asyncio.ensure_future(self._read(started.stderr, "stderr")),
        ]

    async def entries(self) -> AsyncIterator[Entry]:
        quiet = 0.0
        while not self._ended.done():
            await asyncio.wait({self._ended}, timeout=LIVE_INTERVAL_SECONDS)
            quiet = 0.0 if self._live else quiet + LIVE_INTERVAL_SECONDS
            for output in self._take_live():
                yield output
            if quiet >= ALIVE_SECONDS:
                quiet = 0.0
                yield Alive()
        # Everything that could write is dead, so both streams end.
        await asyncio.gather(*self._readers)
        for output in self._take_live():
            yield output
        yield self._result(self._ended.result())

    async def close(self) -> None:
        """Stop the command if it runs still, and wait until it has ended."""
        if not self._ended.done():
            self._started.control.send(b"stop")
        await asyncio.wait({self._ended, *self._readers})
        self._started.control.close()

    async def _read(self, descriptor: int, name: Name) -> None:
        reader = asyncio.StreamReader(limit=READ_BYTES)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
        )
        try:
            while data := await reader.read(READ_BYTES):
                self._keep(name, self._kept[name].feed(data))
            self._keep(name, self._kept[name].feed(b"", final=True))
        finally:
            transport.close()

    def _keep(self, name: Name, text: str) -> None:
        text = text[: self._live_left]
        self._live_left -= len(text)
        if text:
            self._live.append((name, text))

    def _take_live(self) -> list[Output]:
        pieces, self._live = self._live, []
        joined: list[tuple[Name, str]] = []
        for name, text in pieces:
            if joined and joined[-1][0] == name:
                joined[-1] = (name, joined[-1][1] + text)
            else:
                joined.append((name, text))
        return [
            Output(stream=name, text=text[start : start + ENTRY_CHARACTERS])
            for name, text in joined
            for start in range(0, len(text), ENTRY_CHARACTERS)
        ]

    def _result(self, ended: Ended | None) -> Exited | Refused:
        if ended is None or ended.ending == "not_started":
            why = "the process above it was killed" if ended is None else ended.failure
            code = errors.TOOL_EFFECT_UNKNOWN if ended is None else _code_of(why)
            return Refused(refusal=Refusal(code=code, detail=f"The command did not run to an end: {why}"[:2_000]))
        kept = self._kept
        return Exited(
            ending=ended.ending,
            exit_code=ended.exit_code,
            stdout=kept["stdout"].text(),
            stderr=kept["stderr"].text(),
            truncated=kept["stdout"].truncated or kept["stderr"].truncated,
            duration_seconds=ended.duration_seconds,
            survivors=ended.survivors,
        )


async def _ended(control: socket.socket) -> Ended | None:
    """The end of the command; None when the process above it is gone without a word."""
    control.setblocking(False)
    message = await asyncio.get_running_loop().sock_recv(control, 8_192)
    try:
        return Run.ended(message)
    except LaunchFailed:
        return None


def _code_of(failure: str) -> str:
    return errors.SEAL_UNAVAILABLE if failure.startswith("SealUnavailable") else errors.TOOL_FAILED
