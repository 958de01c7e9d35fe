"""One program, one process; and nothing is left of any, however it ends."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog
from js_pool import Sandbox, within

from contracts.javascript import JsResult
from js_sandbox.adapters.pool import Pool
from js_sandbox.app.wiring import LIMITS
from js_sandbox.domain.errors import NoChild


def descendants(pid: int) -> dict[int, str]:
    """The processes below one, and the state of each (proc(5), stat)."""
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number = int(entry.name)
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            found[number] = f"{parent} {state}"
    below, grown = {pid}, True
    while grown:
        more = {number for number, line in found.items() if int(line.split()[0]) in below} - below
        below |= more
        grown = bool(more)
    return {number: found[number].split()[1] for number in below if number != pid}


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a condition, in bounded time."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def zygote_pid() -> int:
    """The one child process of this test."""
    (pid,) = [
        number
        for number in descendants(os.getpid())
        if b"js_sandbox.adapters.zygote" in Path(f"/proc/{number}/cmdline").read_bytes() and parent_of(number) == os.getpid()
    ]
    return pid


def parent_of(pid: int) -> int | None:
    """The parent's pid, or None when the process is gone by now."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(stat.rpartition(")")[2].split()[1])


def test_every_program_has_a_process_of_its_own() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        numbers = set()
        for _ in range(10):
            child = await sandbox.pool.take()
            numbers.add(child.number)
            sandbox.pool.discard(child)
            await child.ended
        assert len(numbers) == 10

    within(scenario)


def test_a_child_takes_no_second_program() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        child = await sandbox.pool.take()
        assert await child.ask(b'{"code":"1","seconds":1}', 2) is not None
        assert await child.ended == 0
        with contextlib.suppress(BrokenPipeError):
            assert await child.ask(b'{"code":"1","seconds":1}', 2) is None
        sandbox.pool.discard(child)

    within(scenario)


@pytest.mark.parametrize(
    "work", [b"", b"{", b"[]", b"null", b'{"code":1,"seconds":1}', b'{"seconds":1}', b"\xff", b"x" * (3 * 1024 * 1024)]
)
def test_work_of_another_form_ends_the_child_without_an_answer(work: bytes) -> None:
    async def scenario(sandbox: Sandbox) -> None:
        child = await sandbox.pool.take()
        assert await child.ask(work, 5) is None
        await asyncio.wait_for(child.ended, 5)
        sandbox.pool.discard(child)
        assert (await sandbox.run("1")).value == "1"

    within(scenario)


def test_nothing_is_left_when_the_pool_closes() -> None:
    before = set(descendants(os.getpid()))

    async def scenario(sandbox: Sandbox) -> None:
        running = [asyncio.ensure_future(sandbox.run("for(;;);")) for _ in range(2)]
        await until(lambda: sandbox.pool.alive >= 4)
        await asyncio.sleep(0.2)
        assert len(set(descendants(os.getpid())) - before) >= 5
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    within(scenario)
    assert set(descendants(os.getpid())) <= before


def test_programs_that_are_running_when_the_pool_closes_are_killed() -> None:
    before = set(descendants(os.getpid()))

    async def main() -> None:
        pool = Pool(LIMITS, size=2, max_running=2)
        pool.open()
        child = await pool.take()
        asking = asyncio.ensure_future(child.ask(b'{"code":"for(;;);","seconds":5}', 10))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await pool.close()
        assert time.monotonic() - began < 2
        assert await asyncio.wait_for(asking, 2) is None

    asyncio.run(main())
    assert set(descendants(os.getpid())) <= before


def test_no_zombies_and_no_growth_over_many_programs() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        await until(lambda: sandbox.pool.warm == 2)
        descriptors = len(os.listdir("/proc/self/fd"))
        results = await asyncio.gather(*(sandbox.run("1+1") for _ in range(60)))
        assert {result.value for result in results} == {"2"}
        await until(lambda: sandbox.pool.alive == 2 and sandbox.pool.warm == 2)
        assert "Z" not in descendants(os.getpid()).values()
        assert len(descendants(os.getpid())) == 3
        assert len(os.listdir("/proc/self/fd")) <= descriptors
        # epoll, control, three streams, and for each child a pidfd.
        assert len(os.listdir(f"/proc/{zygote_pid()}/fd")) <= 5 + 2 + 1

    within(scenario)


def test_no_more_run_at_once_than_may_run() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        first, second = await sandbox.pool.take(), await sandbox.pool.take()
        third = asyncio.ensure_future(sandbox.pool.take())
        await until(lambda: sandbox.pool.warm == 2)
        await asyncio.sleep(0.1)
        assert not third.done()
        assert await sandbox.pool.is_ready(0.1)
        sandbox.pool.discard(first)
        for child in (second, await asyncio.wait_for(third, 5)):
            sandbox.pool.discard(child)
            await child.ended

    within(scenario, max_running=2)


def test_a_cancelled_wait_gives_its_place_back() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        held = await sandbox.pool.take()
        waiting = [asyncio.ensure_future(sandbox.pool.take()) for _ in range(5)]
        await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        sandbox.pool.discard(held)
        assert (await sandbox.run("1")).value == "1"

    within(scenario, max_running=1)


def test_a_cancelled_program_is_killed() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        await until(lambda: sandbox.pool.warm == 2)
        task = asyncio.ensure_future(sandbox.run("for(;;);"))
        await until(lambda: sandbox.pool.alive == 3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await until(lambda: sandbox.pool.alive == 2)

    within(scenario)


def test_a_warm_child_that_dies_is_replaced() -> None:
    async def scenario(sandbox: Sandbox) -> None:
        await until(lambda: sandbox.pool.warm == 2)
        children = {pid for pid in descendants(os.getpid()) if parent_of(pid) == zygote_pid()}
        killed = children.pop()
        os.kill(killed, signal.SIGKILL)

        def replaced() -> bool:
            # That the dead one is reaped does not say that the pool has heard of it; that another is there does.
            here = {pid for pid in descendants(os.getpid()) if parent_of(pid) == zygote_pid()}
            return killed not in here and len(here) == 2 and sandbox.pool.warm == sandbox.pool.alive == 2

        await until(replaced)
        assert children < set(descendants(os.getpid()))
        assert (await sandbox.run("1")).value == "1"

    within(scenario)


def test_a_killed_zygote_takes_its_children_along_and_is_replaced() -> None:
    before = set(descendants(os.getpid()))

    async def scenario(sandbox: Sandbox) -> None:
        running = asyncio.ensure_future(sandbox.run("for(;;);", 5))
        await until(lambda: sandbox.pool.warm == 2)
        old = set(descendants(os.getpid())) - before
        os.kill(zygote_pid(), signal.SIGKILL)
        result: JsResult = await asyncio.wait_for(running, 3)
        assert result.outcome == "exception"
        assert (await sandbox.run("2")).value == "2"
        assert not old & {pid for pid, state in descendants(os.getpid()).items() if state != "Z"}

    within(scenario)


def test_children_that_cannot_be_sealed_are_not_handed_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A library of this name, first on the zygote's path, refuses as the real one does where the kernel lacks something.
    fake = tmp_path / "seal"
    fake.mkdir()
    (fake / "seccomp.py").write_text("def prepare(_): pass\n")
    (fake / "__init__.py").write_text(
        "class Limits:\n def __init__(self, **_): pass\nProfile = Limits\ndef confine(_): raise RuntimeError('no Landlock')\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))

    async def main() -> None:
        pool = Pool(LIMITS, size=1, max_running=1)
        pool.open()
        try:
            assert not await pool.is_ready(2)
        finally:
            await pool.close()

    with structlog.testing.capture_logs() as logs:
        asyncio.run(main())
    assert {entry["reason"] for entry in logs if entry["event"] == "child_not_ready"} == {"RuntimeError('no Landlock')"}


def test_taking_from_a_pool_without_children_is_an_error() -> None:
    async def main() -> None:
        pool = Pool(LIMITS, size=1, max_running=1)
        with pytest.raises(NoChild):
            await pool.take(0.1)

    asyncio.run(main())
