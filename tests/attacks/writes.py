"""Try to make a file in every folder, up to three levels deep, of the whole tree. Prints the folders where it worked."""

import json
import os
from pathlib import Path

KERNEL = {"/proc", "/sys"}
NAME = "switchbox-was-here"


def folders(top: str, depth: int) -> list[str]:
    """`top` and the folders below it."""
    found = [top]
    if depth:
        try:
            entries = [entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return found
        for entry in entries:
            if entry not in KERNEL:
                found += folders(entry, depth - 1)
    return found


worked = []
for folder in folders("/", 3):
    path = Path(folder, NAME)
    try:
        path.touch(exist_ok=False)
    except OSError:
        continue
    worked.append(folder)
    path.unlink()
print(json.dumps(sorted(worked)))
