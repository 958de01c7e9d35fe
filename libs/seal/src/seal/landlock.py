"""Landlock: which files a process may touch and which TCP ports it may connect to (kernel docs, userspace-api/landlock).

The best version (ABI) that the kernel has is used, with every right that it knows handled, so that what no rule allows
is refused. What Landlock of any version lets through on a path whose name is known (stat, chmod, chown, utime, xattr,
chdir) is not its affair; names that cannot be guessed are.
"""

import ctypes
import errno
import os
import stat

from seal import _kernel
from seal.errors import SealUnavailable
from seal.profile import Profile

# include/uapi/linux/landlock.h: LANDLOCK_ACCESS_FS_*, one bit each.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
# Remove and make, of every kind, but for character and block devices, which need a capability anyway.
CHANGE_FOLDER = sum(1 << bit for bit in (4, 5, 7, 8, 9, 10, 12))
# Which rights an ABI knows: bits below this one.
FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
FS_BITS_NEWEST = 16
# Rights that mean something on a file; the kernel refuses the others in a rule for one.
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

NET_BIND_TCP, NET_CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_UNIX_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1
CREATE_RULESET_VERSION = 1 << 0
RULE_PATH_BENEATH, RULE_NET_PORT = 1, 2

NETWORK_ABI = 4
SCOPES_ABI = 6


class _RulesetAttr(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64), ("handled_access_net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class _NetPortAttr(ctypes.Structure):
    _fields_ = (("allowed_access", ctypes.c_uint64), ("port", ctypes.c_uint64))


def abi() -> int:
    """The version of Landlock that this kernel has; 0 when it has none or it is switched off."""
    try:
        return _kernel.syscall("landlock_create_ruleset", None, 0, CREATE_RULESET_VERSION)
    except OSError as exc:
        if exc.errno in (errno.ENOSYS, errno.EOPNOTSUPP):
            return 0
        raise


def restrict(profile: Profile, version: int) -> None:
    """Bind this process and its future children. no_new_privs must be set before.

    Raises:
        SealUnavailable: a path under `read_write` is missing or is a link, so the rules would not mean what they say.
        OSError: the kernel refused.
    """
    handled = (1 << FS_BITS.get(version, FS_BITS_NEWEST)) - 1
    ruleset = _create(handled, version)
    try:
        reading = READ_FILE | READ_DIR
        running = 0 if profile.execute is not None else EXECUTE
        everything = reading | running | WRITE_FILE | TRUNCATE | REFER | IOCTL_DEV | CHANGE_FOLDER
        for path in profile.read_write:
            _allow_path(ruleset, path, everything & handled, must_exist=True)
        for paths, access in (
            (profile.read_only, reading | running),
            (profile.read_data, reading),
            (profile.devices, READ_FILE | WRITE_FILE | IOCTL_DEV),
            (profile.execute or (), EXECUTE),
        ):
            for path in paths:
                _allow_path(ruleset, path, access & handled, must_exist=False)
        if version >= NETWORK_ABI:
            for port in profile.tcp_connect_ports:
                rule = _NetPortAttr(NET_CONNECT_TCP, port)
                _kernel.syscall("landlock_add_rule", ruleset, RULE_NET_PORT, ctypes.byref(rule), 0)
        _kernel.syscall("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _create(handled: int, version: int) -> int:
    attributes = _RulesetAttr(handled, NET_BIND_TCP | NET_CONNECT_TCP, SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL)
    # An older kernel takes the beginning of the structure that it knows.
    size = 24 if version >= SCOPES_ABI else 16 if version >= NETWORK_ABI else 8
    return _kernel.syscall("landlock_create_ruleset", ctypes.byref(attributes), size, 0)


def _allow_path(ruleset: int, path: str, access: int, *, must_exist: bool) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if must_exist else 0))
    except FileNotFoundError:
        if must_exist:
            raise SealUnavailable(f"{path} does not exist, so it cannot be opened to the process") from None
        return
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            raise SealUnavailable(f"{path} is a symbolic link")
        rule = _PathBeneathAttr(access if stat.S_ISDIR(mode) else access & ON_FILES, descriptor)
        _kernel.syscall("landlock_add_rule", ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
