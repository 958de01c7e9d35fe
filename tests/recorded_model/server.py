"""An OpenAI-compatible endpoint whose answers are written in the question: for tests and `make smoke`, stdlib only.

What it streams is decided by the request alone. The last user message with a line `#script {json}` holds the script;
the turn is the number of assistant messages after it. A script is::

    {"id": "any text, to find its requests again",
     "turns": [turn, ...],
     "panes": {"marker": [turn, ...]}}    used instead of `turns` where the system prompt holds the marker

A turn is an object; its steps are done in this order, each only where it is named:

- `status`: answer with this HTTP status and an error body, nothing else;
- `raw_chunks`: send these pieces (text, or `hex:...`) and close the connection, nothing else;
- `text` at `tokens_per_second` (without it: at once), with `{system}`, `{results}` (what the tools answered in this
  turn's history) and `{now}` (Unix time of sending, for each token) replaced;
- `calls`: tool calls `{"name", "arguments"}`, their arguments in fragments, as real servers send them;
- `hang_seconds`: say nothing for so long;
- `cut`: break the connection in the middle of a chunk, with no finish reason.

A whole stream ends with a finish reason, usage and `[DONE]`. A turn past the last one says `(end of script)`. `GET /requests?id=...` gives what was asked and how each ended.
"""

import json
import re
import select
import socket
import threading
import time
import urllib.parse
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PORT = 9000
KEPT_REQUESTS = 500
FRAGMENT_CHARACTERS = 9

Turn = dict[str, Any]


class ClientGone(Exception):
    """The caller closed the connection."""


def turn_of(messages: list[dict[str, Any]]) -> tuple[str, Turn]:
    """The script's id and the turn that these messages ask for."""
    texts = [content_of(message) if message["role"] == "user" else "" for message in messages]
    scripted = [index for index, text in enumerate(texts) if "#script " in text]
    if not scripted:
        return "", {"text": "This question has no script. "}
    line = next(line for line in texts[scripted[-1]].splitlines() if line.startswith("#script "))
    script = json.loads(line.removeprefix("#script "))
    system = system_of(messages)
    turns = next((turns for marker, turns in script.get("panes", {}).items() if marker in system), script.get("turns", []))
    place = sum(message["role"] == "assistant" for message in messages[scripted[-1] :])
    return script.get("id", ""), turns[place] if place < len(turns) else {"text": "(end of script)"}


def content_of(message: dict[str, Any]) -> str:
    """A message's text, whether it came as text or as parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def system_of(messages: list[dict[str, Any]]) -> str:
    """The system prompt as it was sent."""
    return "\n".join(content_of(message) for message in messages if message["role"] in {"system", "developer"})


def results_of(messages: list[dict[str, Any]]) -> str:
    """What tools answered since the last user message."""
    last = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=0)
    return " | ".join(content_of(message) for message in messages[last:] if message["role"] == "tool")


def tokens_of(text: str) -> list[str]:
    """Words with the space after them: about what a tokenizer makes."""
    return re.findall(r"\s*\S+\s*", text) or [text]


def raw_bytes(piece: str) -> bytes:
    """A piece of `raw_chunks` as bytes."""
    return bytes.fromhex(piece.removeprefix("hex:")) if piece.startswith("hex:") else piece.encode()


class Journal:
    """What was asked, the last of it, and how it ended."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT_REQUESTS)
        self._lock = threading.Lock()

    def open(self, script_id: str, request: dict[str, Any]) -> dict[str, Any]:
        """Note a request; the caller sets `ended` on what is returned."""
        entry = {"id": script_id, "request": request, "ended": "", "received_at": time.time()}
        with self._lock:
            self._entries.append(entry)
        return entry

    def find(self, script_id: str) -> list[dict[str, Any]]:
        """The requests of one script, oldest first."""
        with self._lock:
            return [entry for entry in self._entries if entry["id"] == script_id]


class Handler(BaseHTTPRequestHandler):
    """Answers `GET /v1/models`, `POST /v1/chat/completions` and `GET /requests`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    journal = Journal()

    def do_GET(self) -> None:
        """List the one model, or what was asked."""
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/v1/models":
            return self._json(200, {"object": "list", "data": [{"id": "recorded", "object": "model", "owned_by": "tests"}]})
        if url.path == "/requests":
            return self._json(200, self.journal.find(urllib.parse.parse_qs(url.query)["id"][0]))
        return self._json(404, {"error": {"message": "no such path", "type": "not_found"}})

    def do_POST(self) -> None:
        """Stream the turn that the messages ask for."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if urllib.parse.urlsplit(self.path).path != "/v1/chat/completions":
            return self._json(404, {"error": {"message": "no such path", "type": "not_found"}})
        script_id, turn = turn_of(request["messages"])
        entry = self.journal.open(script_id, request)
        try:
            entry["ended"] = self._answer(request, turn)
        except (ClientGone, OSError):
            entry["ended"] = "closed by the caller"
        return None

    def _answer(self, request: dict[str, Any], turn: Turn) -> str:
        if "status" in turn:
            self._json(turn["status"], {"error": {"message": f"scripted status {turn['status']}", "type": "scripted"}})
            return "status"
        self.close_connection = True
        if "raw_chunks" in turn:
            self._head(chunked=False)
            for piece in turn["raw_chunks"]:
                self.wfile.write(raw_bytes(piece))
                self._pause(0.002)
            return "complete"
        self._head(chunked=True)
        for event in self._events(request, turn):
            self._chunk(b"data: " + json.dumps(event).encode() + b"\n\n")
        if turn.get("cut"):
            self.wfile.write(b"400\r\ndata: {")
            self.connection.shutdown(socket.SHUT_RDWR)
            return "cut"
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        return "complete"

    def _events(self, request: dict[str, Any], turn: Turn) -> Iterator[dict[str, Any]]:
        messages = request["messages"]
        yield self._event(request, {"role": "assistant", "content": ""})
        text = turn.get("text", "").replace("{system}", system_of(messages)).replace("{results}", results_of(messages))
        tokens = tokens_of(text) if text else []
        for token in tokens:
            yield self._event(request, {"content": token.replace("{now}", f"{time.time():.4f}")})
            if "tokens_per_second" in turn:
                self._pause(1 / turn["tokens_per_second"])
        for index, call in enumerate(turn.get("calls", ())):
            yield from self._call(request, index, call)
        self._pause(turn.get("hang_seconds", 0))
        if turn.get("cut"):
            return
        yield self._event(request, {}, "tool_calls" if turn.get("calls") else "stop")
        yield self._usage(request, len(tokens))

    def _call(self, request: dict[str, Any], index: int, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
        arguments = json.dumps(call["arguments"])
        place = sum(message["role"] == "assistant" for message in request["messages"])
        first = {
            "index": index,
            "id": f"call_{place}_{index}",
            "type": "function",
            "function": {"name": call["name"], "arguments": ""},
        }
        yield self._event(request, {"tool_calls": [first]})
        for start in range(0, len(arguments), FRAGMENT_CHARACTERS):
            piece = arguments[start : start + FRAGMENT_CHARACTERS]
            yield self._event(request, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    @staticmethod
    def _event(request: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "chatcmpl-recorded", "object": "chat.completion.chunk", "model": request["model"], "choices": [choice]}

    @staticmethod
    def _usage(request: dict[str, Any], tokens: int) -> dict[str, Any]:
        words = sum(len(content_of(message).split()) for message in request["messages"])
        usage = {"prompt_tokens": words, "completion_tokens": tokens, "total_tokens": words + tokens}
        return {
            "id": "chatcmpl-recorded",
            "object": "chat.completion.chunk",
            "model": request["model"],
            "choices": [],
            "usage": usage,
        }

    def _pause(self, seconds: float) -> None:
        """Wait, but notice at once when the caller goes."""
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise ClientGone

    def _head(self, *, chunked: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _json(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class names it so)
        """Say nothing: the journal has it."""


class Server(ThreadingHTTPServer):
    """One thread for each connection; enough of them may wait to be accepted."""

    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    Server(("0.0.0.0", PORT), Handler).serve_forever()
