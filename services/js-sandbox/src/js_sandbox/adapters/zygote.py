"""The zygote: a process that has loaded V8 and everything Python needs, and forks children that start warm.

    python -m js_sandbox.adapters.zygote <descriptor> <limits as JSON>

It has one thread, which makes a fork sound (V8 is loaded with `--single-threaded` and starts threads with a context
only). It never sees a program or a result: those go between the service and a child, over a pair of their own. So a
child inherits nothing of other calls. What children do share is their address layout: they are forks of one image.

The zygote is the parent of all children, so it alone reaps and kills them: a pid it signals cannot be someone else's.
When the service goes away, its end of the control socket closes, and the zygote kills what is left and ends.
"""

import contextlib
import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from js_sandbox.adapters import v8
from js_sandbox.adapters.child import ChildLimits, live, profile
from js_sandbox.adapters.frames import Notice, Order
from seal import seccomp

_OPEN_FILES = 1024


@dataclass(frozen=True)
class _Child:
    number: int
    pid: int
    pidfd: int


class Zygote:
    """Forks and reaps on the service's order."""

    def __init__(self, control: socket.socket, library: Any, limits: ChildLimits) -> None:
        """`control` is the SOCK_SEQPACKET socket to the service."""
        self._control = control
        self._library = library
        self._limits = limits
        # The zygote, the service, and the container's init.
        self._protected_pids = (os.getpid(), os.getppid(), 1)
        # The filters of a seal, made once here, are ready in every child: with the scopes that newer kernels have, without.
        for protected in ((), self._protected_pids):
            seccomp.prepare(profile(limits, protected))
        self._children: dict[int, _Child] = {}
        self._selector = selectors.EpollSelector()
        self._selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Follow orders until the service closes the control socket; then kill all children and reap them."""
        try:
            while True:
                for key, _events in self._selector.select():
                    if key.data is not None:
                        self._reap(key.data)
                    elif not self._follow():
                        return
        finally:
            for child in list(self._children.values()):
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
            for child in list(self._children.values()):
                self._reap(child)

    def _follow(self) -> bool:
        """Take one order; False when the service is gone."""
        try:
            packet, descriptors, _flags, _address = socket.recv_fds(self._control, Order.FORM.size, 1)
        except ConnectionError:
            return False
        if not packet:
            return False
        order = Order.unpack(packet)
        if order.what == "kill":
            child = self._children.get(order.child)
            if child is not None:
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
        else:
            with socket.socket(fileno=descriptors[0]) as connection:
                self._fork(order.child, connection)
        return True

    def _fork(self, number: int, connection: socket.socket) -> None:
        try:
            pid = os.fork()
        except OSError:
            self._notify(Notice(number, 1))
            return
        if pid == 0:
            live(self._library, connection, self._limits, self._protected_pids)
        child = _Child(number, pid, os.pidfd_open(pid))
        self._children[number] = child
        # pidfd_open(2): readable once the process has ended.
        self._selector.register(child.pidfd, selectors.EVENT_READ, child)

    def _reap(self, child: _Child) -> None:
        _pid, status = os.waitpid(child.pid, 0)
        self._selector.unregister(child.pidfd)
        os.close(child.pidfd)
        del self._children[child.number]
        self._notify(Notice(child.number, os.waitstatus_to_exitcode(status)))

    def _notify(self, notice: Notice) -> None:
        with contextlib.suppress(ConnectionError):
            self._control.send(notice.pack())


def main() -> None:
    """Load V8, then serve."""
    # Ctrl-C in a terminal goes to the whole group; the service says when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard), min(_OPEN_FILES, hard)))
    control = socket.socket(fileno=int(sys.argv[1]))
    limits = ChildLimits(**json.loads(sys.argv[2]))
    library = v8.load()
    # What is alive now stays untouched by the collector, so that children share its pages.
    gc.collect()
    gc.freeze()
    Zygote(control, library, limits).serve()


if __name__ == "__main__":
    main()
