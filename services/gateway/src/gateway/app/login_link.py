"""Print a new login link: `python -m gateway.app.login_link`, inside the container of the running gateway.

Only the standard library, so that it answers at once.
"""

import os
import socket
import sys

SOCKET = "/tmp/gateway/login.sock"  # noqa: S108 (see settings.login_socket)


def main() -> int:
    """Ask the running gateway over its socket."""
    path = os.environ.get("GATEWAY_LOGIN_SOCKET", SOCKET)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect(path)
            link = connection.makefile().readline().strip()
    except OSError as exc:
        sys.stderr.write(f"The gateway does not answer at {path} ({exc.strerror or exc}). Is it running?\n")
        return 1
    if not link:
        sys.stderr.write("The gateway gave no link: only the user that it runs as may ask.\n")
        return 1
    sys.stdout.write(f"{link}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
