"""The API between browser and core: one table of routes, from which the gateway and the orchestrator are both made.

The gateway judges a request, validates its body with the route's model and passes it on over the core socket; the
orchestrator has a handler of the route's name. Sessions are the gateway's own affair and are not in the table, nor are
the two routes that stream bytes: `GET /api/events` (see `events`) and `GET /api/chats/{chat_id}/files/{path}`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from .base import Id, Message, Sha256, ToolName, UnixMilliseconds
from .chats import MAX_MESSAGE_CHARACTERS, MAX_PANES, Approval, Chat, ChatSummary, Exchange, PaneSettings, Reply
from .tickets import Policy

EVENTS_PATH = "/api/events"
FILE_PATH = "/api/chats/{chat_id}/files/{path:path}"
MAX_BODY_BYTES = 2 * 1024 * 1024


class LoginCode(Message):
    """Exchange the one-time code of the login link for a session."""

    code: Annotated[str, Field(min_length=1, max_length=128)]


class Session(Message):
    """A session token, to be sent in the header `X-Switchbox-Session`."""

    token: str
    expires_at: UnixMilliseconds


class Empty(Message):
    """Nothing to say."""


class NewChat(Message):
    """Begin a chat with one to four panes."""

    title: Annotated[str, Field(max_length=200)] = ""
    panes: Annotated[tuple[PaneSettings, ...], Field(min_length=1, max_length=MAX_PANES)]


class ChatChange(Message):
    """Change a chat; what is absent stays. `panes` replaces all panes: the first keeps the first one's identity, and so on."""

    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    policies: dict[ToolName, Policy] | None = None
    network: bool | None = None
    panes: Annotated[tuple[PaneSettings, ...], Field(min_length=1, max_length=MAX_PANES)] | None = None


class NewMessage(Message):
    """Send a message to all panes, or to those named."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE_CHARACTERS)]
    pane_ids: Annotated[tuple[Id, ...], Field(min_length=1, max_length=MAX_PANES)] | None = None


class Verdict(Message):
    """A person's word on an approval; `call_hash` is that of the call the person was shown."""

    decision: Literal["allow", "decline"]
    call_hash: Sha256


class NewProvider(Message):
    """Add an OpenAI-compatible endpoint. Redirects are not followed. Endpoints that need a key come with the vault."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    base_url: Annotated[str, Field(pattern=r"^https?://", max_length=500)]
    tool_calls: Literal["native", "constrained", "none"] = "native"


class Provider(NewProvider):
    """An endpoint. `embedded` is the model that comes with Switchbox and cannot be removed."""

    provider_id: str
    embedded: bool = False


class Model(Message):
    """A model that a provider offers."""

    provider_id: str
    provider_name: str
    model: str
    label: str
    tool_calls: Literal["native", "constrained", "none"]
    embedded: bool = False


class ProviderProblem(Message):
    """A provider that could not be asked for its models, and why."""

    provider_id: str
    provider_name: str
    detail: str


class Models(Message):
    """What can be asked now."""

    models: tuple[Model, ...]
    problems: tuple[ProviderProblem, ...] = ()


class ToolInfo(Message):
    """A tool, as a person sees it."""

    name: str
    description: str
    effect: Literal["read", "write", "run"]
    default_policy: Policy


class FileEntry(Message):
    """A file or folder of a workspace. `size` is in bytes, None for a folder."""

    path: str
    kind: Literal["file", "folder", "other"]
    size: int | None
    modified_at: UnixMilliseconds


class Chats(Message):
    """All chats, the last changed first."""

    chats: tuple[ChatSummary, ...]


class Providers(Message):
    """All providers."""

    providers: tuple[Provider, ...]


class Tools(Message):
    """All tools."""

    tools: tuple[ToolInfo, ...]


class Approvals(Message):
    """All approvals that wait, of all chats."""

    approvals: tuple[Approval, ...]


class Files(Message):
    """The files of a chat's workspace, at most 1,000; `truncated` says that there are more."""

    files: tuple[FileEntry, ...]
    truncated: bool = False


@dataclass(frozen=True)
class Route:
    """One operation: its name is that of the orchestrator's handler and the operationId of the OpenAPI document."""

    name: str
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    reply: type[Message]
    body: type[Message] | None = None


ROUTES: tuple[Route, ...] = (
    Route("list_models", "GET", "/api/models", Models),
    Route("list_providers", "GET", "/api/providers", Providers),
    Route("add_provider", "POST", "/api/providers", Provider, NewProvider),
    Route("remove_provider", "DELETE", "/api/providers/{provider_id}", Empty),
    Route("list_tools", "GET", "/api/tools", Tools),
    Route("list_chats", "GET", "/api/chats", Chats),
    Route("create_chat", "POST", "/api/chats", Chat, NewChat),
    Route("get_chat", "GET", "/api/chats/{chat_id}", Chat),
    Route("change_chat", "PATCH", "/api/chats/{chat_id}", Chat, ChatChange),
    Route("delete_chat", "DELETE", "/api/chats/{chat_id}", Empty),
    Route("send_message", "POST", "/api/chats/{chat_id}/messages", Exchange, NewMessage),
    Route("stop_chat", "POST", "/api/chats/{chat_id}/stop", Empty, Empty),
    Route("stop_reply", "POST", "/api/replies/{reply_id}/stop", Reply, Empty),
    Route("retry_reply", "POST", "/api/replies/{reply_id}/retry", Reply, Empty),
    Route("continue_reply", "POST", "/api/replies/{reply_id}/continue", Reply, Empty),
    Route("list_approvals", "GET", "/api/approvals", Approvals),
    Route("decide_approval", "POST", "/api/approvals/{approval_id}", Approval, Verdict),
    Route("list_files", "GET", "/api/chats/{chat_id}/files", Files),
)
