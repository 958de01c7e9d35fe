"""The one place where everything is built and handed over."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from fastapi import FastAPI
from starlette.types import ASGIApp

from gateway.adapters.core import Core
from gateway.adapters.ended_sessions import EndedSessions
from gateway.adapters.login_socket import serve_login_links
from gateway.adapters.ui_files import read_ui
from gateway.app.application import application
from gateway.app.guard import Guard, Room, Slots
from gateway.app.sessions import Sessions
from gateway.app.settings import Settings
from gateway.domain.errors import StartRefusedError
from gateway.domain.login_codes import LoginCodes
from gateway.domain.sessions import KEY_BYTES

log = structlog.get_logger()


def build(settings: Settings) -> ASGIApp:
    """The guarded application.

    Raises:
        StartRefusedError: a file or folder that is needed is missing or wrong.
    """
    sessions = Sessions(
        key=_session_key(settings.session_key_file),
        codes=LoginCodes(),
        ended=_ended_sessions(settings.witness_dir),
        port=settings.public_port,
    )
    core = Core(settings.core_socket)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        login_links = await serve_login_links(settings.login_socket, sessions.new_login_link)
        # The one exception from 'no secret in the log': whoever may read the container's log may run programs in it too.
        log.info("login_link", url=sessions.new_login_link())
        yield
        login_links.close()
        await core.close()

    app = application(core, sessions, read_ui(settings.ui_dir), lifespan)
    room = Room(Slots(settings.max_event_streams), Slots(settings.max_requests), Slots(settings.max_open_requests))
    return Guard(app, settings.public_port, sessions, room)


def _session_key(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except OSError as exc:
        reason = f"GATEWAY_SESSION_KEY_FILE: {path} cannot be read ({exc.strerror})."
        raise StartRefusedError(reason) from exc
    if len(key) != KEY_BYTES:
        reason = f"GATEWAY_SESSION_KEY_FILE: {path} has to hold exactly {KEY_BYTES} random bytes."
        raise StartRefusedError(reason)
    return key


def _ended_sessions(folder: Path) -> EndedSessions:
    try:
        return EndedSessions(folder, now=time.time_ns() // 1_000_000)
    except OSError as exc:
        reason = f"GATEWAY_WITNESS_DIR: {folder} cannot be used ({exc.strerror}). It has to be a folder that this user can write."
        raise StartRefusedError(reason) from exc
