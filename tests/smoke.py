"""`make smoke`: one question to four panes with the real model, then every tool once, through the public API only.

Prints one JSON object with what happened and how long it took; exits with 1 if anything did not work.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from harness import recorded
from harness import stack as stacks
from harness.api import Api
from harness.recorded import Script, call, text

from contracts.chats import Chat, ModelRef, PaneSettings

COMMAND = "echo smoke > smoke.txt; cat smoke.txt"
# Each built-in tool once, in an order in which each finds what it needs, and a text that its result holds.
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("write_file", {"path": "a.txt", "content": "written"}, ""),
    ("read_file", {"path": "a.txt"}, "written"),
    ("list_files", {}, "a.txt"),
    ("run_js", {"code": "6*7"}, "42"),
    ("run_command", {"command": COMMAND}, "smoke"),
    ("delete_file", {"path": "a.txt"}, ""),
)
NAMES = ("one", "two", "three", "four")


def four_panes(api: Api) -> dict[str, Any]:
    """The real model answers in four panes."""
    model = api.embedded()
    chat = api.create_chat(
        [PaneSettings(model=model, system_prompt=f"You are {name}.", tools=False, max_tokens=60) for name in NAMES]
    )
    with api.tab(chat.chat_id) as tab:
        exchange = api.send(chat.chat_id, "Say something about rivers.")
        replies = tab.wait_for_end(exchange.exchange_id, 4, 120)
        answers = [tab.view.text(reply.reply_id) for reply in replies.values()]
    api.delete_chat(chat.chat_id)
    assert len(answers) == len(NAMES), "four panes answered"
    assert all(answers), "each pane said something"
    return {"answers": [answer[:60] for answer in answers]}


def tools(api: Api, model: ModelRef) -> dict[str, Any]:
    """Every tool once; the command only after its card was compared with what it should be."""
    offered = {tool["name"] for tool in api.http.get("/api/tools").json()["tools"]}
    assert offered == {name for name, _, _ in CALLS}, f"the tools are {sorted(offered)}"
    chat = api.create_chat([PaneSettings(model=model)])
    done = {name: one_tool(api, chat, name, arguments, holds) for name, arguments, holds in CALLS}
    api.delete_chat(chat.chat_id)
    return done


def one_tool(api: Api, chat: Chat, name: str, arguments: dict[str, Any], holds: str) -> str:
    """Have the recorded model call one tool, and see its result."""
    with api.tab(chat.chat_id) as tab:
        exchange = api.send(chat.chat_id, Script([call(name, **arguments), text("done")]).message)
        if name == "run_command":
            (approval,) = tab.wait(lambda view: view.pending() or None, 20, "the approval card")
            assert approval.arguments == {"command": COMMAND}, f"the card shows {approval.arguments}"
            api.decide(approval, "allow")
        (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 90).values()
        (part,) = tab.view.calls_of(reply.reply_id)
    assert part.state == "ok", f"{name} ended {part.state}: {part.refusal}"
    assert holds in part.content, f"{name} gave {part.content[:200]!r}"
    return part.state


def main() -> int:
    """Run both parts on the running stack."""
    report: dict[str, Any] = {"ok": True}
    try:
        stack = stacks.running(os.environ.get("SWITCHBOX_TEST_PROJECT", "switchbox"))
        api = Api.login(stack)
        timed(report, "four_panes", lambda: four_panes(api))
        with recorded.beside(stack):
            provider = api.add_provider("Smoke", recorded.BASE_URL)
            model = ModelRef(provider_id=provider.provider_id, model=recorded.MODEL)
            timed(report, "tools", lambda: tools(api, model))
            api.http.delete(f"/api/providers/{provider.provider_id}")
    except Exception as exc:  # whatever it is, the report says it
        report |= {"ok": False, "error": f"{type(exc).__name__}: {exc}"}
    print(json.dumps(report, indent=2))
    return 0 if report["ok"] else 1


def timed(report: dict[str, Any], name: str, part: Callable[[], dict[str, Any]]) -> None:
    """Run a part and note what it gave and how long it took."""
    began = time.monotonic()
    result = part()
    report[name] = {"seconds": round(time.monotonic() - began, 2), **result}


if __name__ == "__main__":
    sys.exit(main())
