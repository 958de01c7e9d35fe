"""The system calls that a confined process may not make.

Everything is allowed but what is named: the container's own filter lies underneath, and a list of all that compilers,
git, Python and Node need would be a list of nearly everything. What is named here is what reaches beyond the process:
the network (TCP streams to allowed ports only), other processes, shared memory by name, kernel surface that nobody
needs, and every other way to enter the kernel (32-bit entries, io_uring, system calls of a later kernel).
"""

import ctypes
import errno
import socket
from functools import lru_cache

from seal import _kernel, bpf
from seal.profile import Profile

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2

# Refused whatever the arguments: other processes' memory and descriptors, namespaces, mounts, System V and POSIX
# message queues, shared memory and semaphores, keyrings, tracing, clocks, modules, io_uring.
REFUSED = (
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd",
    "pidfd_send_signal", "migrate_pages", "move_pages", "unshare", "setns", "chroot", "pivot_root", "mount", "umount2",
    "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "statmount",
    "listmount", "swapon", "swapoff", "quotactl", "quotactl_fd", "shmget", "shmat", "shmctl", "shmdt", "semget", "semop",
    "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive",
    "mq_notify", "mq_getsetattr", "add_key", "request_key", "keyctl", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "fanotify_mark", "name_to_handle_at", "open_by_handle_at",
    "lookup_dcookie", "memfd_secret", "modify_ldt", "iopl", "ioperm", "settimeofday", "clock_settime", "adjtimex",
    "clock_adjtime", "acct", "syslog", "vhangup", "reboot", "sethostname", "setdomainname", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "create_module", "get_kernel_syms", "query_module", "nfsservctl",
    "_sysctl", "sysfs", "ustat", "uselib", "vserver", "bind", "listen",
)  # fmt: skip

# Calls whose first argument names a process: on oneself (0) only.
ONLY_ONESELF = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
# The same, with the kind of target before it: of these only a single process, oneself.
ONLY_ONESELF_OF_KIND = {"setpriority": 0, "ioprio_set": 1}
# Calls whose first argument is the process, or group as a negative number, that gets a signal.
SIGNALLING = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")

# include/uapi/linux/sched.h: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
CLONE_NEW = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000

MSG_FASTOPEN = 0x2000_0000
# Which argument of a sending call holds its flags.
SENDING = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
# include/uapi/linux/tcp.h: TCP_REPAIR, TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_ULP.
TCP_OPTIONS_REFUSED = (19, 23, 30, 31)
SOCK_TYPE_MASK = ~(socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) & 0xFFFF_FFFF

# include/uapi/asm-generic/ioctls.h: TIOCSTI and TIOCLINUX put words into a terminal's mouth.
TERMINAL_IOCTLS = (0x5412, 0x541C)
# include/uapi/asm-generic/sockios.h: FIOSETOWN and SIOCSPGRP do what F_SETOWN does.
SIGNAL_IOCTLS = (0x8901, 0x8902)
# include/uapi/asm-generic/fcntl.h: F_SETOWN, F_SETSIG, F_SETOWN_EX send any signal to any process of the uid.
SIGNAL_FCNTLS = (8, 10, 15)

REFUSE = bpf.fail(errno.EPERM)
ABSENT = bpf.fail(errno.ENOSYS)


def restrict(profile: Profile) -> None:
    """Bind this thread and its future children to the filter. no_new_privs must be set before.

    Raises:
        SealUnavailable: the architecture is not known.
        OSError: the kernel refused.
    """
    code = prepare(profile)
    filter_program = bpf.Program(len(code) // 8, code)
    _kernel.prctl_pointer(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_program))


def prepare(profile: Profile) -> bytes:
    """The filter of a profile, encoded; kept, so that a process that forks confined ones can have it ready."""
    return program(_kernel.architecture(), bool(profile.tcp_connect_ports), profile.protected_pids, profile.execute is not None)


@lru_cache(maxsize=16)
def program(
    architecture: _kernel.Architecture, network: bool, protected_pids: tuple[int, ...], only_listed_programs: bool
) -> bytes:
    """The filter, encoded. A call of another architecture kills the process; one of a later kernel does not exist."""
    refused = (*REFUSED, "memfd_create") if only_listed_programs else REFUSED
    pieces: list[bpf.Piece] = [
        [bpf.load(bpf.ARCHITECTURE)],
        bpf.unless_in((architecture.audit,), [bpf.answer(bpf.RET_KILL_PROCESS)]),
        [bpf.load(bpf.NUMBER)],
        # The x32 entry too: its numbers have bit 30 set (arch/x86/include/uapi/asm/unistd.h).
        bpf.when_at_least(_kernel.LAST_KNOWN_SYSCALL + 1, [ABSENT]),
        # glibc falls back to clone, whose flags can be judged.
        _on(architecture, "clone3", [ABSENT]),
        _on(architecture, "clone", [bpf.load(bpf.low_word(0)), *bpf.when_any_bit(CLONE_NEW, [REFUSE])]),
        _on(architecture, "socket", _sockets(network=network)),
        _on(architecture, "socketpair", _pairs()),
        _on(architecture, "setsockopt", _tcp_options()),
        _on(architecture, "ioctl", [bpf.load(bpf.low_word(1)), *_any_of(TERMINAL_IOCTLS + SIGNAL_IOCTLS)]),
        _on(architecture, "fcntl", [bpf.load(bpf.low_word(1)), *_any_of(SIGNAL_FCNTLS)]),
        *(
            _on(architecture, name, [bpf.load(bpf.low_word(flags)), *bpf.when_any_bit(MSG_FASTOPEN, [REFUSE])])
            for name, flags in SENDING.items()
        ),
        *(_on(architecture, name, [bpf.load(bpf.low_word(0)), *bpf.unless_in((0,), [REFUSE])]) for name in ONLY_ONESELF),
        *(_on(architecture, name, _oneself_of_kind(kind)) for name, kind in ONLY_ONESELF_OF_KIND.items()),
        *(_on(architecture, name, _signals(protected_pids)) for name in SIGNALLING),
        *(_on(architecture, name, [REFUSE]) for name in refused),
        [bpf.answer(bpf.RET_ALLOW)],
    ]
    return bpf.encode([instruction for piece in pieces for instruction in piece])


def _on(architecture: _kernel.Architecture, name: str, then: bpf.Piece) -> bpf.Piece:
    """What to do on this system call; it is allowed where `then` does not answer."""
    number = architecture.number(name)
    return [] if number is None else bpf.when_equal(number, [*then, bpf.answer(bpf.RET_ALLOW)])


def _sockets(*, network: bool) -> bpf.Piece:
    """TCP over IPv4 and IPv6, and no other socket: no UDP, MPTCP, raw, Unix, netlink, packet or vsock."""
    if not network:
        return [REFUSE]
    return [
        bpf.load(bpf.low_word(0)),
        *bpf.unless_in((socket.AF_INET, socket.AF_INET6), [REFUSE]),
        bpf.load(bpf.low_word(1)),
        bpf.masked(SOCK_TYPE_MASK),
        *bpf.unless_in((socket.SOCK_STREAM,), [REFUSE]),
        bpf.load(bpf.low_word(2)),
        *bpf.unless_in((0, socket.IPPROTO_TCP), [REFUSE]),
    ]


def _pairs() -> bpf.Piece:
    """Connected Unix sockets only: one for datagrams could be sent from to any path."""
    return [
        bpf.load(bpf.low_word(0)),
        *bpf.unless_in((socket.AF_UNIX,), [REFUSE]),
        bpf.load(bpf.low_word(1)),
        bpf.masked(SOCK_TYPE_MASK),
        *bpf.unless_in((socket.SOCK_STREAM, socket.SOCK_SEQPACKET), [REFUSE]),
    ]


def _tcp_options() -> bpf.Piece:
    on_tcp = [bpf.load(bpf.low_word(2)), *_any_of(TCP_OPTIONS_REFUSED)]
    return [bpf.load(bpf.low_word(1)), *bpf.when_equal(socket.IPPROTO_TCP, on_tcp)]


def _oneself_of_kind(kind: int) -> bpf.Piece:
    return [
        bpf.load(bpf.low_word(0)),
        *bpf.unless_in((kind,), [REFUSE]),
        bpf.load(bpf.low_word(1)),
        *bpf.unless_in((0,), [REFUSE]),
    ]


def _signals(protected_pids: tuple[int, ...]) -> bpf.Piece:
    """No signal to a protected process, to its group, or to every process there is."""
    targets = (*protected_pids, *(-pid for pid in protected_pids), -1)
    return [bpf.load(bpf.low_word(0)), *_any_of(targets)]


def _any_of(values: tuple[int, ...]) -> bpf.Piece:
    return [instruction for value in values for instruction in bpf.when_equal(value, [REFUSE])]
