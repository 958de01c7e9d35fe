"""Runs inside the container, as the orchestrator's uid: presents tickets to the socket, prints the answers as JSON.

Standard input: {"tickets": [...], "at_once": n, "pause_seconds": s}. Each of the n workers keeps one connection.
"""

import http.client
import json
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import local


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the service's socket."""

    def connect(self) -> None:
        """Connect to the socket instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect("/run/switchbox/js/js.sock")


def main() -> None:
    """Present the tickets."""
    request = json.load(sys.stdin)
    mine = local()

    def present(ticket: str) -> dict[str, object]:
        if not hasattr(mine, "connection"):
            mine.connection = UnixConnection("socket")
            mine.connection.connect()
        began = time.perf_counter()
        mine.connection.request("POST", "/run", json.dumps({"ticket": ticket}))
        answer = mine.connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {body!r}")
        return {"result": json.loads(body), "seconds": seconds}

    answers: list[dict[str, object]] = []
    tickets = request["tickets"]
    with ThreadPoolExecutor(request["at_once"]) as workers:
        if request["pause_seconds"]:
            for first in range(0, len(tickets), request["at_once"]):
                answers += workers.map(present, tickets[first : first + request["at_once"]])
                time.sleep(request["pause_seconds"])
        else:
            answers += workers.map(present, tickets)
    print(json.dumps(answers))


main()
