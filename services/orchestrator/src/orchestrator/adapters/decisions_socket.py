"""Where egress reports what calls asked of the network: one line of JSON each, on a Unix socket."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from contracts.egress_log import MAX_LINE_BYTES, NetworkDecision
from local_socket import peer_uid

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 8


class DecisionsSocket:
    """Listens for one user's lines and hands each valid one on. What is malformed or too long ends the connection."""

    def __init__(self, path: Path, allowed_uid: int, on_decision: Callable[[NetworkDecision], None]) -> None:
        """Nothing listens before `open`."""
        self._path = path
        self._allowed_uid = allowed_uid
        self._on_decision = on_decision
        self._server: asyncio.Server | None = None
        self._connections = 0

    async def open(self) -> None:
        """Begin to listen; a socket left by an earlier process is replaced."""
        self._path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, self._path, limit=MAX_LINE_BYTES)
        self._path.chmod(0o666)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = peer_uid(writer.get_extra_info("socket"))
        if uid != self._allowed_uid or self._connections >= MAX_CONNECTIONS:
            log.warning("decisions_connection_refused peer_uid=%d", uid)
            writer.close()
            return
        self._connections += 1
        try:
            while line := await reader.readline():
                self._on_decision(NetworkDecision.model_validate_json(line))
        except (ValidationError, ValueError, ConnectionError) as exc:
            log.warning("decisions_line_refused error=%s", type(exc).__name__)
        finally:
            self._connections -= 1
            writer.close()
