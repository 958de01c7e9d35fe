"""Speak HTTP to Unix sockets. Argument: JSON list of paths. Prints for each what came back first, or why nothing did."""

import json
import socket
import sys

REQUEST = b"GET /health HTTP/1.1\r\nHost: socket\r\nConnection: close\r\n\r\n"


def speak(path: str) -> str:
    """The first line of the answer; `closed` when the server hung up without a word, else the error's name."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(3)
        try:
            caller.connect(path)
            caller.sendall(REQUEST)
            answer = caller.recv(200)
        except ConnectionError:
            return "closed"
        except OSError as exc:
            return type(exc).__name__
    return answer.split(b"\r\n")[0].decode(errors="replace") or "closed"


print(json.dumps({path: speak(path) for path in json.loads(sys.argv[1])}))
