"""The application behind the guard: every route, and nothing that answers where there is none."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from contracts import errors
from contracts.api import EVENTS_PATH, FILE_PATH, ROUTES, Empty, LoginCode
from contracts.errors import Refusal
from gateway.adapters.core import Core
from gateway.adapters.ui_files import UiFile
from gateway.app.answers import FAULT, refused
from gateway.app.core_routes import Endpoint, body_of, endpoint, refused_body
from gateway.app.guard import HEALTH_PATH
from gateway.app.openapi import document
from gateway.app.sessions import Sessions
from gateway.app.stream_routes import events_endpoint, file_endpoint
from gateway.domain.headers import PAGE_POLICY

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def application(core: Core, sessions: Sessions, ui: dict[str, UiFile], lifespan: Lifespan) -> FastAPI:
    """Build it. There is no documentation page: it would need scripts from elsewhere."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    for route in ROUTES:
        app.add_api_route(route.path, endpoint(route, core), methods=[route.method], name=route.name)
    app.add_api_route(EVENTS_PATH, events_endpoint(core), methods=["GET"], name="events")
    app.add_api_route(FILE_PATH, file_endpoint(core), methods=["GET"], name="read_file")
    app.add_api_route("/api/session", _log_in(sessions), methods=["POST"], name="log_in")
    app.add_api_route("/api/session", _log_out(sessions), methods=["DELETE"], name="log_out")
    app.add_api_route("/api/openapi.json", _openapi(), methods=["GET"], name="openapi")
    app.add_api_route(HEALTH_PATH, _health, methods=["GET"], name="health")
    for place, file in ui.items():
        app.add_api_route(place, _ui_file(file), methods=["GET", "HEAD"], name=f"ui {place}")
    app.add_exception_handler(HTTPException, _no_route)
    app.add_exception_handler(Exception, _fault)
    return app


def _log_in(sessions: Sessions) -> Endpoint:
    async def handle(request: Request) -> Response:
        login = await body_of(request, LoginCode)
        if isinstance(login, Refusal):
            return await refused_body(request, login)
        session = sessions.log_in(login.code)
        if isinstance(session, Refusal):
            return refused(session, request.state.request_id)
        return Response(session.model_dump_json(), media_type="application/json")

    return handle


def _log_out(sessions: Sessions) -> Endpoint:
    async def handle(request: Request) -> Response:
        refusal = sessions.log_out(request.state.session)
        if refusal is not None:
            return refused(refusal, request.state.request_id)
        return Response(Empty().model_dump_json(), media_type="application/json")

    return handle


def _openapi() -> Endpoint:
    text = document()

    async def handle(_request: Request) -> Response:
        return Response(text, media_type="application/json")

    return handle


async def _health(_request: Request) -> Response:
    return Response("ok", media_type="text/plain")


def _ui_file(file: UiFile) -> Endpoint:
    headers = {"Cache-Control": file.cache_control, "Content-Type": file.media_type, "Content-Security-Policy": PAGE_POLICY}

    async def handle(_request: Request) -> Response:
        return Response(file.content, headers=headers)

    return handle


async def _fault(request: Request, _exc: Exception) -> Response:
    """A bug. The guard logs it."""
    return refused(FAULT, request.state.request_id)


async def _no_route(request: Request, exc: Exception) -> Response:
    """What the router itself refuses: no such path, or not with this method."""
    details: Any = exc
    request_id = request.state.request_id
    if details.status_code == 405:  # noqa: PLR2004 (the router's word for it)
        methods = (details.headers or {}).get("Allow", "").split(", ")
        return refused(
            Refusal(code=errors.REQUEST_METHOD, detail="This address does not answer this method."), request_id, methods=methods
        )
    return refused(Refusal(code=errors.REQUEST_NOT_FOUND, detail="There is nothing at this address."), request_id)
