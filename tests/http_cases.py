"""Runs the table cases/http_requests.json against a gateway that listens somewhere: raw bytes in, what came back judged.

Standard library only. A test gives a `Target`: where the gateway is, a good session, the routes that the table's
placeholders stand for, and how to look at the state that a refused request must not change.
"""

import http.client
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent / "cases" / "http_requests.json"

# The gateway's codes and the table's general words for them.
CLASSES = {
    "request.host": "host",
    "request.target": "target",
    "request.origin": "origin",
    "request.fetch_site": "fetch_site",
    "request.method": "method",
    "request.content_type": "content_type",
    "request.body": "body",
    "request.too_large": "body",
}
# 'Allow' means that the request reached its route: any status but these.
TURNED_AWAY = {400, 403, 405, 413, 415, 421}

_CASE_KEYS = {"id", "level", "input", "expect", "why", "source"}
_INPUT_KEYS = {"method", "path", "headers", "target", "body", "body_hex", "body_repeat", "file"}
_EXPECT_KEYS = {"decision", "status", "classes", "headers_absent", "headers", "content_type"}


@dataclass(frozen=True)
class Target:
    """A gateway. `port` is the one that browsers see ({PORT}), `listens_at` where to connect."""

    listens_at: tuple[str, int]
    port: int
    session: str
    read_path: str
    """A read route of the API ({READ})."""
    json_path: str
    """A POST route that changes state and has no GET ({JSON})."""
    valid_json: str
    """A body that it would accept ({VALID_JSON})."""
    file_path: str
    """The path before a workspace file's name ({FILE:name})."""
    put_file: Callable[[str, bytes], None]
    """Write a file into that workspace."""
    state: Callable[[], object]
    """A picture of what requests may change, to be compared."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """All values of a header as one, or None."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None


def load() -> list[dict[str, Any]]:
    """All cases; raises where one has a part that this module does not read."""
    cases: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))["cases"]
    for case in cases:
        unread = (set(case) - _CASE_KEYS) | (set(case["input"]) - _INPUT_KEYS) | (set(case["expect"]) - _EXPECT_KEYS)
        if unread:
            raise ValueError(f"{case['id']}: cannot read {sorted(unread)}")
    return cases


def run(case: dict[str, Any], target: Target) -> Answer:
    """Send the case's request and assert what it expects."""
    given, expected = case["input"], case["expect"]
    if "file" in given:
        target.put_file(_file_name(given["path"]), _file_bytes(given["file"]))
    before = target.state()
    answer = send(target, request_bytes(given, target), given["method"])
    where = f"{case['id']} ({case['why']}): {answer.status} {answer.body[:300]!r}"
    if expected["decision"] == "allow":
        assert answer.status not in TURNED_AWAY, where
    else:
        assert answer.status in expected["status"], where
        assert target.state() == before, f"{case['id']}: a refused request changed something"
        # A status below 400 (a preflight's, say) has no reason; the absence of headers is all that counts then.
        if answer.status >= 400:
            code = json.loads(answer.body)["code"]
            assert CLASSES.get(code) in expected["classes"], where
    for name in expected.get("headers_absent", []):
        assert answer.header(name) is None, f"{case['id']}: {name}"
    for name, fact in expected.get("headers", {}).items():
        value = answer.header(name) or ""
        assert fact["contains"] in value if isinstance(fact, dict) else value == fact, f"{case['id']}: {name}: {value}"
    if "content_type" in expected:
        assert answer.status == 200, where
        media_type = (answer.header("Content-Type") or "").split(";")[0].strip()
        assert media_type in expected["content_type"], f"{case['id']}: {media_type}"
        assert answer.body == _file_bytes(given["file"]), f"{case['id']}: other bytes than the file's"
    return answer


def request_bytes(given: dict[str, Any], target: Target) -> bytes:
    """The request exactly as the case lists it, with a good session, and with the length where there is a body."""
    body = _body(given, target)
    headers = [(name, value.replace("{PORT}", str(target.port))) for name, value in given["headers"]]
    headers.append(("X-Switchbox-Session", target.session))
    if body is not None:
        headers.append(("Content-Length", str(len(body))))
    address = given.get("target", _path(given["path"], target)).replace("{PORT}", str(target.port))
    lines = [f"{given['method']} {address} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def send(target: Target, request: bytes, method: str) -> Answer:
    """Send raw bytes over a connection of their own and read one answer."""
    with socket.create_connection(target.listens_at, timeout=30) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        return Answer(response.status, response.getheaders(), response.read())


def _path(path: str, target: Target) -> str:
    if path.startswith("{FILE:"):
        return target.file_path + _file_name(path)
    known = {"{READ}": target.read_path, "{JSON}": target.json_path}
    if path not in known and path.startswith("{"):
        raise ValueError(f"cannot read the path {path}")
    return known.get(path, path)


def _file_name(path: str) -> str:
    return path.removeprefix("{FILE:").removesuffix("}")


def _file_bytes(file: dict[str, str]) -> bytes:
    return bytes.fromhex(file["hex"]) if "hex" in file else file["text"].encode()


def _body(given: dict[str, Any], target: Target) -> bytes | None:
    if "body" in given:
        text: str = given["body"]
        return (target.valid_json if text == "{VALID_JSON}" else text).encode()
    if "body_hex" in given:
        return bytes.fromhex(given["body_hex"])
    if "body_repeat" in given:
        repeat = given["body_repeat"]
        return str(repeat["text"]).encode() * int(repeat["times"])
    return None
