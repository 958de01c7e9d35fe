"""The seal holds for a program that has broken out of V8."""

import json
import subprocess
import sys
from pathlib import Path

ATTACKS = Path(__file__).with_name("attacks.py")


# What the limits alone refuse. None of it reaches beyond the process and what it inherits its seal to.
LEFT_TO_LIMITS = {
    "fork",
    "start a thread",
    "make a pipe",
    "duplicate its connection",
    "socket pair",
    "a handle of the parent",
    "more descriptors",
    "more processes",
}


def met(*arguments: str) -> dict[str, str]:
    """What the attacks met."""
    answer = subprocess.run([sys.executable, str(ATTACKS), *arguments], check=False, capture_output=True, timeout=60)
    assert answer.returncode == 0, answer.stderr.decode()
    found: dict[str, str] = json.loads(answer.stdout)
    return found


def test_a_sealed_child_can_do_nothing_but_compute() -> None:
    found = met()
    assert len(found) > 40
    assert {name for name, what in found.items() if what == "done"} == set()


def test_the_seal_holds_without_the_limits() -> None:
    assert {name for name, what in met("unfrozen").items() if what == "done"} <= LEFT_TO_LIMITS
