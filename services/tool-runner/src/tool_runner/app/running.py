"""A running call and the attendant that watches over it: cancelled, alive, over its time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

import structlog

from contracts import errors
from contracts.tickets import Ticket
from tool_runner.adapters.cancel_stream import Word
from tool_runner.adapters.result_stream import ResultStream
from tool_runner.domain import results

log: structlog.stdlib.BoundLogger = structlog.get_logger()

POLL_SECONDS = 0.1
# An Alive is sent after this much silence, so that one comes at least every ALIVE_SECONDS.
QUIET_SECONDS = 1.5
# A Redis that is away for longer cannot tell us to stop: then we stop by ourselves.
LOST_SECONDS = 4.0
# A call that was asked to stop and has not ended after this is given up, worker and all.
STOP_SECONDS = 4.0
# A call's own limit ends it; this much later it is given up.
OVERTIME_SECONDS = 15.0


class StopReason(StrEnum):
    """Why a call is to stop."""

    CANCELLED = "cancelled"
    LOST = "lost"
    SHUTDOWN = "shutdown"


class StopSwitch:
    """Pressed once, by any thread or a signal handler; it holds no lock that a handler could wait for."""

    def __init__(self) -> None:
        """Not pressed."""
        self.reason: StopReason | None = None
        self.pressed_at = 0.0
        self._action: Callable[[], None] | None = None

    def press(self, reason: StopReason) -> None:
        """Ask for the stop; the first reason stays."""
        if self.reason is None:
            self.pressed_at = time.monotonic()
            self.reason = reason
        if self._action is not None:
            self._action()

    @contextmanager
    def stopping_by(self, action: Callable[[], None]) -> Iterator[None]:
        """While the context lasts, a press calls `action`; at once if it was pressed before. It may be called twice."""
        self._action = action
        if self.reason is not None:
            action()
        try:
            yield
        finally:
            self._action = None


@dataclass
class RunningCall:
    """What the attendant needs to know of the call at hand."""

    ticket: Ticket
    stream: ResultStream
    switch: StopSwitch = field(default_factory=StopSwitch)
    began: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)

    def over_time(self) -> bool:
        """Whether it runs for longer than its limit allows for."""
        return time.monotonic() - self.began > self.ticket.timeout_seconds + OVERTIME_SECONDS


class Attendant:
    """One thread beside a worker's own. Calls that last milliseconds are over before it looks at them once."""

    def __init__(self, ask: Callable[[Ticket], Word], beat: Callable[[], None], give_up: Callable[[], None]) -> None:
        """`ask` is `cancel_stream.ask`; `beat` tells the supervisor that the worker is well; `give_up` ends the process."""
        self._ask = ask
        self._beat = beat
        self._give_up = give_up
        self._call: RunningCall | None = None
        self._wake = threading.Event()

    def start(self) -> None:
        """Begin, in a thread that ends with the process."""
        threading.Thread(target=self._attend, name="attendant", daemon=True).start()

    @contextmanager
    def watching(self, call: RunningCall) -> Iterator[None]:
        """Watch over `call` while the context lasts."""
        self._call = call
        self._wake.set()
        try:
            yield
        finally:
            self._call = None

    def press(self, reason: StopReason) -> None:
        """Stop the call at hand, if there is one; may be called by a signal handler."""
        call = self._call
        if call is not None:
            call.switch.press(reason)

    def look(self, call: RunningCall) -> None:
        """One look at a running call."""
        self._beat()
        self._hear(call)
        if call.stream.silent_seconds() > QUIET_SECONDS:
            call.stream.alive()
        stopping = call.switch.reason is not None and time.monotonic() - call.switch.pressed_at > STOP_SECONDS
        if stopping or call.over_time():
            log.error("call_given_up", call_id=call.ticket.call_id, tool=call.ticket.tool, stopping=stopping)
            call.stream.done(results.EFFECT_UNKNOWN if stopping else OVER_TIME)
            self._give_up()

    def _hear(self, call: RunningCall) -> None:
        word = self._ask(call.ticket)
        if word is not Word.SILENT:
            call.heard = time.monotonic()
        if word is Word.CANCELLED:
            call.switch.press(StopReason.CANCELLED)
        elif word is Word.VOID or time.monotonic() - call.heard > LOST_SECONDS:
            call.switch.press(StopReason.LOST)

    def _attend(self) -> None:
        while True:
            call = self._call
            if call is None:
                self._wake.wait()
                self._wake.clear()
            else:
                self.look(call)
            time.sleep(POLL_SECONDS)


OVER_TIME = results.failed(
    errors.TOOL_TIMED_OUT, "The call ran over its time and was given up; whether it took effect is not known.", results.TRY_AGAIN
)
