"""What a program could try that has broken out of V8: Python code that runs in a sealed, warm child.

    python attacks.py [unfrozen]   prints one JSON object: for each attack the name of the errno it met, or "done".

With `unfrozen` the limits on descriptors, processes and threads are left out, which would hide what else holds.
Run it without privileges; as uid 0 it first becomes another user. It seals itself by the service's own code, and it
also runs inside the container, from stdin.
"""

import _thread
import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

from js_sandbox.adapters import child, v8
from js_sandbox.app.wiring import LIMITS

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH = 16
MEMFD = "attack"


def main() -> None:
    """Fork a sealed child, let it attack, print what it met."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    if "unfrozen" in sys.argv:
        child._freeze = lambda: None
    library = v8.load()
    ours, theirs = socket.socketpair()
    secret = ctypes.create_string_buffer(b"of the parent")
    pid = os.fork()
    if pid == 0:
        ours.close()
        child._close_all_but(theirs.fileno())
        assert child._warm(library, theirs, LIMITS, (os.getppid(), os.getppid())) is not None
        met = {name: attempt(attack) for name, attack in attacks(os.getppid(), ctypes.addressof(secret)).items()}
        theirs.sendall(json.dumps(met).encode())
        os._exit(0)
    theirs.close()
    answer = b"".join(iter(lambda: ours.recv(65536), b""))
    os.waitpid(pid, 0)
    if not answer.startswith(b"R"):
        sys.exit(f"the child did not become ready: {answer!r}")
    print(answer[1:].decode())


def attempt(attack: Callable[[], object]) -> str:
    """What an attack meets."""
    try:
        attack()
    except OSError as exc:
        return errno.errorcode.get(exc.errno or 0, repr(exc))
    except (MemoryError, ValueError, RuntimeError) as exc:
        return type(exc).__name__
    return "done"


def call(function: str, *arguments: object) -> Callable[[], int]:
    """A call of the C library that fails with errno."""

    def attack() -> int:
        result = getattr(libc, function)(*arguments)
        if result == -1:
            raise OSError(ctypes.get_errno(), function)
        return int(result)

    return attack


def attacks(parent: int, address: int) -> dict[str, Callable[[], object]]:
    """Every attack, by name."""
    remote = (ctypes.c_void_p * 2)(address, 13)
    local_buffer = ctypes.create_string_buffer(13)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(local_buffer), 13)
    return {
        # files
        "read a file": lambda: os.open("/etc/passwd", os.O_RDONLY),
        "read the root folder": lambda: os.listdir("/"),
        "read the service's own code": lambda: os.open(child.__file__, os.O_RDONLY),
        "read the parent's environment": lambda: os.open(f"/proc/{parent}/environ", os.O_RDONLY),
        "read the parent's memory": lambda: os.open(f"/proc/{parent}/mem", os.O_RDONLY),
        "read its own memory map": lambda: os.open("/proc/self/maps", os.O_RDONLY),
        "make a file": lambda: os.open("/tmp/attack", os.O_CREAT | os.O_WRONLY),
        "make a folder": lambda: os.mkdir("/tmp/attack"),
        "make a link": lambda: os.symlink("/etc/passwd", "/tmp/attack"),
        "open a device": lambda: os.open("/dev/null", os.O_RDWR),
        "make a file in memory": lambda: os.memfd_create(MEMFD),
        "make a pipe": os.pipe,
        "duplicate its connection": lambda: os.dup(0),
        # sockets
        "TCP": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "TCP over IPv6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM),
        "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "Unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "vsock": lambda: socket.socket(40, socket.SOCK_STREAM),
        "socket pair": socket.socketpair,
        # processes
        "fork": lambda: os.fork() or os._exit(0),
        "start a thread": lambda: _thread.start_new_thread(int, ()),
        "run a program": lambda: os.execv("/bin/true", ["true"]),  # noqa: S606 (that is the attack)
        "run a program in a child": lambda: subprocess.run(["/bin/true"], check=True),
        "kill the parent": lambda: os.kill(parent, signal.SIGKILL),
        "stop the parent": lambda: os.kill(parent, signal.SIGSTOP),
        "attach to the parent": call("ptrace", PTRACE_ATTACH, parent, 0, 0),
        "copy the parent's memory": call("process_vm_readv", parent, local, 1, remote, 1, 0),
        "lower the parent's limits": lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE, (0, 0)),
        "a handle of the parent": lambda: os.pidfd_open(parent),
        # limits
        "more memory": lambda: resource.setrlimit(resource.RLIMIT_DATA, (-1, -1)),
        "more descriptors": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        "more processes": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (64, 64)),
        "more processor time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)),
        "a gigabyte": lambda: mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS),
        # the kernel
        "new namespaces": call("unshare", 0x10000000),
        "mount": call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "a key ring": call("syscall", 250 if os.uname().machine == "x86_64" else 219, 0, -3, 1),
        "io_uring": call("syscall", 425, 8, ctypes.create_string_buffer(256)),
        "bpf": call("syscall", 321 if os.uname().machine == "x86_64" else 280, 0, None, 0),
        "perf events": call("syscall", 298 if os.uname().machine == "x86_64" else 241, None, 0, -1, -1, 0),
        "userfaultfd": call("syscall", 323 if os.uname().machine == "x86_64" else 282, 0),
        "System V shared memory": call("shmget", 0, 4096, 0o1600),
    }


if __name__ == "__main__":
    main()
