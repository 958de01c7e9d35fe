"""The judge of every request, before anything else of the gateway sees it.

It answers one question: was this request made by the gateway's own page, or by a program that a person runs on this
machine, and not by a web site in their browser? It looks at the request line and the headers only. It does not ask who
the person is (that is `sessions`), and other programs of this machine can send any header they like, so that passing
here proves nothing about them.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote_to_bytes

from contracts import errors
from contracts.errors import Refusal

RawHeaders = Sequence[tuple[bytes, bytes]]

METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE"})
METHODS_WITH_BODY = frozenset({"POST", "PATCH"})

# Links are printed with 127.0.0.1; people type localhost. [::1] is not published, so another user of the machine may
# listen there: it is not ours.
NAMES = ("127.0.0.1", "localhost")

_JSON_TYPE = re.compile(rb'application/json[ \t]*(?:;[ \t]*(?:charset[ \t]*=[ \t]*(?:utf-8|"utf-8"))?[ \t]*)?', re.IGNORECASE)
_ABSOLUTE = re.compile(rb"http://([^/?]*)(.*)", re.IGNORECASE)
_BAD_SEGMENT = re.compile(r"[/\\\x00-\x1f\x7f]")


def judge_request(method: str, target: bytes, headers: RawHeaders, *, port: int) -> Refusal | None:
    """Why this request is refused, or None.

    `target` is the request target exactly as sent, `headers` every header line in order with lower-case names, `port`
    the port that the browser sees. The first reason in a fixed order is given.
    """
    return (
        _judge_target(target, port)
        or _judge_host(headers, port)
        or _judge_origin(headers, port)
        or _judge_fetch_site(method, target, headers)
        or _judge_method(method, headers)
        or _judge_body(method, headers)
    )


def origin_form(target: bytes) -> bytes:
    """The path and query of a target, without the scheme and authority of the absolute form (RFC 9112 section 3.2)."""
    absolute = _ABSOLUTE.fullmatch(target)
    rest = absolute[2] if absolute else target
    return rest if rest.startswith(b"/") else b"/" + rest


def decoded_path(target: bytes) -> str | None:
    """The decoded path of a target, or None where decoding would change its structure or is not UTF-8."""
    segments = origin_form(target).split(b"?", 1)[0][1:].split(b"/")
    try:
        decoded = [unquote_to_bytes(segment).decode("utf-8") for segment in segments]
    except UnicodeDecodeError:
        return None
    if any(segment in {".", ".."} or _BAD_SEGMENT.search(segment) for segment in decoded) or "" in decoded[:-1]:
        return None
    return "/" + "/".join(decoded)


def _judge_target(target: bytes, port: int) -> Refusal | None:
    if not target.startswith(b"/"):
        absolute = _ABSOLUTE.fullmatch(target)
        if absolute is None:
            return _refusal(errors.REQUEST_TARGET, "The request's target is neither a path nor an http address.")
        if not _is_ours(absolute[1], port):
            return _refusal(errors.REQUEST_TARGET, "The request's target names another server.")
    if not is_printable(target) or b"#" in target or not _percent_signs_are_codes(target):
        return _refusal(errors.REQUEST_TARGET, "The address has characters that have to be percent-encoded.")
    if decoded_path(target) is None:
        return _refusal(
            errors.REQUEST_TARGET,
            "The address has '.', '..', an empty part, an encoded slash, a backslash, a control character or no UTF-8.",
        )
    return None


def _judge_host(headers: RawHeaders, port: int) -> Refusal | None:
    """Only Host tells a rebound name: the page of attacker.example sends no Origin with its GET."""
    hosts = _values(headers, b"host")
    if len(hosts) == 1 and _is_ours(hosts[0], port):
        return None
    return _refusal(
        errors.REQUEST_HOST,
        "This request is not addressed to this server: there has to be exactly one Host header, and it has to name this machine.",
        f"Open http://127.0.0.1:{port}/ instead.",
    )


def _judge_origin(headers: RawHeaders, port: int) -> Refusal | None:
    """Both of our spellings are accepted whatever the Host: no answer of ours lets one of them read the other (no CORS)."""
    origins = _values(headers, b"origin")
    allowed = {f"http://{name}:{port}".encode() for name in NAMES}
    if port == 80:  # noqa: PLR2004 (the default port of http, which browsers leave out)
        allowed |= {f"http://{name}".encode() for name in NAMES}
    if not origins or (len(origins) == 1 and origins[0].lower() in allowed):
        return None
    return _refusal(errors.REQUEST_ORIGIN, "This request was made by the page of another web site or program.")


def _judge_fetch_site(method: str, target: bytes, headers: RawHeaders) -> Refusal | None:
    """W3C Fetch Metadata: what the browser says about who asks. `none` is an address that the person opened themselves."""
    sites = [value.lower() for value in _values(headers, b"sec-fetch-site")]
    opened_by_hand = method in {"GET", "HEAD"} and not is_api(decoded_path(target) or "/api")
    if not sites or sites == [b"same-origin"] or (sites == [b"none"] and opened_by_hand):
        return None
    return _refusal(
        errors.REQUEST_FETCH_SITE,
        "Your browser says that this request comes from another web site.",
        "Open the address yourself instead of following a link to it.",
    )


def _judge_method(method: str, headers: RawHeaders) -> Refusal | None:
    if method not in METHODS:
        return _refusal(errors.REQUEST_METHOD, f"The method is not one of {', '.join(sorted(METHODS))}.")
    if _values(headers, b"upgrade"):
        return _refusal(errors.REQUEST_METHOD, "WebSockets and other upgrades are not served.")
    return None


def _judge_body(method: str, headers: RawHeaders) -> Refusal | None:
    """A page of another site can send text/plain, a form or nothing without asking first, but not application/json."""
    if method not in METHODS_WITH_BODY:
        if _values(headers, b"transfer-encoding") or any(value.strip(b" \t0") for value in _values(headers, b"content-length")):
            return _refusal(errors.REQUEST_BODY, f"A {method} request has no body.")
        return None
    types = _values(headers, b"content-type")
    if len(types) != 1 or not _JSON_TYPE.fullmatch(types[0]):
        return _refusal(errors.REQUEST_CONTENT_TYPE, "The body has to be application/json, and the Content-Type has to say so.")
    if any(value.lower() != b"identity" for value in _values(headers, b"content-encoding")):
        return _refusal(errors.REQUEST_CONTENT_TYPE, "Compressed bodies are not read.")
    return None


def is_api(path: str) -> bool:
    """Whether a decoded path belongs to the API, all of which needs a session (but for the exchange of the login code)."""
    return path == "/api" or path.startswith("/api/")


def is_printable(target: bytes) -> bool:
    """Whether it is made of visible ASCII only, as RFC 3986 wants every address."""
    return re.fullmatch(rb"[\x21-\x7e]*", target) is not None


def _is_ours(authority: bytes, port: int) -> bool:
    spellings = {f"{name}:{port}".encode() for name in NAMES}
    if port == 80:  # noqa: PLR2004 (as above)
        spellings |= {name.encode() for name in NAMES}
    return authority.lower() in spellings


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _percent_signs_are_codes(target: bytes) -> bool:
    return not re.search(rb"%(?![0-9a-fA-F]{2})", target)


def _refusal(code: str, detail: str, hint: str = "") -> Refusal:
    return Refusal(code=code, detail=detail, hint=hint)
