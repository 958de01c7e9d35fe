"""The health check of the container: an empty-handed request must be turned away with 407, by a proxy that listens.

Only the standard library's socket, so that it starts fast: `python -S -m egress.health`.
"""

import os
import socket
import sys


def check(host: str, port: int) -> bool:
    """Ask without a credential."""
    try:
        with socket.create_connection((host, port), timeout=3) as connection:
            connection.sendall(b"GET http://health/ HTTP/1.1\r\nHost: health\r\n\r\n")
            return connection.recv(64).startswith(b"HTTP/1.1 407 ")
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(0 if check("127.0.0.1", int(os.environ.get("EGRESS_PORT", "3128"))) else 1)
