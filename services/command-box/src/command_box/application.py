"""The API on the command socket: accept a ticket, run its command, stream what happens."""

import os
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

import workspace
from command_box.environment import HOME, PROXY_PORT, TMPDIR, environment, profile
from command_box.running import Entry, run
from command_box.settings import Settings
from contracts import errors
from contracts.commands import Refused, RunRequest
from contracts.errors import Refusal
from contracts.tickets import Ticket
from contracts.tools import RunCommand
from policy.paths import JudgedPath
from policy.tickets import MemoryNonceKeeper, accept
from seal import Command, Launcher, landlock_abi

log = structlog.get_logger()

# A ticket of the largest command, twice, and what encodes them.
MAX_REQUEST_BYTES = 1_000_000
MAX_TIMEOUT_SECONDS = 600.0


def clock() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


class CommandBox:
    """Runs the commands of tickets, a few at once."""

    def __init__(self, settings: Settings, key: Ed25519PublicKey, launcher: Launcher) -> None:
        """`launcher` was made before the event loop began."""
        self._settings = settings
        self._key = key
        self._launcher = launcher
        self._nonces = MemoryNonceKeeper(clock)
        self._running = 0
        self._landlock = landlock_abi()

    async def run(self, request: Request) -> Response:
        """`POST /run`: see `contracts.commands`."""
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_REQUEST_BYTES:
                return _lines(_refused(Refusal(code=errors.TICKET_MALFORMED, detail="The request is too large.")))
        try:
            asked = RunRequest.model_validate_json(bytes(body))
        except ValidationError:
            return _lines(_refused(Refusal(code=errors.TICKET_MALFORMED, detail="The request is not a run request.")))
        command = self._accept(asked)
        if isinstance(command, Refusal):
            log.info("command_refused", code=command.code)
            return _lines(_refused(command))
        return _lines(self._run(command))

    def _accept(self, asked: RunRequest) -> Command | Refusal:
        """The command of an accepted ticket. Nothing before this line has touched a workspace."""
        if self._running >= self._settings.max_commands:
            return Refusal(
                code=errors.TOOL_UNAVAILABLE, detail="Too many commands run at once.", hint="Ask again when one has ended."
            )
        if self._landlock == 0 and not self._settings.unsafe_no_landlock:
            return Refusal(
                code=errors.SEAL_UNAVAILABLE,
                detail="This machine's kernel has no Landlock, so commands of different chats cannot be kept apart.",
                hint="Use a kernel from 5.13 on with Landlock switched on, or set COMMAND_BOX_UNSAFE_NO_LANDLOCK=1 knowing that.",
            )
        ticket = accept(asked.ticket, self._key, "command-box", clock(), self._nonces)
        if isinstance(ticket, Refusal):
            return ticket
        if ticket.tool != "run_command":
            return Refusal(code=errors.TICKET_TOOL, detail=f"command-box does not run {ticket.tool}.")
        try:
            arguments = RunCommand.model_validate(ticket.arguments)
        except ValidationError:
            return Refusal(code=errors.POLICY_ARGUMENTS, detail="The arguments are not those of run_command.")
        folder = self._folder(ticket)
        if isinstance(folder, Refusal):
            return folder
        network = ticket.network.enabled and asked.egress_ticket is not None
        proxy = self._proxy(asked.egress_ticket) if network and asked.egress_ticket is not None else None
        if isinstance(proxy, Refusal):
            return proxy
        log.info("command_started", call_id=ticket.call_id, network=network)
        return Command(
            argv=("/bin/bash", "-c", arguments.command),
            environment=environment(folder, proxy),
            folder=str(folder),
            profile=profile(
                folder,
                network=network,
                protected_pids=(os.getpid(),),
                unsafe_no_landlock=self._settings.unsafe_no_landlock,
            ),
            timeout_seconds=min(ticket.timeout_seconds, MAX_TIMEOUT_SECONDS),
        )

    def _folder(self, ticket: Ticket) -> Path | Refusal:
        """The chat's folder, made when missing, with the hidden folders that commands use."""
        opened = workspace.open_chat_folder(self._settings.workspaces_root, ticket.workspace.name, create=True)
        if isinstance(opened, Refusal):
            return opened
        with opened:
            for place in (HOME, TMPDIR):
                made = workspace.make_folder(opened, JudgedPath(tuple(place.split("/")), is_folder=True))
                if made is not None:
                    return made
        return self._settings.workspaces_root / "chats" / ticket.workspace.name

    def _proxy(self, credential: str) -> str | Refusal:
        """The proxy's address with the call's credential. Commands cannot look names up, so it is done here."""
        try:
            address = socket.gethostbyname(self._settings.egress_host)
        except OSError:
            return Refusal(code=errors.TOOL_UNAVAILABLE, detail="egress is not there, so the command would have no network.")
        return f"http://ticket:{credential}@{address}:{PROXY_PORT}"

    async def _run(self, command: Command) -> AsyncIterator[Entry]:
        self._running += 1
        try:
            async for entry in run(self._launcher, command, self._settings.output_characters):
                yield entry
        finally:
            self._running -= 1


def application(box: CommandBox) -> Starlette:
    """The ASGI application of the command socket."""
    return Starlette(routes=[Route("/run", box.run, methods=["POST"]), Route("/health", _health, methods=["GET"])])


async def _health(_request: Request) -> Response:
    return Response(status_code=200)


async def _refused(refusal: Refusal) -> AsyncIterator[Entry]:
    yield Refused(refusal=refusal)


def _lines(entries: AsyncIterator[Entry]) -> StreamingResponse:
    async def encoded() -> AsyncIterator[bytes]:
        try:
            async for entry in entries:
                yield entry.model_dump_json().encode() + b"\n"
        finally:
            # Starlette does not close a generator when the client goes; the command ends here.
            await entries.aclose()  # type: ignore[attr-defined]  # both sources are async generators

    return StreamingResponse(encoded(), media_type="application/x-ndjson")
