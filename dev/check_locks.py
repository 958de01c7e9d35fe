"""Fail when a hashed requirement file no longer fits what it was made from. Needs no network.

Each requirement of an `.in` file must be in its `.txt` at a version that satisfies it, everything there must have hashes,
and the whole stack must have one version of each package (dev/requirements.txt holds them all). `make lock` mends it.
"""

import re
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
DEV = ROOT / "dev/requirements.txt"
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)[^\\]*(\\?)$", re.MULTILINE)


def main() -> int:
    """Print every fault; 1 if there was one."""
    everything = locked(DEV)
    pairs = [(path, path.with_suffix(".txt")) for path in sorted(ROOT.glob("services/*/requirements.in"))]
    faults = [fault for wanted, lock in pairs for fault in against(wanted, lock, everything)]
    faults += against(ROOT / "dev/tools.in", DEV, everything)
    faults += against(ROOT / "services/local-model/weights.in", ROOT / "services/local-model/weights.txt", {})
    # The tests also run on the hosts' Python, which may need other versions.
    faults += against(ROOT / "tests/requirements.in", ROOT / "tests/requirements.txt", {})
    print("\n".join(faults) or "Every lock fits its requirements.")
    return 1 if faults else 0


def against(wanted: Path, lock: Path, everything: dict[str, str]) -> list[str]:
    """What is wrong with one lock."""
    if not lock.is_file():
        return [f"{lock.relative_to(ROOT)} is missing: run make lock"]
    pins = locked(lock)
    found = [f"{requirement} is not satisfied" for requirement in requirements(wanted) if not satisfied(requirement, pins)]
    found += [
        f"{name} {pin} is {everything[name]} in the other locks" for name, pin in pins.items() if everything.get(name, pin) != pin
    ]
    found += [f"{match[1]} has no hash" for match in PIN.finditer(lock.read_text(encoding="utf-8")) if not match[3]]
    if re.search(r"://|--(extra-)?index-url|--find-links", lock.read_text(encoding="utf-8")):
        found.append("it holds an address")
    return [f"{lock.relative_to(ROOT)}: {fault}: run make lock" for fault in found]


def locked(lock: Path) -> dict[str, str]:
    """Name and version of everything in a lock."""
    return {canonicalize_name(match[1]): match[2] for match in PIN.finditer(lock.read_text(encoding="utf-8"))}


def requirements(wanted: Path) -> list[Requirement]:
    """The requirements of an `.in` file."""
    lines = (line.split("#")[0].strip() for line in wanted.read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line]


def satisfied(requirement: Requirement, pins: dict[str, str]) -> bool:
    """Whether the lock has it at a version that will do."""
    pin = pins.get(canonicalize_name(requirement.name))
    return pin is not None and requirement.specifier.contains(Version(pin), prereleases=True)


if __name__ == "__main__":
    sys.exit(main())
