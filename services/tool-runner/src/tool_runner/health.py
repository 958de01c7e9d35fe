"""The health check: the supervisor's last word on its workers, from a file. Light, since it runs every few seconds."""

import os
import sys
import time

STATE_FILE = "/tmp/tool-runner.state"  # noqa: S108 (the container's own tmpfs)
# The supervisor writes it each second while every queue has a worker that looks for jobs, and Redis answers.
MAX_AGE_SECONDS = 5.0


def main() -> int:
    """Exit status 0 while the state file is fresh."""
    try:
        age = time.time() - os.stat(os.environ.get("TOOL_RUNNER_STATE_FILE", STATE_FILE)).st_mtime  # noqa: PTH116 (pathlib is slow to load)
    except OSError:
        print("no state file: the workers are not up, or Redis is not there")
        return 1
    if age > MAX_AGE_SECONDS:
        print(f"the workers were last well {age:.0f} s ago")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
