"""The container's health check: exit code 0 when the service can run programs. `python -m js_sandbox.health`.

It imports next to nothing, since it runs every few seconds.
"""

import os
import socket
import sys

_SECONDS = 3.0


def main() -> int:
    """Ask the service on its own socket."""
    path = os.environ.get("JS_SANDBOX_SOCKET_PATH", "/run/switchbox/js/js.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_SECONDS)
        try:
            connection.connect(path)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: socket\r\nConnection: close\r\n\r\n")
            answer = connection.recv(64)
        except OSError as exc:
            print(f"js-sandbox does not answer: {exc}", file=sys.stderr)
            return 1
    return 0 if answer.startswith(b"HTTP/1.1 200 ") else 1


if __name__ == "__main__":
    sys.exit(main())
