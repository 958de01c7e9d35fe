"""Start command-box."""

import asyncio
import logging
import os

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

import local_socket
from command_box.application import CommandBox, application
from command_box.settings import Settings
from seal import Launcher


def main() -> None:
    """Serve on the command socket until SIGTERM; commands under way are stopped then."""
    settings = Settings()
    logging.basicConfig(level=settings.log_level, format="%(message)s")
    structlog.configure(processors=[structlog.processors.TimeStamper(fmt="iso", utc=True), structlog.processors.JSONRenderer()])
    key = load_pem_public_key(settings.ticket_public_key_file.read_bytes())
    if not isinstance(key, Ed25519PublicKey):
        raise SystemExit(f"COMMAND_BOX_TICKET_PUBLIC_KEY_FILE ({settings.ticket_public_key_file}) does not hold an Ed25519 key.")
    # Before the event loop, while this process has one thread.
    launcher = Launcher()
    box = CommandBox(settings, key, launcher)
    try:
        asyncio.run(
            local_socket.serve(application(box), settings.socket, allowed_uids=frozenset({os.getuid()}), shutdown_seconds=1)
        )
    finally:
        launcher.close()


if __name__ == "__main__":
    main()
