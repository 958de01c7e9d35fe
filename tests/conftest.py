"""Fixtures of the tests on the running stack: one stack for all of them, a session with it, chats and tabs that are tidied up.

`SWITCHBOX_TEST_PROJECT=name` uses a stack of that compose project that is already up, for quick work on one test.
"""

import os
from collections.abc import Callable, Iterator, Sequence

import pytest
from harness import recorded
from harness import stack as stacks
from harness.api import Api
from harness.events import Tab
from harness.recorded import RecordedModel
from harness.stack import Stack

from contracts.chats import Chat, ModelRef, PaneSettings

# Tests that kill services come last: after them nobody needs to wonder what was still coming up.
LAST = ("e2e", "test_failures")

NewChat = Callable[..., Chat]
OpenTab = Callable[[Chat], Tab]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that break things last."""

    def place(item: pytest.Item) -> int:
        return next((index for index, name in enumerate(LAST, 1) if name in item.nodeid), 0)

    items.sort(key=place)


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The running stack."""
    project = os.environ.get("SWITCHBOX_TEST_PROJECT")
    if project:
        yield stacks.running(project)
        return
    with stacks.fresh() as made:
        yield made


@pytest.fixture(scope="session")
def api(stack: Stack) -> Api:
    """A session."""
    return Api.login(stack)


@pytest.fixture(scope="session")
def recorded_model(stack: Stack) -> Iterator[RecordedModel]:
    """The endpoint whose answers stand in the question."""
    with recorded.beside(stack) as model:
        yield model


@pytest.fixture(scope="session")
def scripted(api: Api, recorded_model: RecordedModel) -> Iterator[ModelRef]:
    """The recorded model as an endpoint with native tool calls."""
    provider = api.add_provider("Recorded", recorded.BASE_URL)
    yield ModelRef(provider_id=provider.provider_id, model=recorded.MODEL)
    api.http.delete(f"/api/providers/{provider.provider_id}")


@pytest.fixture(scope="session")
def embedded(api: Api) -> ModelRef:
    """The real model that comes with the stack."""
    return api.embedded()


@pytest.fixture
def new_chat(api: Api) -> Iterator[NewChat]:
    """Begin a chat with so many panes of a model, each with a system prompt of its own; deleted afterwards."""
    made: list[Chat] = []

    def create(model: ModelRef, panes: int = 1, prompts: Sequence[str] = (), **settings: object) -> Chat:
        names = [*prompts, *(f"You are pane-{index}." for index in range(len(prompts), panes))]
        chat = api.create_chat(
            [PaneSettings.model_validate({"model": model, "system_prompt": name, **settings}) for name in names]
        )
        made.append(chat)
        return chat

    yield create
    for chat in made:
        api.http.delete(f"/api/chats/{chat.chat_id}")


@pytest.fixture
def open_tab(api: Api) -> Iterator[OpenTab]:
    """Follow a chat's events as a browser tab does; closed afterwards."""
    tabs: list[Tab] = []

    def follow(chat: Chat) -> Tab:
        tabs.append(api.tab(chat.chat_id))
        return tabs[-1]

    yield follow
    for tab in tabs:
        tab.close()
