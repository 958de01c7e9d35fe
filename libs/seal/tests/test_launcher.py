"""Commands end, in every way, and nothing of them lives on."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import seal
from seal.descendants import descendants

pytestmark = pytest.mark.skipif(seal.landlock_abi() == 0, reason="this kernel has no Landlock")

DAEMON = "import os,time\nif os.fork()==0:\n os.setsid()\n if os.fork()==0:\n  f=open('beat','a')\n  while 1:\n   f.write('x');f.flush();time.sleep(.02)\n"


@pytest.fixture(scope="module")
def launcher() -> Iterator[seal.Launcher]:
    """One launcher for all."""
    made = seal.Launcher()
    yield made
    made.close()


def command(folder: Path, line: str, *, timeout_seconds: float = 10, **changes: object) -> seal.Command:
    """A shell command that may touch the folder and read the system."""
    profile = seal.Profile(
        read_write=(str(folder),),
        read_only=("/usr", "/bin", "/lib", "/lib64", "/opt", "/etc"),
        devices=("/dev/null", "/dev/urandom"),
        **changes,  # type: ignore[arg-type]
    )
    environment = {"PATH": os.environ["PATH"], "ONLY": "this"}
    argv = ("/bin/sh", "-c", line)
    return seal.Command(argv=argv, environment=environment, folder=str(folder), profile=profile, timeout_seconds=timeout_seconds)


def finish(run: seal.Run) -> tuple[seal.Ended, str]:
    """The end and all that was written."""
    run.control.settimeout(20)
    ended = run.ended(run.control.recv(8192))
    output = b""
    for descriptor in (run.stdout, run.stderr):
        with os.fdopen(descriptor, "rb") as stream:
            output += stream.read()
    run.control.close()
    return ended, output.decode()


def test_exit_code_output_and_environment(launcher: seal.Launcher, tmp_path: Path) -> None:
    ended, output = finish(launcher.start(command(tmp_path, "echo $ONLY $HOME; exit 7")))
    assert (ended.ending, ended.exit_code, ended.survivors, output) == ("exited", 7, 0, "this\n")


def test_a_signal_is_told_as_shells_do(launcher: seal.Launcher, tmp_path: Path) -> None:
    assert finish(launcher.start(command(tmp_path, "kill -TERM $$")))[0].exit_code == 143


def test_a_program_that_is_missing_is_told(launcher: seal.Launcher, tmp_path: Path) -> None:
    missing = seal.Command(
        argv=("/nowhere",), environment={}, folder=str(tmp_path), profile=command(tmp_path, "").profile, timeout_seconds=5
    )
    ended, _ = finish(launcher.start(missing))
    assert ended.ending == "not_started"
    assert "FileNotFoundError" in ended.failure


def test_a_folder_that_is_missing_starts_nothing(launcher: seal.Launcher, tmp_path: Path) -> None:
    ended, _ = finish(launcher.start(command(tmp_path / "gone", "touch /tmp/made")))
    assert ended.ending == "not_started"


@pytest.mark.parametrize("ending", ["exited", "timed_out", "stopped", "hung up"])
def test_daemons_die_in_every_ending(launcher: seal.Launcher, tmp_path: Path, ending: str) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON, encoding="utf-8")
    rest = "exit 0" if ending == "exited" else "sleep 60"
    run = launcher.start(
        command(
            tmp_path,
            f"for i in 1 2 3 4 5; do python3 daemon.py; done; {rest}",
            timeout_seconds=1.5 if ending == "timed_out" else 20,
        )
    )
    if ending in ("stopped", "hung up"):
        _until((tmp_path / "beat").exists)
    if ending == "stopped":
        run.control.send(b"stop")
    if ending == "hung up":
        run.control.close()
        for descriptor in (run.stdout, run.stderr):
            with os.fdopen(descriptor, "rb") as stream:
                stream.read()
    else:
        ended, _ = finish(run)
        assert (ended.ending, ended.survivors) == (ending, 0)
    size = (tmp_path / "beat").stat().st_size if (tmp_path / "beat").exists() else 0
    time.sleep(0.2)
    assert ((tmp_path / "beat").stat().st_size if (tmp_path / "beat").exists() else 0) == size


def test_a_bomb_of_daemons_is_gone_at_once(launcher: seal.Launcher, tmp_path: Path) -> None:
    line = "i=0; while [ $i -lt 20 ]; do (setsid sleep 60 &) ; i=$((i+1)); done; sleep 60"
    run = launcher.start(command(tmp_path, line, timeout_seconds=1))
    ended, _ = finish(run)
    assert (ended.ending, ended.survivors) == ("timed_out", 0)
    assert ended.duration_seconds < 3


def test_descriptors_of_the_server_are_not_inherited(launcher: seal.Launcher, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    _, output = finish(
        launcher.start(
            command(
                tmp_path, "python3 -c 'import os\nfor d in range(3,200):\n  try: os.fstat(d); print(d)\n  except OSError: pass'"
            )
        )
    )
    os.close(read)
    os.close(write)
    assert output == ""


def test_descendants_are_found_across_generations() -> None:
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild == 0:
            time.sleep(30)
        os.waitpid(grandchild, 0)
        os._exit(0)
    _until(lambda: len(descendants() & _tree(child)) >= 2)
    for pid in sorted(_tree(child), reverse=True):
        os.kill(pid, 9)
    os.waitpid(child, 0)


def _tree(child: int) -> set[int]:
    return {pid for pid in descendants() if pid >= child}


def _until(good: object) -> None:
    end = time.monotonic() + 5
    while not good():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)
