"""These tests need Docker; each module starts boxes of its own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these need Docker."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.container)


@pytest.fixture(scope="session", autouse=True)
def _image() -> None:
    import box

    box.build()
