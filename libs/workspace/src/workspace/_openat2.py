"""openat2(2) by ctypes: Python has no binding of it. x86_64 and aarch64; anything else, and older kernels, fail closed.

With RESOLVE_BENEATH the kernel resolves a path in the act of opening it and refuses every step that leads out of the
directory it started from, symbolic links, `..` and renames by others included. So there is no moment between a check
and an open.
"""

import ctypes
import errno
import os
import platform

# The same number on both (linux/arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
SYS_OPENAT2 = {"x86_64": 437, "aarch64": 437}

# include/uapi/linux/openat2.h
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08

# openat2(2), EAGAIN: a `..` was met while something on the way was being renamed. A command that does nothing but rename
# can win several times in a row; it wins a refusal, not an escape.
ATTEMPTS = 64


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def open_beneath(directory: int, path: str, flags: int, *, symlinks: bool = True) -> int:
    """Open `path`, which must lie beneath the directory of descriptor `directory`, and return a new descriptor.

    Symbolic links that stay beneath are followed, unless `symlinks` is false.

    Raises:
        OSError: what openat2(2) says: EXDEV for a path that leads out, ELOOP for a link where none is allowed, and so
            on; ENOSYS where the kernel or the machine has no openat2.
    """
    number = SYS_OPENAT2.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, "openat2 is not known on this machine")
    resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (0 if symlinks else RESOLVE_NO_SYMLINKS)
    how = _OpenHow(flags | os.O_CLOEXEC, 0, resolve)
    name = os.fsencode(path)
    if b"\0" in name:
        raise OSError(errno.EINVAL, "NUL in a path")
    for _ in range(ATTEMPTS):
        descriptor: int = _libc.syscall(
            ctypes.c_long(number),
            ctypes.c_int(directory),
            ctypes.c_char_p(name),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if descriptor >= 0:
            return descriptor
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code), path)
    raise OSError(errno.EAGAIN, "something on the path keeps being renamed", path)
