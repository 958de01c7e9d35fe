"""Health is what the server answers, not whether something listens."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from local_model.health import healthy


@contextmanager
def answering(status: int) -> Iterator[int]:
    """A server on loopback that answers everything with this status; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("status", "expected"), [(200, True), (503, False), (404, False)])
def test_healthy_only_when_the_model_is_loaded(status: int, expected: bool) -> None:
    with answering(status) as port:
        assert healthy(port) is expected


def test_unhealthy_when_nobody_listens() -> None:
    with answering(200) as port:
        pass
    assert healthy(port) is False
