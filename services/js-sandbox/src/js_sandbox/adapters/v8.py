"""V8 as one context on its own thread, through mini-racer's C interface.

mini-racer's Python layer is passed by, on purpose: it answers an evaluation whose value is a BigInt or holds a lone
surrogate never, it runs an event loop thread of its own, and it installs timers that cannot be looked into. What is
used of it is the library, `init_mini_racer`, and the signatures that call declares.

Nothing here is ever freed: a process runs one program and ends.
"""

import ctypes
import enum
import queue
from dataclasses import dataclass
from typing import Any

from py_mini_racer import DEFAULT_V8_FLAGS, init_mini_racer

# `--single-threaded` is among the defaults: no thread exists before a context does, so a process may fork after `load`.
# Flags are of V8 14; an unknown one would be reported on stdout and ignored, so a test asks for the effect of each.
FLAGS = (
    *DEFAULT_V8_FLAGS,
    # eval, Function and their relatives throw EvalError.
    "--disallow-code-generation-from-strings",
    # "use asm" would be compiled to WebAssembly behind our back.
    "--no-validate-asm",
    # SharedArrayBuffer only where an embedder asks for it, and this one does not.
    "--enable-sharedarraybuffer-per-context",
)


class Kind(enum.IntEnum):
    """Types of values as mini-racer 0.14 numbers them (py_mini_racer/_objects.py, _MiniRacerTypes)."""

    # What it has no type for; of all JavaScript values only a BigInt.
    OTHER = 0
    NULL = 1
    BOOLEAN = 2
    INTEGER = 3
    DOUBLE = 4
    STRING = 5
    ARRAY = 6
    DATE = 8
    SYMBOL = 9
    OBJECT = 10
    UNDEFINED = 11
    FUNCTION = 100
    SHARED_ARRAY_BUFFER = 101
    ARRAY_BUFFER = 102
    PROMISE = 103
    EXECUTE_EXCEPTION = 200
    PARSE_EXCEPTION = 201
    OUT_OF_MEMORY = 202
    TIMEOUT = 203
    TERMINATED = 204
    VALUE_EXCEPTION = 205
    KEY_EXCEPTION = 206


class Stopped(Exception):
    """V8 did not answer in time."""


class Thrown(Exception):
    """The program threw, or does not parse. The text is V8's account: place, message, source line, stack."""


class OutOfMemory(Exception):
    """The heap limit was reached, and V8 stopped the program."""


@dataclass(frozen=True)
class Value:
    """A value in V8: its kind, and the handle by which V8 gets it back. Numbers are read with `number`."""

    kind: Kind
    handle: Any

    def number(self) -> float | None:
        """The number it is, or None if it is not one."""
        if self.kind is Kind.INTEGER:
            return int(self.handle.contents.value.int_val)
        if self.kind is Kind.DOUBLE:
            return float(self.handle.contents.value.double_val)
        return None

    def text(self, max_bytes: int) -> bytes:
        """The first bytes of a string or an exception's account. UTF-8, but lone surrogates are encoded as they are."""
        contents = self.handle.contents
        address = ctypes.cast(contents.value.bytes_val, ctypes.c_void_p).value
        return b"" if address is None else ctypes.string_at(address, min(contents.len, max_bytes))

    def address(self) -> int:
        """Where the bytes of an ArrayBuffer are in this process."""
        return int(self.handle.contents.value.value_ptr)


def load() -> Any:
    """Load the library and start V8. Once in a process, before it forks; no thread is started."""
    return init_mini_racer(flags=FLAGS)


class Engine:
    """One isolate with one context, whose thread runs what this object asks for, one task after the other.

    Microtasks run after each task and before the next one.
    """

    def __init__(self, library: Any, *, heap_bytes: int) -> None:
        """Make the isolate. `heap_bytes` ends a program softly at a garbage collection that leaves more than that."""
        self._library = library
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Kept for as long as V8 may call it.
        self._callback = library.mr_init_context.argtypes[0](self._answer)
        self._context = library.mr_init_context(self._callback)
        library.mr_set_hard_memory_limit(self._context, heap_bytes)

    def evaluate(self, code: str, seconds: float) -> Value:
        """Run a script and give its completion value.

        Raises:
            Stopped, Thrown, OutOfMemory: it did not end with a value.
        """
        source = code.encode("utf-8", "replace")
        handle = self._library.mr_alloc_string_val(self._context, source, len(source), Kind.STRING)
        self._library.mr_eval(self._context, handle, 0)
        return self._wait(seconds)

    def call(self, function: Value, this: Value, arguments: Value, seconds: float) -> Value:
        """Call a function on an object, with an array of arguments.

        Raises:
            Stopped, Thrown, OutOfMemory: it did not end with a value.
        """
        self._library.mr_call_function(self._context, function.handle, this.handle, arguments.handle, 0)
        return self._wait(seconds)

    def item(self, array: Value, index: int) -> Value:
        """An element of an array of our own. V8 must not be busy: this waits without a limit."""
        key = self._library.mr_alloc_int_val(self._context, index, Kind.INTEGER)
        handle = self._library.mr_get_object_item(self._context, array.handle, key)
        return Value(Kind(handle.contents.type), handle)

    def _answer(self, _task: int, handle: Any) -> None:
        # Called on V8's thread, which waits until this returns.
        self._answers.put(handle)

    def _wait(self, seconds: float) -> Value:
        try:
            handle = self._answers.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            raise Stopped from None
        if self._library.mr_hard_memory_limit_reached(self._context):
            raise OutOfMemory
        value = Value(Kind(handle.contents.type), handle)
        if value.kind is Kind.OUT_OF_MEMORY:
            raise OutOfMemory
        if value.kind >= Kind.EXECUTE_EXCEPTION:
            raise Thrown(value.text(MAX_ACCOUNT_BYTES).decode("utf-8", "replace"))
        return value


# An account holds the source line and a line that underlines it: twice the longest program, and then the stack.
MAX_ACCOUNT_BYTES = 1_000_000
