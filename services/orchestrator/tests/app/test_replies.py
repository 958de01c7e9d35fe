"""Replies from the first piece to their end, over a real endpoint and a real database."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_model import ScriptedModel, call, text
from world import until, world

from contracts import api
from contracts.chats import CallPart, TextPart
from orchestrator.domain.errors import Conflict

WRITE = call("write_file", {"path": "a.txt", "content": "x"})


def test_text_is_stored_with_usage_and_times(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core, ScriptedModel([text("Hel", "lo")]).serving() as model:
            reply = await core.ask(await core.chat(model.url))
            assert reply.status == "complete"
            assert reply.parts == (TextPart(kind="text", text="Hello"),)
            assert (reply.usage.input_tokens, reply.usage.output_tokens) == (7, 3)
            assert reply.timings.first_token_at is not None

    asyncio.run(scene())


def test_a_call_on_auto_runs_and_the_model_is_told_its_result(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core, ScriptedModel([WRITE, text("written")]).serving() as model:
            reply = await core.ask(await core.chat(model.url))
            part = reply.parts[0]
            assert isinstance(part, CallPart)
            assert (part.state, part.content) == ("ok", "done")
            (ticket,) = core.executor.tickets
            assert (ticket.tool, ticket.arguments, ticket.policy) == ("write_file", {"path": "a.txt", "content": "x"}, "auto")
            assert model.requests[1]["messages"][-1]["content"] == "done"

    asyncio.run(scene())


def test_a_call_on_ask_runs_only_after_a_person_allowed_exactly_it(tmp_path: Path) -> None:
    async def scene() -> None:
        script = [call("run_command", {"command": "ls"}), text("ok")]
        async with world(tmp_path) as core, ScriptedModel(script).serving() as model:
            chat = await core.chat(model.url)
            exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="go"))
            approval = await core.pending(chat.chat_id)
            assert approval.arguments == {"command": "ls"}
            assert core.executor.tickets == []
            with pytest.raises(Conflict):
                await core.approvals.decide(approval.approval_id, allow=True, call_hash="0" * 64)
            assert core.executor.tickets == []
            await core.approvals.decide(approval.approval_id, allow=True, call_hash=approval.call_hash)
            reply = await core.ended(chat.chat_id, exchange.replies[0].reply_id)
            assert reply.status == "complete"
            (ticket,) = core.executor.tickets
            assert ticket.approval is not None
            assert ticket.approval.call_hash == approval.call_hash
            with pytest.raises(Conflict):
                await core.approvals.decide(approval.approval_id, allow=True, call_hash=approval.call_hash)

    asyncio.run(scene())


def test_a_declined_call_does_not_run_and_the_model_is_told_so(tmp_path: Path) -> None:
    async def scene() -> None:
        script = [call("run_command", {"command": "ls"}), text("ok")]
        async with world(tmp_path) as core, ScriptedModel(script).serving() as model:
            chat = await core.chat(model.url)
            exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="go"))
            approval = await core.pending(chat.chat_id)
            await core.approvals.decide(approval.approval_id, allow=False, call_hash=approval.call_hash)
            reply = await core.ended(chat.chat_id, exchange.replies[0].reply_id)
            assert isinstance(reply.parts[0], CallPart)
            assert reply.parts[0].state == "declined"
            assert core.executor.tickets == []
            assert "declined" in model.requests[1]["messages"][-1]["content"]

    asyncio.run(scene())


def test_a_tool_that_is_off_is_not_offered_and_refused_when_called_anyway(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core, ScriptedModel([WRITE, text("ok")]).serving() as model:
            reply = await core.ask(await core.chat(model.url, write_file="off"))
            assert "write_file" not in [tool["function"]["name"] for tool in model.requests[0]["tools"]]
            assert isinstance(reply.parts[0], CallPart)
            assert reply.parts[0].refusal is not None
            assert reply.parts[0].refusal.code == "policy.off"
            assert core.executor.tickets == []

    asyncio.run(scene())


def test_a_policy_switched_off_while_the_call_waits_wins_over_the_approval(tmp_path: Path) -> None:
    async def scene() -> None:
        script = [call("run_command", {"command": "ls"}), text("ok")]
        async with world(tmp_path) as core, ScriptedModel(script).serving() as model:
            chat = await core.chat(model.url)
            exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="go"))
            approval = await core.pending(chat.chat_id)
            await core.chats.change(chat.chat_id, api.ChatChange(policies={"run_command": "off"}))
            await core.approvals.decide(approval.approval_id, allow=True, call_hash=approval.call_hash)
            await core.ended(chat.chat_id, exchange.replies[0].reply_id)
            assert core.executor.tickets == []

    asyncio.run(scene())


def test_the_turn_cap_ends_a_model_that_never_stops_calling(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core, ScriptedModel([WRITE] * 30).serving() as model:
            reply = await core.ask(await core.chat(model.url))
            assert reply.status == "stopped"
            assert reply.error is not None
            assert reply.error.code == "policy.turns"
            assert len(model.requests) == 25

    asyncio.run(scene())


def test_more_than_eight_calls_in_one_response_are_refused(tmp_path: Path) -> None:
    async def scene() -> None:
        nine = [piece for number in range(9) for piece in call("list_files", {}, f"t{number}")]
        async with world(tmp_path) as core, ScriptedModel([nine, text("ok")]).serving() as model:
            reply = await core.ask(await core.chat(model.url))
            codes = [part.refusal.code for part in reply.parts if isinstance(part, CallPart) and part.refusal]
            assert codes == ["policy.too_many_calls"]
            assert len(core.executor.tickets) == 8

    asyncio.run(scene())


def test_stop_closes_the_endpoint_keeps_the_text_and_continue_goes_on(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core, ScriptedModel([text("half"), text(" whole")]).serving() as model:
            model.hold = asyncio.Event()
            chat = await core.chat(model.url)
            exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="go"))
            reply_id = exchange.replies[0].reply_id
            await until(lambda: core.reply(chat.chat_id, reply_id), lambda reply: bool(reply.parts))
            stopped = await core.chats.stop_reply(reply_id)
            assert (stopped.status, stopped.parts) == ("stopped", (TextPart(kind="text", text="half"),))
            await asyncio.wait_for(model.closed_by_client.wait(), 1)
            model.hold.set()
            await core.chats.go_on(reply_id)
            reply = await core.ended(chat.chat_id, reply_id)
            assert (reply.status, reply.parts) == ("complete", (TextPart(kind="text", text="half whole"),))

    asyncio.run(scene())


def test_stop_declines_what_waits_and_stops_what_runs(tmp_path: Path) -> None:
    async def scene() -> None:
        both = call("run_command", {"command": "ls"}, "t1") + call("list_files", {}, "t2")
        async with world(tmp_path) as core, ScriptedModel([both]).serving() as model:
            core.executor.result = None
            chat = await core.chat(model.url)
            exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="go"))
            approval = await core.pending(chat.chat_id)
            await core.chats.stop_reply(exchange.replies[0].reply_id)
            reply = await core.reply(chat.chat_id, exchange.replies[0].reply_id)
            assert sorted(part.state for part in reply.parts if isinstance(part, CallPart)) == ["declined", "stopped"]
            assert core.executor.stopped == 1
            with pytest.raises(Conflict):
                await core.approvals.decide(approval.approval_id, allow=True, call_hash=approval.call_hash)

    asyncio.run(scene())


def test_a_stream_cut_off_is_interrupted_with_its_text(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core, ScriptedModel([text("partial")]).serving() as model:
            model.cut = True
            reply = await core.ask(await core.chat(model.url))
            assert (reply.status, reply.parts) == ("interrupted", (TextPart(kind="text", text="partial"),))

    asyncio.run(scene())


def test_an_unreachable_endpoint_fails_with_a_code(tmp_path: Path) -> None:
    async def scene() -> None:
        async with world(tmp_path) as core:
            reply = await core.ask(await core.chat("http://127.0.0.1:9/v1"))
            assert reply.status == "failed"
            assert reply.error is not None
            assert reply.error.code == "model.unreachable"

    asyncio.run(scene())


def test_panes_are_told_nothing_of_each_other(tmp_path: Path) -> None:
    async def scene() -> None:
        async with (
            world(tmp_path) as core,
            ScriptedModel([text("one"), text("two"), text("three"), text("four")]).serving() as model,
        ):
            chat = await core.chat(model.url, panes=2)
            for _ in range(2):
                exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="q"))
                for reply in exchange.replies:
                    await core.ended(chat.chat_id, reply.reply_id)
            told = [[message["content"] for message in request["messages"]] for request in model.requests[2:]]
            assert sorted(told) == [["q", "one", "q"], ["q", "two", "q"]]

    asyncio.run(scene())


def test_a_killed_core_leaves_partial_text_marked_interrupted(tmp_path: Path) -> None:
    program = [sys.executable, str(Path(__file__).with_name("killed_core.py")), str(tmp_path)]
    killed = subprocess.run(program, capture_output=True, text=True, timeout=30, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    chat_id, reply_id = killed.stdout.split()

    async def come_back() -> None:
        async with world(tmp_path) as core:
            reply = await core.reply(chat_id, reply_id)
            assert (reply.status, reply.parts) == ("interrupted", (TextPart(kind="text", text="partial text"),))

    asyncio.run(come_back())
