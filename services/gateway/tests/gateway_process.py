"""The real gateway in a process of its own, a small core in ours, and raw requests between them."""

import asyncio
import contextlib
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

CHAT = "0123456789abcdef0123456789abcdef"
DEADLINE_SECONDS = 20


@dataclass
class SmallCore:
    """Keeps messages and files in memory, and everything it was asked."""

    seen: list[tuple[str, str, bytes, dict[str, str]]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    # What it answers to a path instead: a status and bytes.
    instead: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    # Files that break off after 100,000 bytes, as when the core is killed.
    broken: set[str] = field(default_factory=set)
    # What is neither a file nor a stream waits until this is set.
    hold: threading.Event | None = None
    events: list[bytes] = field(default_factory=list)
    open_streams: int = 0
    endless: bool = True

    def application(self) -> Starlette:
        """The ASGI application."""

        @contextlib.asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            yield

        routes = [
            Route("/api/events", self._events, methods=["GET"]),
            Route("/api/chats/{chat_id}/files/{path:path}", self._file, methods=["GET"]),
            Route("/{path:path}", self._anything, methods=["GET", "POST", "PATCH", "DELETE"]),
        ]
        return Starlette(routes=routes, lifespan=lifespan)

    async def _note(self, request: Request) -> Response | None:
        query = f"?{request.url.query}" if request.url.query else ""
        self.seen.append((request.method, request.url.path + query, await request.body(), dict(request.headers)))
        if request.url.path in self.instead:
            status, body = self.instead[request.url.path]
            return Response(body, status_code=status)
        return None

    async def _anything(self, request: Request) -> Response:
        if self.hold is not None:
            await asyncio.to_thread(self.hold.wait, DEADLINE_SECONDS)
        return await self._note(request) or JSONResponse({"asked": request.url.path})

    async def _file(self, request: Request) -> Response:
        instead = await self._note(request)
        path = request.path_params["path"]
        if instead is not None:
            return instead
        if path in self.broken:
            return StreamingResponse(_breaking(), media_type="application/octet-stream")
        if path not in self.files:
            return JSONResponse({"code": "path.not_found", "detail": "There is no such file.", "hint": "", "request_id": ""}, 404)
        return Response(self.files[path], media_type="application/octet-stream")

    async def _events(self, request: Request) -> Response:
        return await self._note(request) or StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[bytes]:
        self.open_streams += 1
        try:
            for event in list(self.events):
                yield event
                await asyncio.sleep(0)
            while self.endless:
                await asyncio.sleep(0.05)
                yield b": alive\n\n"
        finally:
            self.open_streams -= 1


async def _breaking() -> AsyncIterator[bytes]:
    yield b"x" * 100_000
    raise ConnectionAbortedError


@contextlib.contextmanager
def serve_core(core: SmallCore, path: Path) -> Iterator[None]:
    """Serve it on a Unix socket in a thread."""
    config = uvicorn.Config(
        core.application(),
        uds=str(path),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: connects(path))
        yield
    finally:
        core.endless = False
        server.should_exit = True
        thread.join(timeout=DEADLINE_SECONDS)
        path.unlink(missing_ok=True)


def connects(path: Path) -> bool:
    """Whether something listens at a socket."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        return True
    return False


def until(condition: Any, seconds: float = DEADLINE_SECONDS) -> None:
    """Wait, within bounds, for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@dataclass(frozen=True)
class Answer:
    """What the gateway answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Gateway:
    """A running gateway and how to talk to it."""

    folder: Path
    environment: dict[str, str]
    port: int
    core_socket: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gateway.app.main"],
            env=self.environment,
            stdout=(self.folder / "log").open("ab"),
            stderr=subprocess.STDOUT,
            cwd=self.folder,
        )
        until(self._answers)

    def stop(self) -> float:
        """Stop it; the seconds it took."""
        assert self.process is not None
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(timeout=DEADLINE_SECONDS)
        return time.monotonic() - began

    def log(self) -> list[dict[str, Any]]:
        """Every line of its log; each is one JSON object."""
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def login_link(self) -> str:
        """A new link, as `docker compose exec` gets it."""
        command = [sys.executable, "-m", "gateway.app.login_link"]
        return subprocess.run(command, env=self.environment, capture_output=True, check=True, timeout=20).stdout.decode().strip()

    def log_in(self) -> str:
        """A session token."""
        token: str = self.exchange(self.login_link().split("#login=")[1]).json()["token"]
        return token

    def exchange(self, code: str) -> Answer:
        """Try a login code."""
        return self.ask("POST", "/api/session", body=json.dumps({"code": code}).encode())

    def ask(self, method: str, path: str, *, session: str = "", body: bytes | None = None, **headers: str) -> Answer:
        """An ordinary request of a well-behaved client. `headers` are given with underscores for hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if session:
            sent["X-Switchbox-Session"] = session
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body=body, headers=sent)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def raw(self, request: bytes) -> bytes:
        """Send bytes as they are; everything that comes back until the gateway closes."""
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_SECONDS) as connection:
            connection.sendall(request)
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(65536):
                    received += chunk
        return received

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with contextlib.suppress(OSError):
            return self.ask("GET", "/healthz").status == 200
        return False


def new_gateway(folder: Path, **settings: str) -> Gateway:
    """Everything that a gateway needs, below `folder`. It is not started."""
    ui = folder / "ui"
    (ui / "assets").mkdir(parents=True)
    (ui / "index.html").write_text("<!doctype html><title>page</title>")
    (ui / "assets" / "app-1a2b.js").write_text("document.title = 'app'")
    (folder / "witness").mkdir()
    (folder / "session.key").write_bytes(secrets.token_bytes(32))
    port = _free_port()
    core_socket = folder / "core.sock"
    given = {
        "PUBLIC_PORT": str(port),
        "LISTEN_PORT": str(port),
        "LISTEN_HOST": "127.0.0.1",
        "CORE_SOCKET": str(core_socket),
        "SESSION_KEY_FILE": str(folder / "session.key"),
        "WITNESS_DIR": str(folder / "witness"),
        "UI_DIR": str(ui),
        "LOGIN_SOCKET": str(folder / "private" / "login.sock"),
        **settings,
    }
    environment = {f"GATEWAY_{name}": value for name, value in given.items()} | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return Gateway(folder, environment, port, core_socket)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
