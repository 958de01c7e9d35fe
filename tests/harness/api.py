"""The public API, as the browser uses it; every answer is read with the model of the contract."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

import httpx2

from contracts import api as contract
from contracts.base import Message
from contracts.chats import Approval, Chat, Exchange, ModelRef, PaneSettings, Reply
from contracts.errors import ErrorBody
from harness.events import Tab
from harness.stack import Stack

M = TypeVar("M", bound=Message)
T = TypeVar("T")

REQUEST_SECONDS = 30


class Refused(AssertionError):
    """The API answered with an error."""

    def __init__(self, status: int, body: ErrorBody) -> None:
        """Keep what it said."""
        super().__init__(f"{status} {body.code}: {body.detail} {body.hint}")
        self.status, self.body = status, body


class Api:
    """A session with one stack."""

    def __init__(self, port: int, token: str) -> None:
        """Use a session token that is there already; see `login`."""
        self.port, self.token = port, token
        headers = {"X-Switchbox-Session": token}
        self.http = httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=REQUEST_SECONDS, trust_env=False)

    @classmethod
    def login(cls, stack: Stack) -> Self:
        """Exchange a fresh login link for a session."""
        code = stack.login_link().partition("#login=")[2]
        answer = httpx2.post(
            f"http://127.0.0.1:{stack.port}/api/session", json={"code": code}, timeout=REQUEST_SECONDS, trust_env=False
        )
        assert answer.is_success, answer.text
        return cls(stack.port, contract.Session.model_validate_json(answer.content).token)

    def ask(self, reply: type[M], method: str, path: str, body: dict[str, Any] | None = None) -> M:
        """One request.

        Raises:
            Refused: the status is 400 or above.
        """
        answer = self.http.request(method, path, json=body)
        if answer.is_error:
            raise Refused(answer.status_code, ErrorBody.model_validate_json(answer.content))
        return reply.model_validate_json(answer.content)

    def models(self) -> contract.Models:
        """What can be asked."""
        return self.ask(contract.Models, "GET", "/api/models")

    def embedded(self) -> ModelRef:
        """The model that comes with Switchbox."""
        model = next(model for model in self.models().models if model.embedded)
        return ModelRef(provider_id=model.provider_id, model=model.model)

    def add_provider(self, name: str, base_url: str, tool_calls: str = "native") -> contract.Provider:
        """Add an endpoint."""
        body = {"name": name, "base_url": base_url, "tool_calls": tool_calls}
        return self.ask(contract.Provider, "POST", "/api/providers", body)

    def create_chat(self, panes: Sequence[PaneSettings], title: str = "") -> Chat:
        """Begin a chat."""
        return self.ask(Chat, "POST", "/api/chats", {"title": title, "panes": [pane.model_dump(mode="json") for pane in panes]})

    def chat(self, chat_id: str) -> Chat:
        """Load a chat."""
        return self.ask(Chat, "GET", f"/api/chats/{chat_id}")

    def change_chat(self, chat_id: str, **change: object) -> Chat:
        """Change policies, the network switch or the title."""
        return self.ask(Chat, "PATCH", f"/api/chats/{chat_id}", change)

    def delete_chat(self, chat_id: str) -> None:
        """Delete a chat; what runs in it is stopped."""
        self.ask(contract.Empty, "DELETE", f"/api/chats/{chat_id}")

    def send(self, chat_id: str, text: str, panes: Sequence[str] | None = None) -> Exchange:
        """Send a message to all panes, or to some."""
        body: dict[str, Any] = {"text": text} if panes is None else {"text": text, "pane_ids": list(panes)}
        return self.ask(Exchange, "POST", f"/api/chats/{chat_id}/messages", body)

    def stop_chat(self, chat_id: str) -> None:
        """Stop everything in a chat."""
        self.ask(contract.Empty, "POST", f"/api/chats/{chat_id}/stop", {})

    def act(self, reply_id: str, action: str) -> Reply:
        """Stop, retry or continue a reply."""
        return self.ask(Reply, "POST", f"/api/replies/{reply_id}/{action}", {})

    def decide(self, approval: Approval, decision: str) -> Approval:
        """Allow or decline exactly what the approval shows."""
        body = {"decision": decision, "call_hash": approval.call_hash}
        return self.ask(Approval, "POST", f"/api/approvals/{approval.approval_id}", body)

    def files(self, chat_id: str) -> dict[str, str]:
        """The paths of a chat's workspace and what each is."""
        listed = self.ask(contract.Files, "GET", f"/api/chats/{chat_id}/files")
        return {entry.path: entry.kind for entry in listed.files}

    def file(self, chat_id: str, path: str) -> bytes:
        """A workspace file as the gateway serves it."""
        answer = self.http.get(f"/api/chats/{chat_id}/files/{path}")
        if answer.is_error:
            raise Refused(answer.status_code, ErrorBody.model_validate_json(answer.content))
        return answer.content

    def tab(self, chat_id: str) -> Tab:
        """Open a tab on a chat; close it."""
        return Tab(self.port, self.token, chat_id, self.chat)


def eventually(attempt: Callable[[], T], seconds: float, pause: float = 0.2) -> T:
    """Try again while it raises an AssertionError or a connection error, for at most `seconds`; then let it through."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except (AssertionError, httpx2.HTTPError):
            if time.monotonic() >= deadline:
                raise
            time.sleep(pause)
