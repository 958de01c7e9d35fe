"""What the case table has no row for, on a real gateway process with a core behind it."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest
from gateway_process import CHAT, Gateway, SmallCore, new_gateway, serve_core, until

from contracts import errors
from contracts.api import MAX_BODY_BYTES, ROUTES

REPLY = "fedcba9876543210fedcba9876543210"
VALUES = {"chat_id": CHAT, "reply_id": REPLY, "approval_id": REPLY, "provider_id": "my-provider"}
BODIES = {
    "NewProvider": {"name": "n", "base_url": "http://x/v1"},
    "NewChat": {"panes": [{"model": {"provider_id": "embedded", "model": "m"}, "temperature": 0.5}]},
    "ChatChange": {"title": "t"},
    "NewMessage": {"text": "hello"},
    "Empty": {},
    "Verdict": {"decision": "allow", "call_hash": "0" * 64},
}


# --- G6: sessions ---
@pytest.mark.proves("G6")
def test_the_log_has_a_login_link_that_works_once(gateway: Gateway) -> None:
    links = [line["url"] for line in gateway.log() if line["event"] == "login_link"]
    assert len(links) == 1
    code = re.fullmatch(rf"http://127\.0\.0\.1:{gateway.port}/#login=([A-Za-z0-9_-]{{43}})", links[0])
    assert code is not None
    first, second = gateway.exchange(code[1]), gateway.exchange(code[1])
    assert first.status == 200
    assert set(first.json()) == {"token", "expires_at"}
    assert (second.status, second.json()["code"]) == (401, errors.LOGIN_CODE)
    assert "used already" in second.json()["detail"]


@pytest.mark.proves("G6")
@pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])
def test_no_route_answers_without_a_session(gateway: Gateway, core: SmallCore, route) -> None:
    body = None if route.body is None else json.dumps(BODIES[route.body.__name__]).encode()
    path = route.path.format_map(VALUES)
    assert gateway.ask(route.method, path, body=body).json()["code"] == errors.SESSION_MISSING
    assert gateway.ask(route.method, path, body=body, session="v1.x").json()["code"] == errors.SESSION_INVALID
    assert core.seen == []


@pytest.mark.proves("G6")
@pytest.mark.parametrize(
    "path", [f"/api/events?chat={CHAT}", f"/api/chats/{CHAT}/files/a.txt", "/api/openapi.json", "/api/nothing", "/%61pi/chats"]
)
def test_streams_files_and_whatever_else_is_below_api_need_one_too(gateway: Gateway, core: SmallCore, path: str) -> None:
    answer = gateway.ask("GET", path)
    assert (answer.status, answer.json()["code"]) == (401, errors.SESSION_MISSING)
    assert gateway.ask("DELETE", "/api/session").status == 401


@pytest.mark.proves("G6")
def test_a_session_in_a_cookie_or_in_the_address_is_none(gateway: Gateway, session: str) -> None:
    assert gateway.ask("GET", "/api/chats", Cookie=f"session={session}; X-Switchbox-Session={session}").status == 401
    assert gateway.ask("GET", f"/api/chats?session={session}").status == 401


def test_a_session_that_was_ended_is_refused_also_after_a_restart(tmp_path: Path) -> None:
    gateway = new_gateway(tmp_path)
    gateway.start()
    with serve_core(SmallCore(), gateway.core_socket):
        kept, ended = gateway.log_in(), gateway.log_in()
        assert gateway.ask("DELETE", "/api/session", session=ended).status == 200
        assert gateway.ask("GET", "/api/chats", session=ended).json()["code"] == errors.SESSION_EXPIRED
        gateway.stop()
        gateway.start()
        assert gateway.ask("GET", "/api/chats", session=ended).json()["code"] == errors.SESSION_EXPIRED
        assert gateway.ask("GET", "/api/chats", session=kept).status == 200
    gateway.stop()


# --- forwarding ---
@pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])
def test_each_route_reaches_the_same_path_of_the_core(gateway: Gateway, core: SmallCore, session: str, route) -> None:
    body = None if route.body is None else BODIES[route.body.__name__]
    path = route.path.format_map(VALUES)
    answer = gateway.ask(route.method, path, session=session, body=None if body is None else json.dumps(body).encode())
    assert answer.status == 200
    assert answer.json() == {"asked": path}
    ((method, asked, sent, headers),) = core.seen
    assert (method, asked) == (route.method, path)
    assert (json.loads(sent) if sent else None) == body
    assert headers["x-request-id"] == answer.headers["X-Request-Id"]
    assert "x-switchbox-session" not in headers


@pytest.mark.parametrize(
    "path", ["/api/chats/x", f"/api/chats/{CHAT}x", f"/api/chats/{CHAT.upper()}", "/api/providers/A", f"/api/chats/{CHAT}%0a"]
)
def test_an_id_that_cannot_be_one_is_not_passed_on(gateway: Gateway, core: SmallCore, session: str, path: str) -> None:
    assert gateway.ask("DELETE", path, session=session).status in {400, 404}
    assert core.seen == []


def test_the_cores_refusals_are_passed_on_with_their_status(gateway: Gateway, core: SmallCore, session: str) -> None:
    core.instead["/api/chats"] = (409, b'{"code": "state.conflict", "detail": "Busy.", "hint": "Wait.", "request_id": ""}')
    answer = gateway.ask("GET", "/api/chats", session=session)
    assert (answer.status, answer.json()["code"], answer.json()["hint"]) == (409, "state.conflict", "Wait.")
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize(
    "instead", [(200, b"[1]"), (200, b"no json"), (500, b"Traceback: secret"), (404, b'{"detail": "Not Found"}'), (302, b"")]
)
def test_what_is_no_answer_of_the_cores_is_not_passed_on(
    gateway: Gateway, core: SmallCore, session: str, instead: tuple[int, bytes]
) -> None:
    core.instead["/api/chats"] = instead
    answer = gateway.ask("GET", "/api/chats", session=session)
    assert (answer.status, answer.json()["code"]) == (503, errors.CORE_UNAVAILABLE)
    assert b"secret" not in answer.body


def test_without_a_core_the_answer_says_so_and_the_next_one_works(gateway: Gateway, session: str) -> None:
    answer = gateway.ask("POST", f"/api/chats/{CHAT}/stop", session=session, body=b"{}")
    assert (answer.status, answer.json()["code"]) == (503, errors.CORE_UNAVAILABLE)
    assert "nothing was done" in answer.json()["detail"]
    for path in (f"/api/events?chat={CHAT}", f"/api/chats/{CHAT}/files/a"):
        assert gateway.ask("GET", path, session=session).json()["code"] == errors.CORE_UNAVAILABLE
    with serve_core(SmallCore(), gateway.core_socket):
        assert gateway.ask("GET", "/api/chats", session=session).status == 200


# --- G4: bodies ---
@pytest.mark.proves("G4")
@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (b"Content-Length: 3000000", b" " * 3_000_000, 413),
        (
            b"Transfer-Encoding: chunked",
            b"100000\r\n" + b" " * 0x100000 + b"\r\n100000\r\n" + b" " * 0x100000 + b"\r\n1\r\n \r\n0\r\n\r\n",
            413,
        ),
        (b"Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n", 422),
        (b"Content-Length: 17", b'{"text":"a","b":1}'[:17], 422),
        (b"Content-Length: 2\r\nContent-Length: 3", b"{} ", 400),
        (b"Content-Length: 2\r\nTransfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n", 400),
        (b"Content-Length: -1", b"", 400),
        (b"Transfer-Encoding: gzip, chunked", b"2\r\n{}\r\n0\r\n\r\n", 422),
    ],
)
def test_a_bad_body_is_told_and_changes_nothing(
    gateway: Gateway, core: SmallCore, session: str, headers: bytes, body: bytes, status: int
) -> None:
    answer = gateway.raw(_post(gateway, session, headers + b"\r\nConnection: close") + body)
    assert int(answer.split(b" ")[1]) == status, answer[:300]
    assert b'"code":' in answer
    assert core.seen == []


def test_a_body_of_exactly_the_limit_is_read(gateway: Gateway, core: SmallCore, session: str) -> None:
    text = json.dumps({"text": "x"}).encode()
    answer = gateway.ask("POST", f"/api/chats/{CHAT}/messages", session=session, body=text.ljust(MAX_BODY_BYTES))
    assert answer.status == 200
    assert json.loads(core.seen[0][2]) == {"text": "x"}


@pytest.mark.slow
def test_a_body_or_a_head_that_does_not_come_times_out(gateway: Gateway, core: SmallCore, session: str) -> None:
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        body = pool.submit(gateway.raw, _post(gateway, session, b"Content-Length: 100") + b"{")
        head = pool.submit(gateway.raw, b"GET / HTTP/1.1\r\nHost:")
        nothing = pool.submit(gateway.raw, b"")
        answers = [body.result(), head.result(), nothing.result()]
    assert 9 < time.monotonic() - began < 15
    assert [answer.split(b" ")[1] for answer in answers] == [b"408", b"408", b"408"]
    assert core.seen == []


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 100_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 20_000, 431),
        (b"hello\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost 1\n\n", 400),
        (b"GET / HTTP/1.1\r\nHost: {}\r\nX : a\r\n\r\n", 400),
        (b"GET http://attacker.example HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", 400),
        (b"CONNECT attacker.example:443 HTTP/1.1\r\nHost: {}\r\n\r\n", 400),
        (b"OPTIONS * HTTP/1.1\r\nHost: {}\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ],
)
def test_what_is_no_request_is_told_so(gateway: Gateway, request_text: bytes, status: int) -> None:
    answer = gateway.raw(request_text.replace(b"{}", b"127.0.0.1:%d" % gateway.port))
    assert int(answer.split(b" ")[1]) == status, answer[:300]
    assert b"nosniff" in answer


@pytest.mark.proves("G3")
def test_a_websocket_of_any_origin_is_refused(gateway: Gateway, core: SmallCore, session: str) -> None:
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    for origin, code in (
        (b"http://attacker.example", errors.REQUEST_ORIGIN),
        (b"http://127.0.0.1:%d" % gateway.port, errors.REQUEST_METHOD),
    ):
        head = b"GET /api/events?chat=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: %s\r\nX-Switchbox-Session: %s\r\n" % (
            CHAT.encode(),
            gateway.port,
            origin,
            session.encode(),
        )
        answer = gateway.raw(head + upgrade + b"\r\n")
        assert code.encode() in answer
        assert b"101 Switching" not in answer
    assert core.seen == []


def test_two_requests_on_one_connection_are_judged_each(gateway: Gateway, core: SmallCore, session: str) -> None:
    good = f"GET /api/chats HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nX-Switchbox-Session: {session}\r\n\r\n"
    bad = good.replace("127.0.0.1", "attacker.example")
    answer = gateway.raw((good + bad + good).encode())
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"403"]
    assert len(core.seen) == 1


def test_requests_in_flight_are_bounded_and_logging_in_is_not_held_up(tmp_path: Path) -> None:
    gateway, core = new_gateway(tmp_path, MAX_REQUESTS="2"), SmallCore(hold=threading.Event())
    gateway.start()
    session = gateway.log_in()
    with serve_core(core, gateway.core_socket), concurrent.futures.ThreadPoolExecutor() as pool:
        answers = [pool.submit(gateway.ask, "GET", "/api/chats", session=session) for _ in range(6)]
        until(lambda: sum(answer.done() for answer in answers) == 4)
        assert gateway.exchange(gateway.login_link().split("=")[1]).status == 200
        assert core.hold is not None
        core.hold.set()
        statuses = sorted(answer.result().status for answer in answers)
    gateway.stop()
    assert statuses == [200, 200, 429, 429, 429, 429]


# --- event stream ---
def test_events_come_unchanged_and_at_once(gateway: Gateway, core: SmallCore, session: str) -> None:
    core.events = [f'id: {number}\ndata: {{"text": "\\u00e4 {number}"}}\n\n'.encode() for number in range(500)]
    with _stream(gateway, session, "after=7") as connection:
        received = b""
        while b'4999"}' not in received and received.count(b"data:") < 500:
            received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-type: text/event-stream" in head.lower()
    assert b"content-encoding" not in head.lower()
    assert b"no-store" in head
    assert b"".join(core.events) in _unchunked(body)
    assert core.seen[0][1] == f"/api/events?chat={CHAT}&after=7"
    until(lambda: core.open_streams == 0)


def test_the_last_event_id_goes_before_the_address(gateway: Gateway, core: SmallCore, session: str) -> None:
    with _stream(gateway, session, "after=7", "Last-Event-ID: 12") as connection:
        connection.recv(1000)
    assert core.seen[0][1].endswith("&after=12")


@pytest.mark.parametrize(
    "query",
    ["", "chat=x", f"chat={CHAT}&after=-1", f"chat={CHAT}&after=1e3", f"chat={CHAT}&x=1", f"chat={CHAT}&after=99999999999999999"],
)
def test_a_bad_question_for_events_is_told(gateway: Gateway, core: SmallCore, session: str, query: str) -> None:
    answer = gateway.ask("GET", f"/api/events?{query}", session=session)
    assert (answer.status, answer.json()["code"]) == (422, errors.REQUEST_BODY)
    assert core.seen == []


def test_when_the_core_ends_the_stream_ends(gateway: Gateway, core: SmallCore, session: str) -> None:
    core.events, core.endless = [b"id: 1\ndata: x\n\n"], False
    answer = gateway.ask("GET", f"/api/events?chat={CHAT}", session=session)
    assert answer.body == b"id: 1\ndata: x\n\n"


def test_streams_are_bounded_and_other_requests_are_not_held_up(tmp_path: Path) -> None:
    gateway, core = new_gateway(tmp_path, MAX_EVENT_STREAMS="3"), SmallCore()
    gateway.start()
    session = gateway.log_in()
    with serve_core(core, gateway.core_socket), contextlib.ExitStack() as open_streams:
        for _ in range(3):
            open_streams.enter_context(_stream(gateway, session)).recv(1000)
        answer = gateway.ask("GET", f"/api/events?chat={CHAT}", session=session)
        assert (answer.status, answer.json()["code"]) == (429, errors.REQUEST_TOO_MANY)
        assert gateway.ask("GET", "/api/chats", session=session).status == 200
        open_streams.close()
        until(lambda: core.open_streams == 0)
        _stream(gateway, session).close()
        assert gateway.stop() < 5


def test_a_stop_does_not_wait_for_open_streams(tmp_path: Path) -> None:
    gateway, core = new_gateway(tmp_path), SmallCore()
    gateway.start()
    with serve_core(core, gateway.core_socket), _stream(gateway, gateway.log_in()) as connection:
        connection.recv(1000)
        assert gateway.stop() < 5


# --- G5: files ---
@pytest.mark.proves("G5")
def test_a_file_is_served_whole_in_a_sandbox(gateway: Gateway, core: SmallCore, session: str) -> None:
    content = os.urandom(300_000)
    core.files["sub folder/Ü%25.bin"] = content
    answer = gateway.ask("GET", f"/api/chats/{CHAT}/files/sub%20folder/%C3%9C%2525.bin?download=1", session=session)
    assert (answer.status, answer.body == content) == (200, True)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Length"] == "300000"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"


def test_an_empty_file_and_a_missing_one(gateway: Gateway, core: SmallCore, session: str) -> None:
    core.files["empty"] = b""
    empty = gateway.ask("GET", f"/api/chats/{CHAT}/files/empty", session=session)
    assert (empty.status, empty.body, empty.headers["Content-Disposition"][:6]) == (200, b"", "inline")
    missing = gateway.ask("GET", f"/api/chats/{CHAT}/files/missing", session=session)
    assert (missing.status, missing.json()["code"]) == (404, errors.PATH_NOT_FOUND)


def test_a_file_that_breaks_off_is_not_taken_for_a_whole_one(gateway: Gateway, core: SmallCore, session: str) -> None:
    core.broken.add("big")
    with pytest.raises(http.client.IncompleteRead):
        gateway.ask("GET", f"/api/chats/{CHAT}/files/big", session=session)
    assert gateway.ask("GET", "/api/chats", session=session).status == 200


@pytest.mark.parametrize(
    "path", ["..%2f..%2fsecret", "%2e%2e/%2e%2e/secret", "a/../../secret", "a%5c..%5csecret", "%00", "a//b", "./a"]
)
def test_no_spelling_of_a_climb_reaches_the_core(gateway: Gateway, core: SmallCore, session: str, path: str) -> None:
    core.files.update(dict.fromkeys(("secret", "../secret", "../../secret"), b"secret"))
    request = (
        f"GET /api/chats/{CHAT}/files/{path} HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nX-Switchbox-Session: {session}\r\n\r\n"
    )
    answer = gateway.raw(request.encode())
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert core.seen == []


# --- the page ---
@pytest.mark.proves("G6")
def test_the_page_is_guarded_by_its_policy_and_its_files_are_kept(gateway: Gateway) -> None:
    for path in ("/", "/index.html"):
        page = gateway.ask("GET", path)
        assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert "require-trusted-types-for 'script'" in page.headers["Content-Security-Policy"]
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    script = gateway.ask("GET", "/assets/app-1a2b.js")
    assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "immutable" in script.headers["Cache-Control"]
    assert gateway.ask("HEAD", "/").body == b""
    assert {
        gateway.ask("GET", path).status for path in ("/session.key", "/assets/", "/assets", "/docs", "/openapi.json", "/redoc")
    } == {404}


def test_the_health_check_says_only_ok_and_needs_the_right_host(gateway: Gateway) -> None:
    assert gateway.ask("GET", "/healthz").body == b"ok"
    assert gateway.ask("GET", "/healthz", Host="attacker.example").status == 403


def test_the_openapi_document_has_every_route_and_every_schema(gateway: Gateway, session: str) -> None:
    document = gateway.ask("GET", "/api/openapi.json", session=session).json()
    operations = {operation["operationId"] for path in document["paths"].values() for operation in path.values()}
    assert operations == {route.name for route in ROUTES} | {"log_in", "log_out", "events", "read_file"}
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])
    assert document["paths"]["/api/chats"]["post"]["requestBody"]["required"] is True


# --- what is kept and logged ---
@pytest.mark.proves("G7")
def test_neither_the_log_nor_the_disk_holds_what_a_person_wrote(tmp_path: Path) -> None:
    gateway, core = new_gateway(tmp_path), SmallCore()
    gateway.start()
    session = gateway.log_in()
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    with serve_core(core, gateway.core_socket):
        core.instead["/api/chats"] = (500, b'"private answer"')
        body = json.dumps({"text": "private words"}).encode()
        assert gateway.ask("POST", f"/api/chats/{CHAT}/messages", session=session, body=body).status == 200
        assert gateway.ask("POST", f"/api/chats/{CHAT}/messages", session=session, body=body[:-1]).status == 422
        assert gateway.ask("GET", "/api/chats", session=session).status == 503
        gateway.ask("DELETE", "/api/session", session=session)
    gateway.stop()
    written = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.name for path in written} == {"ended-sessions"}
    kept = b"".join(path.read_bytes() for path in [*written, tmp_path / "log"])
    assert b"private" not in kept
    assert session.encode() not in kept
    assert session.rsplit(".", 1)[1].encode() not in kept


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"PUBLIC_PORT": ""}, "GATEWAY_PUBLIC_PORT"),
        ({"SESSION_KEY_FILE": "/missing"}, "GATEWAY_SESSION_KEY_FILE"),
        ({"SESSION_KEY_FILE": "/dev/null"}, "GATEWAY_SESSION_KEY_FILE"),
        ({"WITNESS_DIR": "/missing"}, "GATEWAY_WITNESS_DIR"),
        ({"UI_DIR": "/missing"}, "GATEWAY_UI_DIR"),
    ],
)
def test_what_is_missing_stops_the_start_and_is_named(tmp_path: Path, change: dict[str, str], named: str) -> None:
    gateway = new_gateway(tmp_path, **change)
    with pytest.raises(AssertionError, match="cannot_start"):
        gateway.start()
    (line,) = gateway.log()
    assert named in line["reason"]


def _post(gateway: Gateway, session: str, headers: bytes) -> bytes:
    head = f"POST /api/chats/{CHAT}/messages HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nX-Switchbox-Session: {session}\r\nContent-Type: application/json\r\n"
    return head.encode() + headers + b"\r\n\r\n"


def _stream(gateway: Gateway, session: str, query: str = "after=0", header: str = "X: y") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=20)
    request = f"GET /api/events?chat={CHAT}&{query} HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nX-Switchbox-Session: {session}\r\n{header}\r\n\r\n"
    connection.sendall(request.encode())
    return connection


def _unchunked(body: bytes) -> bytes:
    content = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        content, body = content + body[: int(size or b"0", 16)], body[int(size or b"0", 16) + 2 :]
    return content
