"""tests/cases/http_requests.json over raw sockets against the gateway of the running stack."""

import json
from typing import Any

import http_cases
import httpx2
import pytest
from harness.api import Api
from harness.recorded import Script, call, text
from harness.stack import Stack

from contracts.chats import Chat, ModelRef, PaneSettings

CASES = http_cases.load()


@pytest.fixture(scope="module")
def chat(api: Api, scripted: ModelRef) -> Chat:
    """A chat whose workspace the files of the cases are written to."""
    return api.create_chat([PaneSettings(model=scripted)])


@pytest.mark.proves("G2", "G3", "G4", "G5")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_http_request_case(case: dict[str, Any], api: Api, chat: Chat) -> None:
    target = http_cases.Target(
        listens_at=("127.0.0.1", api.port),
        port=api.port,
        session=api.token,
        read_path="/api/chats",
        json_path=f"/api/chats/{chat.chat_id}/messages",
        valid_json=json.dumps({"text": Script([text("ok")]).message}),
        file_path=f"/api/chats/{chat.chat_id}/files/",
        put_file=lambda name, content: _put(api, chat, name, content),
        state=lambda: len(api.chat(chat.chat_id).exchanges),
    )
    http_cases.run(case, target)


def test_every_case_is_loaded() -> None:
    assert len(CASES) == 52


@pytest.mark.proves("G6")
@pytest.mark.parametrize("token", [None, "", "x", "a.b", "0" * 64])
def test_without_a_session_nothing_is_read_or_changed(token: str | None, api: Api) -> None:
    headers = {} if token is None else {"X-Switchbox-Session": token}
    for method, path in (
        ("GET", "/api/chats"),
        ("POST", "/api/chats"),
        ("GET", "/api/events?chat=" + "0" * 32),
        ("GET", "/api/openapi.json"),
    ):
        answer = httpx2.request(
            method, f"http://127.0.0.1:{api.port}{path}", headers=headers, json={} if method == "POST" else None, trust_env=False
        )
        assert answer.status_code == 401
        assert answer.json()["code"].startswith("session.")


@pytest.mark.proves("G6")
def test_a_login_link_works_once(api: Api, stack: Stack) -> None:
    code = stack.login_link().partition("#login=")[2]
    url = f"http://127.0.0.1:{api.port}/api/session"
    assert httpx2.post(url, json={"code": code}, trust_env=False).status_code == 200
    again = httpx2.post(url, json={"code": code}, trust_env=False)
    assert (again.status_code, again.json()["code"]) == (401, "login.code")


def _put(api: Api, chat: Chat, name: str, content: bytes) -> None:
    """Write a file into the workspace by way of a command, which takes any bytes."""
    escaped = "".join(f"\\x{byte:02x}" for byte in content)
    wish = call("run_command", command=f"printf '{escaped}' > {name}")
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    with api.tab(chat.chat_id) as tab:
        exchange = api.send(chat.chat_id, Script([wish, text("ok")]).message)
        tab.wait_for_end(exchange.exchange_id, 1, 30)
    assert name in api.files(chat.chat_id)
