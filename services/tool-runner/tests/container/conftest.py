"""These tests need Docker; each module starts parts of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import runner_bench


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these need Docker."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.container)


@pytest.fixture(scope="session")
def _images() -> None:
    runner_bench.build()


@pytest.fixture(scope="module")
def bench(_images: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[runner_bench.Bench]:
    """Everything up and well."""
    with runner_bench.running(tmp_path_factory.mktemp("bench")) as made:
        yield made
