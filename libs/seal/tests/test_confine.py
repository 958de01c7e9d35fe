"""Attacks by a confined process, each tried in a process of its own; what it reached is reported back."""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import seal
from seal import _kernel, bpf, seccomp

pytestmark = pytest.mark.skipif(seal.landlock_abi() == 0, reason="this kernel has no Landlock")

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/opt", "/etc", "/root")


def confined(attack: Callable[[], object], profile: seal.Profile) -> str:
    """What the attack gave in a confined child: its value, or the name of its errno."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            seal.confine(profile)
            said = repr(attack())
        except OSError as exc:
            said = errno.errorcode.get(exc.errno or 0, str(exc))
        except BaseException as exc:
            said = f"{type(exc).__name__}: {exc}"
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read().decode()
    _, status = os.waitpid(child, 0)
    return said if os.WIFEXITED(status) else signal.Signals(os.WTERMSIG(status)).name


def profile(folder: Path, **changes: object) -> seal.Profile:
    """The folder to write, the system to read."""
    return seal.Profile(read_write=(str(folder),), read_only=SYSTEM, devices=("/dev/null",), **changes)  # type: ignore[arg-type]


def test_the_workspace_is_usable(tmp_path: Path) -> None:
    def work() -> str:
        (tmp_path / "d").mkdir()
        (tmp_path / "d/a").write_text("x", encoding="utf-8")
        (tmp_path / "d/a").rename(tmp_path / "b")
        return (tmp_path / "b").read_text(encoding="utf-8")

    assert confined(work, profile(tmp_path)) == "'x'"


@pytest.mark.parametrize("how", ["read", "write", "list", "remove", "link", "rename"])
def test_files_outside_are_out_of_reach(tmp_path: Path, how: str) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_text("secret", encoding="utf-8")
    attacks: dict[str, Callable[[], object]] = {
        "read": (outside / "file").read_text,
        "write": lambda: (outside / "file").write_text("changed"),
        "list": lambda: list(outside.iterdir()),
        "remove": (outside / "file").unlink,
        "link": lambda: os.link(outside / "file", inside / "file"),
        "rename": lambda: (outside / "file").rename(inside / "file"),
    }
    assert confined(attacks[how], profile(inside)) in ("EACCES", "EXDEV")
    assert (outside / "file").read_text(encoding="utf-8") == "secret"
    assert list(inside.iterdir()) == []


@pytest.mark.parametrize(
    ("family", "kind", "protocol"),
    [
        (socket.AF_INET, socket.SOCK_DGRAM, 0),
        (socket.AF_INET, socket.SOCK_RAW, 1),
        (socket.AF_INET, socket.SOCK_DGRAM, 1),
        (socket.AF_INET, socket.SOCK_STREAM, 262),
        (socket.AF_UNIX, socket.SOCK_STREAM, 0),
        (socket.AF_NETLINK, socket.SOCK_RAW, 0),
        (socket.AF_VSOCK, socket.SOCK_STREAM, 0),
        (socket.AF_PACKET, socket.SOCK_RAW, 0),
    ],
    ids=["udp", "raw", "ping", "mptcp", "unix", "netlink", "vsock", "packet"],
)
def test_no_socket_but_tcp_exists(tmp_path: Path, family: int, kind: int, protocol: int) -> None:
    assert confined(lambda: socket.socket(family, kind, protocol), profile(tmp_path, tcp_connect_ports=(1,))) == "EPERM"


def test_without_ports_there_is_no_socket_but_pairs_remain(tmp_path: Path) -> None:
    assert confined(socket.socket, profile(tmp_path)) == "EPERM"
    assert confined(lambda: bool(socket.socketpair()), profile(tmp_path)) == "True"


def test_a_pair_cannot_be_sent_from_to_a_socket_outside(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "outside"))
        server.settimeout(0.2)

        def escape() -> int:
            return socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"escaped", str(tmp_path / "outside"))

        assert confined(escape, profile(tmp_path)) == "EPERM"
        with pytest.raises(TimeoutError):
            server.recv(16)


def test_a_descriptor_cannot_be_made_to_signal_others(tmp_path: Path) -> None:
    here = os.getpid()

    def own(request: int) -> int:
        return fcntl.ioctl(socket.socketpair()[0], request, here.to_bytes(4, "little"))

    for request in (0x8901, 0x8902):
        assert confined(lambda request=request: own(request), profile(tmp_path)) == "EPERM"


def test_only_the_allowed_port_is_reached(tmp_path: Path) -> None:
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    allowed, other = (server.getsockname()[1] for server in servers)

    def connect(port: int) -> str:
        socket.create_connection(("127.0.0.1", port), timeout=2)
        return "connected"

    bound = profile(tmp_path, tcp_connect_ports=(allowed,))
    assert confined(lambda: connect(allowed), bound) == "'connected'"
    if seal.landlock_abi() >= 4:
        assert confined(lambda: connect(other), bound) == "EACCES"
    for server in servers:
        server.close()


def test_nothing_is_sent_while_connecting_or_listened_for(tmp_path: Path) -> None:
    bound = profile(tmp_path, tcp_connect_ports=(1,))
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = server.getsockname()
        assert confined(lambda: socket.socket().sendto(b"PING", 0x2000_0000, place), bound) == "EPERM"
        assert confined(lambda: socket.socket().sendmsg([b"PING"], [], 0x2000_0000, place), bound) == "EPERM"
        assert confined(lambda: socket.socket().setsockopt(socket.IPPROTO_TCP, 30, 1), bound) == "EPERM"
    assert confined(lambda: socket.socket().listen(), bound) == "EPERM"
    assert confined(lambda: socket.socket().bind(("127.0.0.1", 0)), bound) == "EPERM"


@pytest.mark.parametrize(
    "name",
    [
        "ptrace",
        "process_vm_readv",
        "io_uring_setup",
        "keyctl",
        "shmget",
        "semget",
        "msgget",
        "unshare",
        "bpf",
        "mount",
        "userfaultfd",
    ],
)
def test_system_calls_that_reach_beyond_are_refused(tmp_path: Path, name: str) -> None:
    assert confined(lambda: _kernel.syscall(name, 0, 0, 0, 0, 0), profile(tmp_path)) == "EPERM"


def test_a_namespace_cannot_be_made_by_clone_either(tmp_path: Path) -> None:
    assert confined(lambda: _kernel.syscall("clone", 0x1000_0000 | signal.SIGCHLD, 0, 0, 0, 0), profile(tmp_path)) == "EPERM"
    assert confined(lambda: _kernel.syscall("clone3", 0, 0), profile(tmp_path)) == "ENOSYS"


def test_system_calls_of_a_later_kernel_do_not_exist(tmp_path: Path) -> None:
    assert confined(lambda: ctypes.CDLL(None, use_errno=True).syscall(9_999) and ctypes.get_errno(), profile(tmp_path)) == str(
        errno.ENOSYS
    )


def test_others_keep_their_limits_and_their_lives(tmp_path: Path) -> None:
    bound = profile(tmp_path, protected_pids=(os.getpid(),))
    here = os.getpid()
    assert confined(lambda: resource.prlimit(here, resource.RLIMIT_NOFILE, (8, 8)), bound) == "EPERM"
    assert confined(lambda: os.setpriority(os.PRIO_PROCESS, here, 5), bound) == "EPERM"
    assert confined(lambda: os.sched_setaffinity(here, {0}), bound) == "EPERM"
    assert confined(lambda: os.kill(here, signal.SIGUSR1), bound) == "EPERM"
    assert (
        confined(lambda: os.kill(here, signal.SIGUSR1), profile(tmp_path, protected_pids=(here,), unsafe_skip_landlock=True))
        == "EPERM"
    )


def test_limits_hold(tmp_path: Path) -> None:
    bound = profile(tmp_path, limits=seal.Limits(file_bytes=1000, open_files=20))

    def write() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        return (tmp_path / "big").write_bytes(b"x" * 5_000)

    assert confined(write, bound) in ("EFBIG", "1000")
    assert confined(lambda: [os.open("/dev/null", os.O_RDONLY) for _ in range(40)], bound) == "EMFILE"


def test_only_listed_programs_run_where_the_profile_lists_them(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "program").chmod(0o755)
    bound = profile(tmp_path, execute=("/usr/bin/true", "/lib64", "/lib", "/usr/lib"))
    assert confined(lambda: os.execv(tmp_path / "program", ["program"]), bound) == "EACCES"  # noqa: S606
    assert confined(lambda: os.execv("/usr/bin/env", ["env"]), bound) == "EACCES"  # noqa: S606
    assert confined(lambda: os.memfd_create("x"), bound) == "EPERM"


def test_a_workspace_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert "SealUnavailable" in confined(lambda: None, profile(tmp_path / "link"))


def test_without_landlock_nothing_runs_unless_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal.landlock, "abi", lambda: 0)
    assert "SealUnavailable" in confined(lambda: None, profile(tmp_path))
    assert confined(lambda: "ran", profile(tmp_path, unsafe_allow_no_landlock=True)) == "'ran'"


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_every_jump_of_a_filter_lands_inside_it_and_it_ends_in_an_answer(name: str) -> None:
    code = seccomp.program(_kernel.architecture_named(name), True, (7, 8), True)
    instructions = [code[place : place + 8] for place in range(0, len(code), 8)]
    for place, instruction in enumerate(instructions):
        operation = int.from_bytes(instruction[:2], "little")
        if operation & 0x07 == 0x05:
            assert place + 1 + max(instruction[2], instruction[3]) < len(instructions)
    assert int.from_bytes(instructions[-1][:2], "little") == bpf.RET


def test_a_profile_survives_json(tmp_path: Path) -> None:
    given = profile(tmp_path, tcp_connect_ports=(3128,), execute=("/usr/bin/true",))
    assert seal.Profile.from_json(given.to_json()) == given
