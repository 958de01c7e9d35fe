"""The judge of requests: the case table's header part is run in app/test_http_cases.py; here is what the table has no row for."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from gateway.domain.requests import decoded_path, judge_request, origin_form

PORT = 8787
HOST = (b"host", b"127.0.0.1:8787")
JSON = (b"content-type", b"application/json")
CASES = Path(__file__).parents[4] / "tests" / "cases" / "http_requests.json"


def judge(method: str = "GET", target: bytes = b"/api/chats", *headers: tuple[bytes, bytes], port: int = PORT) -> str | None:
    refusal = judge_request(method, target, headers, port=port)
    return refusal.code if refusal else None


# --- what is let through ---
@pytest.mark.parametrize(
    ("method", "target", "headers"),
    [
        ("GET", b"/", [HOST]),
        ("GET", b"/", [HOST, (b"sec-fetch-site", b"none")]),
        ("HEAD", b"/assets/app.js", [HOST, (b"sec-fetch-site", b"same-origin")]),
        ("GET", b"/api/chats?x=1", [(b"host", b"LOCALHOST:8787"), (b"origin", b"http://localhost:8787")]),
        ("GET", b"http://127.0.0.1:8787/api/chats", [HOST]),
        ("GET", b"/api/chats/0/files/a%20b/%C3%A4%25.txt", [HOST]),
        ("POST", b"/api/chats", [HOST, JSON]),
        ("PATCH", b"/api/chats", [HOST, (b"content-type", b'application/json;charset="UTF-8"')]),
        ("DELETE", b"/api/chats", [HOST, (b"content-length", b"0")]),
    ],
)
def test_a_request_of_our_own_page_or_of_a_program_passes(method: str, target: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    assert judge(method, target, *headers) is None


def test_on_port_80_browsers_leave_the_port_out() -> None:
    assert judge("GET", b"/", (b"host", b"localhost"), (b"origin", b"http://localhost"), port=80) is None
    assert judge("GET", b"/", (b"host", b"localhost")) == errors.REQUEST_HOST


# --- what is refused, and for which reason ---
@pytest.mark.parametrize(
    ("code", "method", "target", "headers"),
    [
        (errors.REQUEST_HOST, "GET", b"/", [(b"host", b"127.0.0.1")]),
        (errors.REQUEST_HOST, "GET", b"/", [(b"host", b"127.0.0.1:08787")]),
        (errors.REQUEST_HOST, "GET", b"/", [(b"host", b" 127.0.0.1:8787")]),
        (errors.REQUEST_HOST, "GET", b"/", [(b"host", b"127.0.0.1:8787,attacker.example")]),
        (errors.REQUEST_HOST, "GET", b"/", [(b"host", b"127.0.0.2:8787")]),
        (errors.REQUEST_HOST, "GET", b"/", [(b"host", "ⅼocalhost:8787".encode())]),
        (errors.REQUEST_HOST, "GET", b"/", [HOST, HOST]),
        (errors.REQUEST_TARGET, "GET", b"http://127.0.0.1:8787@attacker.example/", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"https://127.0.0.1:8787/", [HOST]),
        (errors.REQUEST_TARGET, "OPTIONS", b"*", [HOST]),
        (errors.REQUEST_TARGET, "CONNECT", b"attacker.example:443", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a#b", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/\xc3\xa4", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a%", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a%zz", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a/../b", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a/%2e%2E/b", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a/.%2e", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a%5c..%5cb", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a%00b", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/a%0d%0ab", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"/%ff", [HOST]),
        (errors.REQUEST_TARGET, "GET", b"//attacker.example/", [HOST]),
        (errors.REQUEST_ORIGIN, "GET", b"/", [HOST, (b"origin", b"")]),
        (errors.REQUEST_ORIGIN, "GET", b"/", [HOST, (b"origin", b"https://127.0.0.1:8787")]),
        (errors.REQUEST_ORIGIN, "GET", b"/", [HOST, (b"origin", b"http://127.0.0.1:8787/")]),
        (errors.REQUEST_ORIGIN, "GET", b"/", [HOST, (b"origin", b"http://[::1]:8787")]),
        (
            errors.REQUEST_ORIGIN,
            "GET",
            b"/",
            [HOST, (b"origin", b"http://127.0.0.1:8787"), (b"origin", b"http://attacker.example")],
        ),
        (errors.REQUEST_FETCH_SITE, "GET", b"/", [HOST, (b"sec-fetch-site", b"cross-site")]),
        (errors.REQUEST_FETCH_SITE, "GET", b"/", [HOST, (b"sec-fetch-site", b"anything-new")]),
        (errors.REQUEST_FETCH_SITE, "GET", b"/", [HOST, (b"sec-fetch-site", b"same-origin"), (b"sec-fetch-site", b"cross-site")]),
        (errors.REQUEST_FETCH_SITE, "GET", b"/api/chats", [HOST, (b"sec-fetch-site", b"none")]),
        (errors.REQUEST_FETCH_SITE, "GET", b"/%61pi/chats", [HOST, (b"sec-fetch-site", b"none")]),
        (errors.REQUEST_FETCH_SITE, "POST", b"/", [HOST, JSON, (b"sec-fetch-site", b"none")]),
        (errors.REQUEST_METHOD, "PUT", b"/api/chats", [HOST]),
        (errors.REQUEST_METHOD, "TRACE", b"/", [HOST]),
        (errors.REQUEST_METHOD, "get", b"/", [HOST]),
        (errors.REQUEST_METHOD, "GET", b"/api/events", [HOST, (b"upgrade", b"websocket"), (b"connection", b"upgrade")]),
        (errors.REQUEST_BODY, "GET", b"/", [HOST, (b"content-length", b"3")]),
        (errors.REQUEST_BODY, "DELETE", b"/api/chats", [HOST, (b"transfer-encoding", b"chunked")]),
        (errors.REQUEST_CONTENT_TYPE, "POST", b"/", [HOST, JSON, JSON]),
        (errors.REQUEST_CONTENT_TYPE, "POST", b"/", [HOST, (b"content-type", b"application/json; charset=utf-16")]),
        (errors.REQUEST_CONTENT_TYPE, "POST", b"/", [HOST, (b"content-type", b"application/json; charset=utf-8; x=y")]),
        (errors.REQUEST_CONTENT_TYPE, "POST", b"/", [HOST, (b"content-type", b"application/jsonp")]),
        (errors.REQUEST_CONTENT_TYPE, "POST", b"/", [HOST, JSON, (b"content-encoding", b"gzip")]),
    ],
)
def test_a_request_is_refused_for_its_reason(code: str, method: str, target: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    assert judge(method, target, *headers) == code


# --- properties ---
ACCEPTED_HOSTS = {b"127.0.0.1:8787", b"localhost:8787"}
NEAR_MISSES = st.one_of(
    st.binary(max_size=40),
    st.text(alphabet="127.0.1localhost:8@/[]x ", max_size=30).map(str.encode),
    st.builds(lambda a, b, c: a + b + c, st.binary(max_size=5), st.sampled_from(sorted(ACCEPTED_HOSTS)), st.binary(max_size=5)),
)


@given(host=NEAR_MISSES)
def test_only_two_spellings_of_host_pass(host: bytes) -> None:
    assert (judge("GET", b"/", (b"host", host)) is None) == (host.lower() in ACCEPTED_HOSTS)


@given(origin=NEAR_MISSES, method=st.sampled_from(["GET", "HEAD", "DELETE"]))
def test_only_our_two_origins_pass(origin: bytes, method: str) -> None:
    for value in (origin, b"http://" + origin):
        passes = judge(method, b"/", HOST, (b"origin", value)) is None
        assert passes == (value.lower() in {b"http://" + host for host in ACCEPTED_HOSTS})


@given(value=NEAR_MISSES | st.text(alphabet="aplictonjs/;=x -", max_size=30).map(str.encode))
def test_no_type_that_a_page_may_send_unasked_passes(value: bytes) -> None:
    """Whatever passes has 'application/json' as its whole media type, which no form and no simple fetch can send."""
    if judge("POST", b"/", HOST, (b"content-type", value)) is None:
        assert value.split(b";")[0].strip().lower() == b"application/json"
        assert b"," not in value


@given(hosts=st.lists(st.sampled_from([*sorted(ACCEPTED_HOSTS), b"attacker.example:8787"]), max_size=3))
def test_exactly_one_host_header_is_needed(hosts: list[bytes]) -> None:
    passes = judge("GET", b"/", *[(b"host", host) for host in hosts]) is None
    assert passes == (len(hosts) == 1 and hosts[0] in ACCEPTED_HOSTS)


@given(path=st.binary(max_size=40) | st.text(alphabet="/.%2eEfF5cC0\\", max_size=30).map(str.encode))
def test_what_passes_as_a_target_never_climbs(path: bytes) -> None:
    target = b"/" + path
    if judge("GET", target, HOST) is None:
        decoded = decoded_path(target)
        assert decoded is not None
        assert not {"..", "."} & set(decoded.split("/"))
        assert not any(ord(character) < 0x20 or character in "\\\x7f" for character in decoded)
        assert decoded.count("/") == origin_form(target).split(b"?")[0].count(b"/")


def test_the_table_agrees_wherever_headers_alone_decide() -> None:
    """The table's rows about Host, Origin, Fetch Metadata and type, judged without a server in between."""
    judged = 0
    for case in json.loads(CASES.read_text())["cases"]:
        given, expected = case["input"], case["expect"]
        if set(expected.get("classes", ["host"])) <= {"body", "method", "target"}:
            continue
        headers = [(name.lower().encode(), value.replace("{PORT}", str(PORT)).encode()) for name, value in given["headers"]]
        target = given.get("target", "/api/chats" if given["path"].startswith("{") else given["path"])
        code = judge(given["method"], target.encode(), *headers)
        if expected["decision"] == "allow":
            assert code is None, case["id"]
        else:
            assert code is not None, case["id"]
            assert code.removeprefix("request.") in expected["classes"], case["id"]
        judged += 1
    assert judged >= 40
