"""What a client is told when it does not get what it asked for."""

from http import HTTPStatus

from contracts import errors
from contracts.errors import ErrorBody, Refusal

ESTABLISHED = b"HTTP/1.1 200 Connection Established\r\n\r\n"

_REASONS = {
    400: "Bad Request",
    403: "Forbidden",
    407: "Proxy Authentication Required",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
_STATUS = {
    errors.HOST_UNRESOLVED: 502,
    errors.HOST_UNREACHABLE: 502,
    errors.HOST_TIMED_OUT: 504,
    errors.NETWORK_BUSY: 503,
    errors.REQUEST_TOO_LARGE: 431,
    errors.INTERNAL: 500,
}
_STATUS_OF_AREA = {"ticket": 407, "request": 400}


def status_of(code: str) -> int:
    """The HTTP status of a refusal; 403 unless it is about the credential, the form, or the network beyond."""
    return _STATUS.get(code) or _STATUS_OF_AREA.get(code.partition(".")[0], 403)


def refusal_response(refusal: Refusal) -> bytes:
    """A whole answer: the code in a header for clients that drop the body of a failed CONNECT, and all of it as JSON."""
    status = status_of(refusal.code)
    body = ErrorBody(code=refusal.code, detail=refusal.detail, hint=refusal.hint).model_dump_json().encode()
    lines = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"X-Switchbox-Code: {refusal.code}",
        "Connection: close",
    ]
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        lines.append('Proxy-Authenticate: Basic realm="switchbox"')
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body
