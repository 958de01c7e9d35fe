"""Calls through the real queue: files are written, read, listed and deleted, and nothing of a call stays in Redis."""

import secrets
import stat

from runner_bench import Bench, docker

from contracts import errors
from contracts.tickets import WorkspaceRef


def test_a_file_is_written_listed_read_and_deleted(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    text = "første linje\nsecond line\n"
    assert bench.call("write_file", {"path": "docs/a.txt", "content": text}, chat).content.startswith(
        "Wrote 26 bytes to docs/a.txt."
    )
    listed = bench.call("list_files", {"path": "docs"}, chat)
    assert listed.content == "a.txt  26 bytes"
    assert bench.call("read_file", {"path": "docs/a.txt"}, chat).content == text
    on_disk = bench.workspaces / "chats" / chat / "docs/a.txt"
    assert on_disk.read_text() == text
    assert stat.S_IMODE(on_disk.parent.parent.stat().st_mode) == 0o755
    assert stat.S_IMODE(on_disk.stat().st_mode) == 0o644
    assert bench.call("delete_file", {"path": "docs/a.txt"}, chat).outcome == "ok"
    assert not on_disk.exists()


def test_chats_do_not_see_each_other(bench: Bench) -> None:
    one, other = secrets.token_hex(16), secrets.token_hex(16)
    bench.call("write_file", {"path": "a", "content": "secret"}, one)
    for path in (f"../{one}/a", f"/workspaces/chats/{one}/a", f"x/../../{one}/a"):
        assert bench.call("read_file", {"path": path}, other).outcome == "refused"
    (bench.workspaces / "chats" / other).mkdir(exist_ok=True)
    (bench.workspaces / "chats" / other / "l").symlink_to(f"../{one}/a")
    result = bench.call("read_file", {"path": "l"}, other)
    assert result.refusal is not None
    assert result.refusal.code == errors.PATH_ESCAPES


def test_refusals_come_with_their_codes(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    bench.call("write_file", {"path": "b", "content": "\x00\x01"}, chat)
    for tool, arguments, code in (
        ("read_file", {"path": "../x"}, errors.PATH_ESCAPES),
        ("write_file", {"path": "NUL.txt", "content": ""}, errors.PATH_DEVICE_NAME),
        ("read_file", {"path": "missing"}, errors.PATH_NOT_FOUND),
        ("read_file", {"path": "b"}, errors.FILE_BINARY),
        ("read_file", {"path": "b", "offset": -1}, errors.POLICY_ARGUMENTS),
        ("read_file", {"path": "b", "more": 1}, errors.POLICY_ARGUMENTS),
        ("delete_file", {}, errors.POLICY_ARGUMENTS),
    ):
        result = bench.call(tool, arguments, chat)
        assert result.outcome == "refused"
        assert result.refusal is not None
        assert result.refusal.code == code


def test_a_file_of_the_largest_size_is_written_and_read_in_pages(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    content = "0123456789" * 2_097_152
    assert bench.call("write_file", {"path": "big", "content": content}, chat).outcome == "ok"
    page = bench.call("read_file", {"path": "big", "offset": 20_800_000}, chat)
    assert page.truncated
    assert page.content.startswith("0123456789")
    assert page.data["next_offset"] == 20_900_000
    assert bench.call("read_file", {"path": "big", "offset": 20_971_520 - 4}, chat).content == "6789"


def test_nothing_of_a_call_stays_in_redis(bench: Bench) -> None:
    marker = f"marker-{secrets.token_hex(8)}"
    ticket = bench.ticket("write_file", {"path": "a", "content": marker})
    bench.enqueue(bench.signed(ticket).model_dump_json())
    assert bench.result(ticket.stream)
    with bench.redis() as redis:
        names = {key.decode() for key in redis.scan_iter(count=1000)}
    assert not [name for name in names if name.startswith(("rq:job:", "rq:execution", "rq:results", "rq:finished", "rq:wip"))]
    assert f"nonce:{ticket.nonce}" in names
    assert f"result:{ticket.stream}" in names


def test_a_call_that_was_cancelled_while_it_waited_does_not_run(bench: Bench) -> None:
    """Case run-021 of tests/cases/command_runs.json is tried with a command in test_commands.py."""
    ticket = bench.ticket("write_file", {"path": "a", "content": "x"}, workspace=WorkspaceRef(name=secrets.token_hex(16)))
    bench.cancel(ticket)
    bench.enqueue(bench.signed(ticket).model_dump_json())
    result = bench.result(ticket.stream)
    assert result is not None
    assert result.outcome == "stopped"
    assert not (bench.workspaces / "chats" / ticket.workspace.name).exists()


def test_what_is_logged_has_neither_arguments_nor_tickets(bench: Bench) -> None:
    marker = f"marker{secrets.token_hex(8)}"
    bench.call("write_file", {"path": marker, "content": marker})
    assert bench.logs()
    assert marker not in docker("logs", bench.runner)
