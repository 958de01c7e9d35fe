"""The service's side of the zygote: start it, have children forked and killed, hear of their ends."""

import asyncio
import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Self

from js_sandbox.adapters.child import ChildLimits
from js_sandbox.adapters.frames import Notice, Order
from js_sandbox.domain.errors import NoChild

_STOP_SECONDS = 3.0


class ZygoteProcess:
    """A running zygote. `on_end` hears of each child's end and exit code, `on_gone` once, when the zygote is gone."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        on_end: Callable[[int, int], None],
        on_gone: Callable[[], None],
    ) -> None:
        """Use `start`."""
        self._process = process
        self._control = control
        self._on_end = on_end
        self._on_gone = on_gone
        asyncio.get_running_loop().add_reader(control, self._hear)

    @classmethod
    def start(cls, limits: ChildLimits, on_end: Callable[[int, int], None], on_gone: Callable[[], None]) -> Self:
        """Start a zygote. It takes orders at once, and follows them when V8 is loaded."""
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control.setblocking(False)
        arguments = [
            sys.executable,
            "-m",
            "js_sandbox.adapters.zygote",
            str(theirs.fileno()),
            json.dumps(dataclasses.asdict(limits)),
        ]
        # Programs live in UTC and know nothing of the service's settings.
        environment = {
            name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
        }
        with theirs:
            process = subprocess.Popen(
                arguments,
                pass_fds=[theirs.fileno()],
                env=environment | {"TZ": "UTC", "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        return cls(process, control, on_end, on_gone)

    def fork(self, child: int) -> socket.socket:
        """Have a child forked, by a number of the caller's choice; the service's end of its stream.

        Raises:
            NoChild: the zygote is gone.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                socket.send_fds(self._control, [Order("fork", child).pack()], [theirs.fileno()])
            except OSError as exc:
                ours.close()
                message = "the zygote takes no orders"
                raise NoChild(message) from exc
        ours.setblocking(False)
        return ours

    def kill(self, child: int) -> None:
        """Have a child killed; no matter if it has ended."""
        with contextlib.suppress(OSError):
            self._control.send(Order("kill", child).pack())

    async def stop(self) -> None:
        """Let the zygote kill and reap all its children and end; after a few seconds kill it, which kills them too."""
        self._close()
        try:
            await asyncio.wait_for(asyncio.to_thread(self._process.wait), _STOP_SECONDS)
        except TimeoutError:
            self._process.kill()
            self._process.wait()

    def _hear(self) -> None:
        try:
            packet = self._control.recv(Notice.FORM.size)
        except BlockingIOError:
            return
        except ConnectionError:
            packet = b""
        if packet:
            notice = Notice.unpack(packet)
            self._on_end(notice.child, notice.exit_code)
            return
        self._close()
        self._process.kill()
        self._process.wait()
        self._on_gone()

    def _close(self) -> None:
        if self._control.fileno() != -1:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
