"""An HTTP client for one Unix socket."""

from pathlib import Path

import httpx2


def client(path: Path, *, timeout_seconds: float | None) -> httpx2.AsyncClient:
    """A client whose every request goes to the socket at `path`; `None` waits for ever (event streams).

    It takes no proxy and no settings from the environment.
    """
    transport = httpx2.AsyncHTTPTransport(uds=str(path), limits=httpx2.Limits(max_connections=None, max_keepalive_connections=16))
    return httpx2.AsyncClient(transport=transport, base_url="http://socket", timeout=timeout_seconds, trust_env=False)
