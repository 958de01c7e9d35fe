"""Attacks from inside a command, each checked by what it would have reached."""

import secrets
from collections.abc import Iterator

import pytest
from box import Box, running

from contracts.commands import Refused


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    """One box for all of them."""
    with running() as made:
        yield made


def test_other_chats_cannot_be_read_written_or_listed(box: Box) -> None:
    other, mine = secrets.token_hex(16), secrets.token_hex(16)
    box.run("echo secret > file", other)
    place = f"/workspaces/chats/{other}"
    said = box.run(
        f"cat {place}/file; echo x >> {place}/file; echo x > {place}/new; ls {place}; ls /workspaces /workspaces/chats; rm -rf {place}",
        mine,
    )
    assert "secret" not in said.stdout + said.stderr
    assert other not in said.stdout
    assert (box.workspaces / "chats" / other / "file").read_text(encoding="utf-8") == "secret\n"
    assert not (box.workspaces / "chats" / other / "new").exists()


def test_links_out_of_the_workspace_lead_nowhere(box: Box) -> None:
    other = secrets.token_hex(16)
    box.run("echo secret > file", other)
    said = box.run(
        f"ln -s /workspaces/chats/{other}/file a; ln /workspaces/chats/{other}/file b; ln -s /keys c; cat a b c/public/ticket.pub; cat ../{other}/file"
    )
    assert "secret" not in said.stdout + said.stderr
    assert "BEGIN" not in said.stdout


@pytest.mark.parametrize(
    "attack",
    [
        "ls /app",
        "ls /opt/venv",
        "ls /keys /keys/public",
        "ls /run/switchbox/command",
        "ls /proc",
        "cat /proc/1/cmdline",
        "cat /proc/1/environ",
        "touch /tmp/x",
        "touch /usr/x",
        "touch /etc/x",
        "touch /var/tmp/x",
        "touch /dev/shm/x",
        "mount -t tmpfs x .",
        "unshare -U true",
        "chroot . true",
        "kill -9 1",
        "kill -9 -1 && echo survived",
        "renice -n 5 -p 1",
    ],
)
def test_what_lies_outside_is_refused(box: Box, attack: str) -> None:
    end = box.run(attack)
    assert end.exit_code not in (0, None)
    assert end.stdout == ""


@pytest.mark.parametrize(
    "sockets",
    [
        "AF_INET, SOCK_STREAM",
        "AF_INET, SOCK_DGRAM",
        "AF_INET6, SOCK_STREAM",
        "AF_UNIX, SOCK_STREAM",
        "AF_NETLINK, SOCK_RAW",
        "AF_VSOCK, SOCK_STREAM",
        "AF_INET, SOCK_STREAM, 262",
    ],
)
def test_there_is_no_socket_of_any_kind_with_the_network_off(box: Box, sockets: str) -> None:
    end = box.run(f"python3 -c 'from socket import *; socket({sockets})'")
    assert "PermissionError" in end.stderr


def test_the_command_socket_cannot_be_spoken_to(box: Box) -> None:
    end = box.run("curl -sS --unix-socket /run/switchbox/command/command.sock http://x/health")
    assert end.exit_code != 0


def test_neither_environment_nor_arguments_of_others_are_seen(box: Box) -> None:
    end = box.run("env; cat /proc/*/environ /proc/*/cmdline")
    assert sorted(line.split("=")[0] for line in end.stdout.splitlines()) == [
        "HOME",
        "LANG",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHLVL",
        "TMPDIR",
        "_",
    ] or sorted(line.split("=")[0] for line in end.stdout.splitlines()) == ["HOME", "LANG", "PATH", "PWD", "SHLVL", "TMPDIR", "_"]


def test_a_ticket_runs_once_and_only_for_its_own_command(box: Box) -> None:
    ticket = box.ticket("echo once >> log", "a" * 32)
    box.send(ticket)
    (again,) = box.send(ticket)
    assert isinstance(again, Refused)
    assert again.refusal.code == "ticket.used"
    changed = box.ticket("echo approved", "a" * 32).model_copy(update={"arguments": {"command": "echo other >> log"}})
    (refused,) = box.send(changed)
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "approval.mismatch"
    assert (box.workspaces / "chats" / ("a" * 32) / "log").read_text(encoding="utf-8") == "once\n"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"audience": "tool-runner"}, "ticket.audience"),
        ({"deadline": 1}, "ticket.expired"),
        ({"issued_at": 1}, "ticket.epoch"),
        ({"epoch": 0}, "ticket.epoch"),
        ({"approval": None}, "approval.mismatch"),
        ({"policy": "off"}, "policy.off"),
        ({"tool": "read_file", "policy": "auto"}, "ticket.tool"),
    ],
)
def test_a_ticket_that_is_not_for_this_now_is_refused(box: Box, changes: dict[str, object], code: str) -> None:
    box.run("true")
    (refused,) = box.send(box.ticket("echo x > made", "b" * 32).model_copy(update=changes))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == code
    assert not (box.workspaces / "chats" / ("b" * 32)).exists()


def test_what_people_compile_and_run_with_works(box: Box) -> None:
    program = '#include <stdio.h>\nint main(){puts("compiled");}'
    lines = (
        f"printf '%s' '{program}' > a.c && gcc a.c -o a && ./a",
        "git init -q . && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m m && git log --oneline | wc -l",
        "python3 -m venv --without-pip v && v/bin/python -c 'print(6*7)'",
        "node -e 'console.log(6*7)'",
        "echo '{\"a\":1}' | jq .a",
        "rg -c compiled a.c",
        "cat <(echo fd)",
    )
    end = box.run(" && ".join(lines), timeout_seconds=60)
    assert end.exit_code == 0, end.stderr
    assert end.stdout.split() == ["compiled", "1", "42", "42", "1", "1", "fd"]
