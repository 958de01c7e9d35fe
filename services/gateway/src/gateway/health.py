"""The health check of the container: the gateway must answer a well-formed request. `python -S -m gateway.health`.

Only the standard library's socket, so that it starts fast.
"""

import os
import socket
import sys


def check(listen_port: int, public_port: int) -> bool:
    """Ask as a browser on this machine would."""
    request = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{public_port}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection(("127.0.0.1", listen_port), timeout=3) as connection:
            connection.sendall(request.encode())
            return connection.recv(64).startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(0 if check(int(os.environ.get("GATEWAY_LISTEN_PORT", "8787")), int(os.environ["GATEWAY_PUBLIC_PORT"])) else 1)
