"""Tests of this folder use real children, a real service, or a real container; the last kind needs Docker."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import js_container  # noqa: E402 (found by the line above)
import js_pool  # noqa: E402
import js_service  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs Docker."""
    for item in items:
        if HERE / "container" in item.path.parents:
            item.add_marker(pytest.mark.container)


@pytest.fixture(scope="module")
def programs() -> Iterator[js_pool.Programs]:
    """A pool for a module; every program has a fresh process anyway."""
    running = js_pool.Programs()
    try:
        yield running
    finally:
        running.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[js_service.Service]:
    """A running service for a module."""
    with js_service.running(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[js_service.Service]:
    """A running service for one test, which may end it or look at its whole log."""
    with js_service.running(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def container() -> Iterator[js_container.Sandbox]:
    """A container of its own for a module."""
    js_container.build()
    with js_container.running() as running:
        yield running
