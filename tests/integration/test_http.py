"""tests/cases/http_requests.json over raw sockets against the gateway of the running stack."""

import json
import socket
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from harness.api import Api
from harness.recorded import Script, call, text
from harness.stack import ROOT, Stack

from contracts.chats import Chat, ModelRef, PaneSettings

CASES = json.loads((ROOT / "tests/cases/http_requests.json").read_text(encoding="utf-8"))["cases"]
# Our codes, in the words of the cases.
CLASSES = {
    "request.host": "host",
    "request.target": "target",
    "request.origin": "origin",
    "request.fetch_site": "fetch_site",
    "request.content_type": "content_type",
    "request.body": "body",
    "request.too_large": "body",
    "request.method": "method",
    "request.not_found": "target",
}
REFUSED_STATUSES = {400, 403, 405, 413, 415, 421}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture(scope="module")
def chat(api: Api, scripted: ModelRef) -> Chat:
    """A chat whose workspace the files of the cases are written to."""
    return api.create_chat([PaneSettings(model=scripted)])


@pytest.mark.proves("G2", "G3", "G4", "G5")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_http_request_case(case: dict[str, Any], api: Api, chat: Chat) -> None:
    given, expected = case["input"], case["expect"]
    path = given["path"]
    if path.startswith("{FILE:"):
        name = path.removeprefix("{FILE:").removesuffix("}")
        if "file" in given:
            _put(api, chat, name, given["file"])
        path = f"/api/chats/{chat.chat_id}/files/{name}"
    path = path.replace("{JSON}", f"/api/chats/{chat.chat_id}/messages").replace("{READ}", "/api/chats")
    before = len(api.chat(chat.chat_id).exchanges)
    answer = _raw(api, given, path)
    if expected["decision"] == "refuse":
        assert answer.status in expected["status"], answer
        assert len(api.chat(chat.chat_id).exchanges) == before
        if answer.status >= 400 and answer.headers.get("content-type", "").startswith("application/json"):
            assert CLASSES.get(json.loads(answer.body)["code"]) in expected["classes"]
    else:
        assert answer.status not in REFUSED_STATUSES, answer
    for name in expected.get("headers_absent", []):
        assert name.lower() not in answer.headers
    for name, wanted in expected.get("headers", {}).items():
        have = answer.headers.get(name.lower(), "")
        assert wanted["contains"] in have if isinstance(wanted, dict) else have == wanted
    if "content_type" in expected:
        assert answer.headers["content-type"].partition(";")[0].strip() in expected["content_type"]


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


def _put(api: Api, chat: Chat, name: str, file: dict[str, str]) -> None:
    """Write a file into the workspace by way of tools: text by write_file, bytes by a command."""
    if "text" in file:
        wish = call("write_file", path=name, content=file["text"])
    else:
        escaped = "".join(f"\\x{byte:02x}" for byte in bytes.fromhex(file["hex"]))
        wish = call("run_command", command=f"printf '{escaped}' > {name}")
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    with api.tab(chat.chat_id) as tab:
        exchange = api.send(chat.chat_id, Script([wish, text("ok")]).message)
        tab.wait_for_end(exchange.exchange_id, 1, 30)
    assert name in api.files(chat.chat_id)


def _raw(api: Api, given: dict[str, Any], path: str) -> Answer:
    def filled(value: str) -> str:
        return value.replace("{PORT}", str(api.port))

    valid = json.dumps({"text": Script([text("ok")]).message})
    body = given.get("body", "").replace("{VALID_JSON}", valid).encode()
    if "body_hex" in given:
        body = bytes.fromhex(given["body_hex"])
    if "body_repeat" in given:
        body = (given["body_repeat"]["text"] * given["body_repeat"]["times"]).encode()
    lines = [f"{given['method']} {filled(given.get('target', path))} HTTP/1.1"]
    lines += [f"{name}: {filled(value)}" for name, value in given["headers"]]
    lines += [f"X-Switchbox-Session: {api.token}", "Connection: close"]
    if body or given["method"] == "POST":
        lines.append(f"Content-Length: {len(body)}")
    with socket.create_connection(("127.0.0.1", api.port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    head, _, rest = received.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    return Answer(int(first.split()[1]), headers, rest)
