"""Run one program in a fresh engine, up to its last value as JSON text."""

import codecs
import ctypes
import json
import re
import time
from dataclasses import dataclass
from importlib import resources
from typing import Any

from js_sandbox.adapters.v8 import Engine, Kind, OutOfMemory, Stopped, Thrown, Value

_PRELUDE = resources.files("js_sandbox.adapters").joinpath("prelude.js").read_text(encoding="utf-8")
_WARM_UP_SECONDS = 5.0
# Python loads a codec at its first use, which in a sealed process is too late.
codecs.lookup("utf-16-le")
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Ending:
    """How a program ended. `text` is the JSON text of its value (None: undefined), or V8's account of what it threw.

    `truncated` says that the value or the console was cut.
    """

    kind: str
    text: str | None
    console: str
    truncated: bool

    def to_json(self) -> bytes:
        """The ending as it goes to the parent process."""
        return json.dumps(self.__dict__, ensure_ascii=False).encode("utf-8", "replace")


class Program:
    """An engine with the prelude loaded, ready to run one program."""

    def __init__(self, library: Any, *, heap_bytes: int, characters: int) -> None:
        """Make the engine and load the prelude. `characters` bounds the value and the console, each."""
        self._engine = Engine(library, heap_bytes=heap_bytes)
        self._characters = characters
        parts = self._engine.evaluate(_PRELUDE.replace("CONSOLE_CHARACTERS", str(characters)), _WARM_UP_SECONDS)
        self._console, self._begin, self._begin_promise, self._step = (self._engine.item(parts, index) for index in range(4))
        self._no_arguments = self._engine.evaluate("[]", _WARM_UP_SECONDS)
        self._show(self._engine.evaluate("[0]", _WARM_UP_SECONDS), time.monotonic() + _WARM_UP_SECONDS)

    def run(self, code: str, seconds: float) -> Ending:
        """Run the program for at most that long. To be called once."""
        end = time.monotonic() + seconds
        kind, text, truncated = "value", None, False
        try:
            text, truncated = self._show(self._engine.evaluate(code, seconds), end)
        except Thrown as thrown:
            kind, text = "thrown", str(thrown)
        except Stopped:
            kind = "timed_out"
        except OutOfMemory:
            kind = "memory"
        console, cut = self._read_console()
        return Ending(kind, text, console, truncated or cut)

    def _show(self, value: Value, end: float) -> tuple[str | None, bool]:
        """Wait until nothing is left to run, and give the JSON text of the value and whether it was cut."""
        plain = self._plain(value)
        if plain is None:
            begin = self._begin_promise if value.kind is Kind.PROMISE else self._begin
            self._engine.call(begin, value, self._no_arguments, end - time.monotonic())
        while True:
            step = self._engine.call(self._step, self._no_arguments, self._no_arguments, end - time.monotonic())
            wait = step.number()
            if wait is None:
                break
            if time.monotonic() + wait / 1000 >= end:
                # The timer is due after the limit.
                time.sleep(max(0.0, end - time.monotonic()))
                raise Stopped
            time.sleep(wait / 1000)
        if plain is not None:
            return self._cut(plain)
        return (None, False) if step.kind is Kind.UNDEFINED else self._cut(self._decode(step))

    def _plain(self, value: Value) -> str | None:
        """The JSON text of a value that cannot go back to V8 unchanged: a string may hold lone surrogates.

        Raises:
            Thrown: the value is a BigInt.
        """
        if value.kind is Kind.OTHER:
            message = "TypeError: The last value is a BigInt, which JSON cannot hold: end the program with String(value)."
            raise Thrown(message)
        if value.kind is not Kind.STRING:
            return None
        text = json.dumps(self._decode(value), ensure_ascii=False)
        return _LONE_SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    def _decode(self, value: Value) -> str:
        # A character is at most four bytes long, so this is enough to fill and overflow the limit.
        data = value.text(4 * (self._characters + 1))
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            # The last character was cut; it is over the limit anyway.
            return data.decode("utf-8", "replace")

    def _cut(self, text: str) -> tuple[str, bool]:
        return text[: self._characters], len(text) > self._characters

    def _read_console(self) -> tuple[str, bool]:
        """What the program wrote, read from memory: V8 may be busy, and will not be asked."""
        address = self._console.address()
        units, cut = ctypes.cast(address, ctypes.POINTER(ctypes.c_int32 * 2)).contents
        data = ctypes.string_at(address + 8, 2 * min(max(units, 0), self._characters))
        return data.decode("utf-16-le", "replace"), bool(cut)
