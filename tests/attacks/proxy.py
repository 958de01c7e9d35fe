"""Ask egress for things. Argument: JSON list of `{"line": request line, "headers": {...}}`, sent as given.

Prints for each the status, the code that egress gave, and the rest of the head as `status`, `code`, `body`.
"""

import json
import socket
import sys


def ask(request: dict) -> dict:
    """One request on a connection of its own."""
    lines = [request["line"], *(f"{name}: {value}" for name, value in request.get("headers", {}).items())]
    with socket.create_connection(("egress", 3128), timeout=8) as proxy:
        proxy.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        answer = b""
        while len(answer) < 65_536 and (piece := receive(proxy)):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *headers = head.decode(errors="replace").split("\r\n")
    code = next(
        (value.strip() for name, _, value in (line.partition(":") for line in headers) if name.lower() == "x-switchbox-code"), ""
    )
    return {"status": int(status.split()[1]) if status else 0, "code": code, "body": body.decode(errors="replace")}


def receive(proxy: socket.socket) -> bytes:
    """The next piece; nothing when it is closed or stays silent."""
    proxy.settimeout(1.5)
    try:
        return proxy.recv(65_536)
    except OSError:
        return b""


print(json.dumps([ask(request) for request in json.loads(sys.argv[1])]))
