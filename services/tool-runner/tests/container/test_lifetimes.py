"""Workers and Redis come and go: nothing runs twice, what was lost is said, and the next call works."""

import secrets
import time

from runner_bench import WAIT_SECONDS, Bench, begin_epoch, docker, is_well, wait_until_well

from contracts import redis_keys
from contracts.tool_jobs import Done, Output


def workers(bench: Bench) -> set[str]:
    """The pids of the workers, as seen inside the container: children of the supervisor, which is a child of init."""
    look = (
        "import os\n"
        "for p in filter(str.isdigit, os.listdir('/proc')):\n"
        "    s = open(f'/proc/{p}/stat').read().rpartition(')')[2].split()\n"
        "    c = open(f'/proc/{p}/cmdline').read()\n"
        "    if 'tool_runner.app.main' in c and s[1] not in ('0', '1'): print(p)\n"
    )
    return set(docker("exec", bench.runner, "/opt/venv/bin/python", "-S", "-c", look).split())


def kill(bench: Bench, pids: set[str], signal: str = "KILL") -> None:
    docker("exec", bench.runner, "/bin/sh", "-c", f"kill -{signal} {' '.join(sorted(pids))}")


def test_the_runner_says_that_it_is_there(bench: Bench) -> None:
    with bench.redis() as redis:
        found = list(redis.scan_iter(match=redis_keys.runner("*")))
    assert len(found) == 1
    assert is_well(bench.runner)
    assert len(workers(bench)) == 6


def test_killed_workers_are_started_again_and_their_call_is_not(bench: Bench) -> None:
    chat = secrets.token_hex(16)
    ticket, job = bench.command("echo x >> runs; echo begun; sleep 6", chat)
    bench.enqueue(job.model_dump_json(), "commands")
    before: set[str] = set()
    for entry in bench.entries(ticket.stream, seconds=8):
        if isinstance(entry, Output):
            before = workers(bench)
            kill(bench, before)
        assert not isinstance(entry, Done)
    until = time.monotonic() + WAIT_SECONDS
    while len(after := workers(bench)) < 6 and time.monotonic() < until:
        time.sleep(0.1)
    assert len(after) == 6
    assert not after & before
    assert bench.call("list_files", {}).outcome == "ok"
    assert (bench.workspaces / "chats" / chat / "runs").read_text() == "x\n"


def test_workers_that_hang_are_not_well(bench: Bench) -> None:
    stopped = workers(bench)
    kill(bench, stopped, "STOP")
    try:
        until = time.monotonic() + WAIT_SECONDS
        while is_well(bench.runner) and time.monotonic() < until:
            time.sleep(0.5)
        assert not is_well(bench.runner)
        with bench.redis() as redis:
            assert not list(redis.scan_iter(match=redis_keys.runner("*")))
    finally:
        kill(bench, stopped, "CONT")
    wait_until_well(bench.runner)
    assert bench.call("list_files", {}).outcome == "ok"


def test_a_restart_of_redis_voids_what_waited_and_the_next_call_works(bench: Bench) -> None:
    late = bench.ticket("write_file", {"path": "a", "content": "x"})
    text = bench.signed(late).model_dump_json()
    docker("restart", "--time", "1", bench.redis_container)
    restarted = time.monotonic()
    address = docker("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", bench.redis_container)
    bench.redis_address = address
    bench.epoch += 1_000
    begin_epoch(bench)
    bench.enqueue(text)
    assert bench.call("list_files", {}).outcome == "ok"
    assert time.monotonic() - restarted < 8
    assert not (bench.workspaces / "chats" / late.workspace.name).exists()
    wait_until_well(bench.runner)


def test_a_command_whose_redis_is_gone_is_stopped(bench: Bench) -> None:
    """Nobody could stop it any more, and whoever waited for it has given it up."""
    chat = secrets.token_hex(16)
    _, job = bench.command("while :; do echo x >> beat; sleep 0.1; done", chat)
    bench.enqueue(job.model_dump_json(), "commands")
    beat = bench.workspaces / "chats" / chat / "beat"
    until = time.monotonic() + WAIT_SECONDS
    while not beat.exists() and time.monotonic() < until:
        time.sleep(0.1)
    docker("pause", bench.redis_container)
    try:
        until = time.monotonic() + 20
        size = -1
        while size != (size := beat.stat().st_size) and time.monotonic() < until:
            time.sleep(1)
        assert time.monotonic() < until
        assert size > 0
    finally:
        docker("unpause", bench.redis_container)
    wait_until_well(bench.runner)


def test_nothing_of_ours_is_left_when_the_runner_ends(bench: Bench) -> None:
    docker("stop", "--time", "10", bench.runner)
    try:
        with bench.redis() as redis:
            time.sleep(redis_keys.RUNNER_TTL_SECONDS)
            names = list(redis.scan_iter(match="rq:worker*")) + list(redis.scan_iter(match=redis_keys.runner("*")))
            dead = [name for name in names if not name.startswith((b"rq:worker:",))]
        # RQ keeps a dead worker's record for a minute.
        assert dead == []
    finally:
        docker("start", bench.runner)
        wait_until_well(bench.runner)


def test_workers_that_are_told_to_end_are_replaced(bench: Bench) -> None:
    before = workers(bench)
    kill(bench, before, "TERM")
    until = time.monotonic() + WAIT_SECONDS
    while (len(after := workers(bench)) < 6 or after & before) and time.monotonic() < until:
        time.sleep(0.1)
    assert len(after) == 6
    assert not after & before
    assert bench.call("list_files", {}).outcome == "ok"
