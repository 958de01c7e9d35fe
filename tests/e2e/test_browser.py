"""A person with a browser: log in, ask, approve, stop, reload. Chromium is the machine's own."""

import os
import shutil
from collections.abc import Iterator

import pytest
from harness.api import Api
from harness.recorded import Script, call, text
from harness.stack import ROOT, Stack
from playwright.sync_api import Browser, Page, expect, sync_playwright

from contracts.chats import Chat, ModelRef, PaneSettings

pytestmark = pytest.mark.proves("C1", "C2", "C7", "G6", "T1")

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
NAMES = ("one", "two", "three", "four")
SECONDS = 1000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path, "Chromium is missing: make setup installs it"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, stack: Stack) -> Iterator[Page]:
    """A page that is logged in; what breaks the content policy or throws fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if "Content Security Policy" in message.text else None)
    opened.goto(stack.login_link())
    expect(opened.get_by_test_id("composer")).to_be_visible()
    yield opened
    context.close()
    assert problems == []


@pytest.fixture
def chat(api: Api, scripted: ModelRef) -> Iterator[Chat]:
    """A chat of four panes that ask the recorded model."""
    made = api.create_chat(
        [PaneSettings(model=scripted, system_prompt=f"You are {name}.") for name in NAMES], title="A scripted chat"
    )
    yield made
    api.delete_chat(made.chat_id)


def send(page: Page, words: str) -> None:
    """Type and press Enter."""
    page.get_by_test_id("composer").fill(words)
    page.get_by_test_id("composer").press("Enter")


def picture(page: Page, name: str) -> None:
    """Renew a picture of the documents, where SWITCHBOX_PICTURES is set: a test run leaves the tree as it was."""
    if os.environ.get("SWITCHBOX_PICTURES"):
        page.screenshot(path=ROOT / f"docs/images/{name}.png")


def show(page: Page, chat: Chat) -> None:
    """Choose the chat in the list; it was made after the page was loaded."""
    page.reload()
    page.get_by_test_id("chat-item").filter(has_text=chat.title).first.click()
    expect(page.get_by_test_id("chat-title")).to_contain_text(chat.title)


def test_a_login_link_logs_in_once(browser: Browser, stack: Stack) -> None:
    link = stack.login_link()
    first, second = browser.new_context(), browser.new_context()
    page = first.new_page()
    page.goto(link)
    expect(page.get_by_test_id("composer")).to_be_visible()
    assert "login=" not in page.url
    late = second.new_page()
    late.goto(link)
    expect(late.get_by_test_id("login-error")).to_be_visible()
    expect(late.get_by_test_id("composer")).not_to_be_visible()
    first.close()
    second.close()


def test_four_panes_of_the_real_model_give_four_different_answers(page: Page) -> None:
    page.get_by_test_id("new-chat").click()
    send(page, "Tell me something about the sea.")
    panes = [page.get_by_test_id(f"pane-{place}") for place in range(4)]
    for pane in panes:
        expect(pane.get_by_test_id("reply-text").first).not_to_be_empty(timeout=60 * SECONDS)
    for pane in panes:
        expect(pane.get_by_test_id("stop")).not_to_be_visible(timeout=120 * SECONDS)
    answers = [pane.get_by_test_id("reply-text").first.inner_text() for pane in panes]
    assert len(set(answers)) == 4
    picture(page, "four-panes")


def test_a_command_is_shown_allowed_and_seen_live(page: Page, chat: Chat) -> None:
    show(page, chat)
    line = "for i in 1 2 3 4 5 6; do echo tick $i; sleep 0.5; done"
    asking = [call("run_command", command=line), text("all ticked")]
    send(page, Script(panes={"one": asking}, turns=[text("nothing to do")]).message)
    pane = page.get_by_test_id("pane-0")
    card = pane.get_by_test_id("approval-card")
    expect(card).to_contain_text(line)
    picture(page, "approval")
    card.get_by_test_id("allow").click()
    expect(pane).to_contain_text("tick 2", timeout=10 * SECONDS)
    # Seen while it runs: the model has not been told the result yet.
    expect(pane.get_by_test_id("reply-text").last).not_to_contain_text("all ticked")
    expect(pane.get_by_test_id("reply-text").last).to_contain_text("all ticked", timeout=15 * SECONDS)


def test_one_pane_is_stopped_and_the_others_finish(page: Page, chat: Chat) -> None:
    show(page, chat)
    send(page, Script([text("word " * 60 + "the end", tokens_per_second=15)]).message)
    second = page.get_by_test_id("pane-1")
    expect(second.get_by_test_id("reply-text")).to_contain_text("word", timeout=15 * SECONDS)
    second.get_by_test_id("stop").click()
    expect(second.get_by_test_id("continue")).to_be_visible(timeout=10 * SECONDS)
    for place in (0, 2, 3):
        expect(page.get_by_test_id(f"pane-{place}").get_by_test_id("reply-text")).to_contain_text("the end", timeout=20 * SECONDS)
    expect(second.get_by_test_id("reply-text")).not_to_contain_text("the end")


def test_a_reload_in_the_middle_of_a_reply_loses_nothing(page: Page, chat: Chat) -> None:
    show(page, chat)
    words = " ".join(f"w{number}" for number in range(60)) + " end"
    send(page, Script([text(words, tokens_per_second=20)]).message)
    expect(page.get_by_test_id("pane-0").get_by_test_id("reply-text")).to_contain_text("w5 ", timeout=15 * SECONDS)
    page.reload()
    for place in range(4):
        reply = page.get_by_test_id(f"pane-{place}").get_by_test_id("reply-text")
        expect(reply).to_have_text(words, timeout=30 * SECONDS)
