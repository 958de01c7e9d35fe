"""The API on the core socket. Only the gateway connects to it, and it has judged each request before."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Lifespan

from contracts import api, errors
from contracts.base import Message
from contracts.errors import ErrorBody, Refusal
from contracts.tools import TOOLS
from orchestrator.adapters import store
from orchestrator.adapters.database import Database
from orchestrator.adapters.workspace_files import WorkspaceFiles
from orchestrator.app.approvals import Approvals
from orchestrator.app.calls import describe
from orchestrator.app.chats import Chats
from orchestrator.app.event_log import EventLog
from orchestrator.app.events_response import server_sent_events
from orchestrator.app.providers import Providers
from orchestrator.domain.errors import CoreError, NotFound

Handler = Callable[[Mapping[str, str], Any], Awaitable[Message]]

STATUS = {
    errors.NOT_FOUND: 404,
    errors.PATH_NOT_FOUND: 404,
    errors.CONFLICT: 409,
    errors.REQUEST_BODY: 422,
    errors.INTERNAL: 500,
}


@dataclass(frozen=True)
class Core:
    """The use cases behind the API."""

    chats: Chats
    approvals: Approvals
    providers: Providers
    events: EventLog
    files: WorkspaceFiles
    database: Database

    def handlers(self) -> dict[str, Handler]:
        """One handler for each name in `contracts.api.ROUTES`: path parameters and body in, reply out."""
        return {
            "list_models": lambda _path, _body: self.providers.models(),
            "list_providers": self._list_providers,
            "add_provider": lambda _path, body: self.providers.add(body),
            "remove_provider": lambda path, _body: _empty(self.providers.remove(path["provider_id"])),
            "list_tools": self._list_tools,
            "list_chats": self._list_chats,
            "create_chat": lambda _path, body: self.chats.create(body),
            "get_chat": lambda path, _body: self.chats.get(path["chat_id"]),
            "change_chat": lambda path, body: self.chats.change(path["chat_id"], body),
            "delete_chat": lambda path, _body: _empty(self.chats.delete(path["chat_id"])),
            "send_message": lambda path, body: self.chats.send(path["chat_id"], body),
            "stop_chat": lambda path, _body: _empty(self.chats.stop(path["chat_id"])),
            "stop_reply": lambda path, _body: self.chats.stop_reply(path["reply_id"]),
            "retry_reply": lambda path, _body: self.chats.retry(path["reply_id"]),
            "continue_reply": lambda path, _body: self.chats.go_on(path["reply_id"]),
            "list_approvals": self._list_approvals,
            "decide_approval": self._decide_approval,
            "list_files": self._list_files,
        }

    async def read_file(self, request: Request) -> Response:
        """The bytes of a workspace file. What it may be shown as is the gateway's to decide."""
        content = await self.files.read(await self._workspace(request.path_params["chat_id"]), request.path_params["path"])
        if isinstance(content, Refusal):
            return _refusal(content)
        return Response(content, media_type="application/octet-stream")

    async def stream_events(self, request: Request) -> Response:
        """The event stream of one chat."""
        after = int(request.query_params["after"])
        stream = self.events.stream(request.query_params["chat"], after)
        return StreamingResponse(
            server_sent_events(stream), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    async def _list_providers(self, _path: Mapping[str, str], _body: None) -> api.Providers:
        return api.Providers(providers=await self.providers.all())

    async def _list_tools(self, _path: Mapping[str, str], _body: None) -> api.Tools:
        return api.Tools(
            tools=tuple(
                api.ToolInfo(name=tool.name, description=tool.description, effect=tool.effect, default_policy=tool.default_policy)
                for tool in TOOLS.values()
            )
        )

    async def _list_chats(self, _path: Mapping[str, str], _body: None) -> api.Chats:
        return api.Chats(chats=await self.chats.list())

    async def _list_approvals(self, _path: Mapping[str, str], _body: None) -> api.Approvals:
        return api.Approvals(approvals=await self.database.run(store.pending_approvals))

    async def _decide_approval(self, path: Mapping[str, str], body: api.Verdict) -> Message:
        return await self.approvals.decide(path["approval_id"], allow=body.decision == "allow", call_hash=body.call_hash)

    async def _list_files(self, path: Mapping[str, str], _body: None) -> Message:
        files = await self.files.list(await self._workspace(path["chat_id"]))
        if isinstance(files, Refusal):
            raise CoreError(files)
        return files

    async def _workspace(self, chat_id: str) -> str:
        row = await self.database.run(store.chat, chat_id)
        if row is None:
            raise NotFound("chat")
        return row.workspace


def application(core: Core, lifespan: Lifespan[Starlette]) -> Starlette:
    """The ASGI application of the core socket."""
    handlers = core.handlers()
    routes = [
        Route(route.path, _endpoint(route, handlers[route.name]), methods=[route.method], name=route.name) for route in api.ROUTES
    ]
    routes.append(Route(api.EVENTS_PATH, core.stream_events, methods=["GET"]))
    routes.append(Route(api.FILE_PATH, core.read_file, methods=["GET"]))
    routes.append(Route("/health", _health, methods=["GET"]))
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={CoreError: _core_error, ValidationError: _bad_body})


def _endpoint(route: api.Route, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = None if route.body is None else route.body.model_validate_json(await request.body())
        reply = await handler(request.path_params, body)
        return Response(reply.model_dump_json(), media_type="application/json")

    return endpoint


async def _empty(work: Awaitable[None]) -> api.Empty:
    await work
    return api.Empty()


async def _health(_request: Request) -> Response:
    return Response(status_code=204)


async def _core_error(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, CoreError)  # noqa: S101 (registered for that class)
    return _refusal(exc.refusal)


async def _bad_body(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, ValidationError)  # noqa: S101 (registered for that class)
    return _refusal(Refusal(code=errors.REQUEST_BODY, detail=describe(exc)))


def _refusal(refusal: Refusal) -> Response:
    body = ErrorBody(code=refusal.code, detail=refusal.detail, hint=refusal.hint)
    return Response(body.model_dump_json(), status_code=STATUS.get(refusal.code, 400), media_type="application/json")
