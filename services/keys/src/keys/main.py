"""Entry point: check everything, then make what is missing, then end."""

import os
import sys
from pathlib import Path

from keys.checks import refusals
from keys.layout import Layout
from keys.make import make_all
from keys.settings import BadSetting, from_environment

USERS_TEMPLATE = Path("/app/users.acl.template")


def main() -> int:
    """Return 0 when every service can start, else 1 with the reasons on stderr."""
    try:
        settings = from_environment(os.environ)
    except BadSetting as exc:
        return _refuse([str(exc)])
    layout = Layout(Path("/"), settings.workspaces_root, settings.workspaces_uid)
    found = refusals(layout, settings, Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape"))
    if found:
        return _refuse(found)
    changed = make_all(layout, USERS_TEMPLATE.read_text(encoding="utf-8"))
    print(
        "Keys and folders are ready" + (": made or changed " + ", ".join(changed) if changed else "; nothing had to change") + "."
    )
    return 0


def _refuse(sentences: list[str]) -> int:
    print("Switchbox does not start. Nothing was changed.", *sentences, sep="\n- ", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
