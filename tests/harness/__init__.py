"""What the tests on the running stack are made with: the stack itself, its API, the recorded model, and attackers.

The host's virtual environment holds third-party packages only; the contracts are taken from their folder. Pytest has it
on its path by `pyproject.toml`; `tests/smoke.py`, which runs without pytest, has it from here.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "libs/contracts/src"))
