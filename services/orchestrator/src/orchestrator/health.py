"""The container's health check: the core socket answers."""

import socket
import sys

PATH = "/run/switchbox/core/core.sock"


def main() -> int:
    """0 when the core answers, 1 otherwise."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(3)
        try:
            connection.connect(PATH)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: core\r\nConnection: close\r\n\r\n")
            return 0 if connection.recv(64).startswith(b"HTTP/1.1 204") else 1
        except OSError:
            return 1


if __name__ == "__main__":
    sys.exit(main())
