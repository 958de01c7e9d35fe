"""A gateway and a core that run for the tests of a module, and a session with them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from gateway_process import Gateway, SmallCore, new_gateway, serve_core


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    gateway = new_gateway(tmp_path_factory.mktemp("gateway"))
    gateway.start()
    yield gateway
    gateway.stop()


@pytest.fixture(scope="module")
def session(gateway: Gateway) -> str:
    return gateway.log_in()


@pytest.fixture
def core(gateway: Gateway) -> Iterator[SmallCore]:
    core = SmallCore()
    with serve_core(core, gateway.core_socket):
        yield core
