"""The container's health check: the command socket answers. It imports nothing heavy, since it runs every few seconds."""

import socket
import sys

PATH = "/run/switchbox/command/command.sock"


def main() -> int:
    """0 when command-box answers, 1 otherwise."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(3)
        try:
            connection.connect(PATH)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: command-box\r\nConnection: close\r\n\r\n")
            return 0 if connection.recv(64).startswith(b"HTTP/1.1 200") else 1
        except OSError:
            return 1


if __name__ == "__main__":
    sys.exit(main())
