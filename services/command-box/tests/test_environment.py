"""A command's environment is a list of names, whatever this process has."""

from pathlib import Path

import pytest

from command_box.environment import environment, profile

FOLDER = Path("/workspaces/chats/a")
NAMES = {"PATH", "HOME", "TMPDIR", "LANG", "PWD"}


def test_nothing_of_this_process_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    assert set(environment(FOLDER, None)) == NAMES


def test_with_the_network_only_the_proxy_is_added() -> None:
    variables = environment(FOLDER, "http://ticket:x@10.0.0.2:3128")
    assert set(variables) - NAMES == {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}


def test_home_and_scratch_lie_in_the_workspace() -> None:
    variables = environment(FOLDER, None)
    assert all(Path(variables[name]).is_relative_to(FOLDER) for name in ("HOME", "TMPDIR", "PWD"))


def test_ports_are_allowed_only_with_the_network() -> None:
    def ports(*, network: bool) -> tuple[int, ...]:
        return profile(FOLDER, network=network, protected_pids=(), unsafe_no_landlock=False).tcp_connect_ports

    assert ports(network=False) == ()
    assert ports(network=True) == (3128,)
