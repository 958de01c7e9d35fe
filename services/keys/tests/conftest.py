"""A stack's folders in a temporary directory, owned by whoever runs the tests."""

import os
from pathlib import Path

import pytest

from keys.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A layout whose owners are this process, since only root may give files away."""
    workspaces = tmp_path / "workspaces"
    workspaces.mkdir(mode=0o755)
    return Layout(tmp_path, workspaces, os.getuid(), owned_by_root=os.getuid())
