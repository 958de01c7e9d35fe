"""System calls that Python has no function for, by their numbers on x86_64 and aarch64.

Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux. From 424 on they are
the same on both. Any other architecture, and a 32-bit Python, fails closed.
"""

import ctypes
import os
import platform
import struct
from dataclasses import dataclass

from seal.errors import SealUnavailable

_libc = ctypes.CDLL(None, use_errno=True)

# Options of prctl(2).
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38


@dataclass(frozen=True, eq=False)
class Architecture:
    """What differs between the machines we know: the audit number, and the system calls a filter names."""

    name: str
    audit: int
    numbers: dict[str, int]

    def number(self, name: str) -> int | None:
        """The number of a system call, or None where this architecture does not have it."""
        return self.numbers.get(name)


# Linux 6.18: file_setattr is 469. Higher numbers are of a later kernel than this list was written for.
LAST_KNOWN_SYSCALL = 469

_COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "landlock_create_ruleset": 444, "landlock_add_rule":
    445, "landlock_restrict_self": 446, "memfd_secret": 447, "process_mrelease": 448, "statmount": 457, "listmount": 458,
    "open_tree_attr": 467,
}  # fmt: skip

_X86_64 = {
    "ioctl": 16, "shmget": 29, "shmat": 30, "shmctl": 31, "socket": 41, "sendto": 44, "sendmsg": 46, "bind": 49, "listen": 50,
    "socketpair": 53, "setsockopt": 54, "clone": 56, "kill": 62, "semget": 64, "semop": 65, "semctl": 66, "shmdt": 67,
    "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "fcntl": 72, "ptrace": 101, "syslog": 103, "uselib": 134,
    "personality": 135, "ustat": 136, "sysfs": 139, "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144,
    "vhangup": 153, "modify_ldt": 154, "pivot_root": 155, "_sysctl": 156, "adjtimex": 159, "chroot": 161, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "create_module": 174, "init_module": 175, "delete_module": 176,
    "get_kernel_syms": 177, "query_module": 178, "quotactl": 179, "nfsservctl": 180, "tkill": 200, "sched_setaffinity": 203,
    "lookup_dcookie": 212, "semtimedop": 220, "clock_settime": 227, "tgkill": 234, "vserver": 236, "mq_open": 240,
    "mq_unlink": 241, "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244, "mq_getsetattr": 245, "kexec_load": 246,
    "add_key": 248, "request_key": 249, "keyctl": 250, "ioprio_set": 251, "migrate_pages": 256, "unshare": 272, "move_pages":
    279, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "fanotify_init": 300, "fanotify_mark": 301,
    "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305, "sendmmsg": 307, "setns": 308,
    "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "sched_setattr": 314, "seccomp": 317,
    "memfd_create": 319, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip

_AARCH64 = {
    "lookup_dcookie": 18, "fcntl": 25, "ioctl": 29, "ioprio_set": 30, "umount2": 39, "mount": 40, "pivot_root": 41,
    "nfsservctl": 42, "chroot": 51, "vhangup": 58, "quotactl": 60, "acct": 89, "personality": 92, "unshare": 97, "kexec_load":
    104, "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "sched_setparam": 118,
    "sched_setscheduler": 119, "sched_setaffinity": 122, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138,
    "setpriority": 140, "reboot": 142, "sethostname": 161, "setdomainname": 162, "settimeofday": 170, "adjtimex": 171,
    "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182, "mq_timedreceive": 183, "mq_notify": 184, "mq_getsetattr": 185,
    "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193,
    "shmget": 194, "shmctl": 195, "shmat": 196, "shmdt": 197, "socket": 198, "socketpair": 199, "bind": 200, "listen": 201,
    "sendto": 206, "setsockopt": 208, "sendmsg": 211, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220,
    "swapon": 224, "swapoff": 225, "migrate_pages": 238, "move_pages": 239, "rt_tgsigqueueinfo": 240, "perf_event_open": 241,
    "prlimit64": 261, "fanotify_init": 262, "fanotify_mark": 263, "name_to_handle_at": 264, "open_by_handle_at": 265,
    "clock_adjtime": 266, "setns": 268, "sendmmsg": 269, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "finit_module": 273, "sched_setattr": 274, "seccomp": 277, "memfd_create": 279, "bpf": 280, "userfaultfd": 282,
    "kexec_file_load": 294,
}  # fmt: skip

# include/uapi/linux/audit.h: EM_X86_64 (62) and EM_AARCH64 (183), each with the 64-bit and little-endian marks.
_ARCHITECTURES = {
    "x86_64": Architecture("x86_64", 0xC000_003E, _COMMON | _X86_64),
    "aarch64": Architecture("aarch64", 0xC000_00B7, _COMMON | _AARCH64),
}


def architecture() -> Architecture:
    """The architecture of this process.

    Raises:
        SealUnavailable: it is none of those whose system calls are listed here.
    """
    known = _ARCHITECTURES.get(platform.machine())
    if known is None or struct.calcsize("P") != 8:  # noqa: PLR2004 (bytes of a pointer)
        message = f"processes cannot be confined on {platform.machine()}: only on x86_64 and aarch64"
        raise SealUnavailable(message)
    return known


def architecture_named(name: str) -> Architecture:
    """One of the known architectures, for tests that look at another machine's filter."""
    return _ARCHITECTURES[name]


def syscall(name: str, *arguments: object) -> int:
    """Make a system call of this architecture; every argument is an integer, None, or a ctypes pointer.

    Raises:
        OSError: the kernel's answer, as errno.
    """
    number = architecture().numbers[name]
    result = _libc.syscall(ctypes.c_long(number), *(_word(argument) for argument in arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), name)
    return int(result)


def prctl(option: int, argument: int) -> None:
    """Set an option of this process by prctl, with one argument.

    Raises:
        OSError: the kernel's answer, as errno.
    """
    if _libc.prctl(ctypes.c_int(option), *(ctypes.c_ulong(word) for word in (argument, 0, 0, 0))) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "prctl")


def prctl_pointer(option: int, argument: int, pointer: object) -> None:
    """prctl(2) whose third word is a pointer.

    Raises:
        OSError: the kernel's answer, as errno.
    """
    if _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "prctl")


def _word(argument: object) -> object:
    # Variadic arguments without a type are passed as 32-bit ints by ctypes; the kernel reads whole registers.
    return ctypes.c_long(argument) if isinstance(argument, int) else argument
