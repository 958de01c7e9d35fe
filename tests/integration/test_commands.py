"""A hostile command, attacked from inside one; and what bounds a reply whatever its model asks for."""

import json
import secrets
import shlex

import pytest
from conftest import NewChat, OpenTab
from harness.api import Api, Refused, eventually
from harness.events import Tab
from harness.recorded import RecordedModel, Script, call, text
from harness.stack import Stack

from contracts.chats import CallPart, Chat, ModelRef

# Names that shells and compilers need (DESIGN section 5), and what bash sets by itself.
ENVIRONMENT = {"PATH", "HOME", "LANG", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"}

# Each attempt that gets through puts its name and what it got on the list that is printed.
ATTEMPTS = """
import json, os, pathlib, socket, sys
other, redis, egress, host, port = sys.argv[1:]
got = []

def attempt(name, act):
    try:
        got.append([name, repr(act())[:200]])
    except OSError:
        pass

def tcp(address, number):
    socket.create_connection((address, int(number)), 2).close()

def unix(path):
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(path)

attempt("read another chat", lambda: open(f"{other}/secret.txt").read())
attempt("list another chat", lambda: os.listdir(other))
attempt("write into another chat", lambda: open(f"{other}/planted.txt", "w").write("x"))
attempt("delete in another chat", lambda: os.unlink(f"{other}/secret.txt"))
attempt("link to another chat", lambda: os.link(f"{other}/secret.txt", "stolen.txt"))
attempt("read through a symlink", lambda: (os.symlink(f"{other}/secret.txt", "way.txt"), open("way.txt").read()))
attempt("list the chats", lambda: os.listdir(os.path.dirname(other)))
attempt("redis", lambda: tcp(redis, 6379))
attempt("egress without the network switch", lambda: tcp(egress, 3128))
attempt("the host", lambda: tcp(host, port))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (egress, 53)))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("command socket", lambda: unix("/run/switchbox/command/command.sock"))
attempt("write to the app", lambda: open("/app/planted.py", "w"))
attempt("write to /etc", lambda: open("/etc/planted", "w"))
for process in pathlib.Path("/proc").glob("[0-9]*"):
    if process.name != str(os.getpid()):
        attempt("environment of a process", lambda: (process / "environ").read_bytes() and process.name)
        attempt("memory of a process", lambda: open(process / "mem", "rb") and process.name)
print(json.dumps(got))
"""


def run_command(api: Api, tab: Tab, chat: Chat, command: str) -> CallPart:
    """Have one command run to its end."""
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    exchange = api.send(chat.chat_id, Script([call("run_command", command=command), text("done")]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 60).values()
    return tab.view.calls_of(reply.reply_id)[-1]


@pytest.mark.proves("T8", "T7")
def test_a_hostile_command_gets_nothing_of_others(
    stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    victim, attacker = new_chat(scripted), new_chat(scripted)
    secret = secrets.token_hex(16)
    assert run_command(api, open_tab(victim), victim, f"echo {secret} > secret.txt").state == "ok"
    find = f"grep -ls {secret} /workspaces/chats/*/secret.txt"
    (path,) = stack.exec("command-box", "/bin/sh", "-c", find, uid=0).split()
    folder = path.removesuffix("/secret.txt")
    targets = [folder, stack.addresses("redis")["jobs"], stack.addresses("egress")["tools"], "172.17.0.1", str(stack.port)]
    part = run_command(api, open_tab(attacker), attacker, shlex.join(["python3", "-c", ATTEMPTS, *targets]))
    assert part.data["exit_code"] == 0, part.content
    assert json.loads(part.data["stdout"]) == []
    # The control, by effect: the same folder and file are there for whoever may have them.
    assert api.file(victim.chat_id, "secret.txt") == f"{secret}\n".encode()
    assert set(api.files(victim.chat_id)) & {"planted.txt"} == set()


@pytest.mark.proves("T7")
def test_the_environment_of_a_command_is_the_allow_list(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted)
    part = run_command(api, open_tab(chat), chat, "env -0 | cut -z -d= -f1 | tr '\\0' '\\n'; readlink /proc/self/fd/0")
    *names, stdin = part.data["stdout"].split()
    assert set(names) <= ENVIRONMENT
    assert stdin == "/dev/null"


@pytest.mark.proves("T7", "C2")
def test_stop_kills_everything_a_command_started(
    stack: Stack, scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted)
    api.change_chat(chat.chat_id, policies={"run_command": "auto"})
    tab = open_tab(chat)
    mark = str(3_000 + secrets.randbelow(1_000_000))
    daemons = (
        f"(setsid sleep {mark} &) ; (setsid sh -c 'trap \"\" TERM INT; sleep {mark}; true' &) ; sleep {mark} & echo up; wait"
    )
    exchange = api.send(chat.chat_id, Script([call("run_command", command=daemons), text("never")]).message)
    reply_id = exchange.replies[0].reply_id
    tab.wait(lambda view: any("up" in output for output in view.outputs.values()), 20, "the command's first word")
    assert sleeping(stack, mark) >= 3
    assert api.act(reply_id, "stop").status == "stopped"

    def nobody_left() -> None:
        assert sleeping(stack, mark) == 0

    eventually(nobody_left, 5)
    (part,) = api.chat(chat.chat_id).exchanges[0].replies[0].parts
    assert isinstance(part, CallPart)
    assert part.state == "stopped"


def sleeping(stack: Stack, mark: str) -> int:
    """How many processes of command-box have the mark in their command line, by the kernel's list."""
    lines = stack.exec(
        "command-box", "/bin/sh", "-c", "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done 2>/dev/null"
    )
    return sum(mark in line and "for p in" not in line for line in lines.splitlines())


@pytest.mark.proves("T2")
def test_stopping_a_reply_declines_what_waits(scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    exchange = api.send(chat.chat_id, Script([call("run_command", command="touch ran.txt"), text("never")]).message)
    (approval,) = tab.wait(lambda view: view.pending() or None, 15, "an approval")
    api.act(exchange.replies[0].reply_id, "stop")
    ended = tab.wait(lambda view: None if view.pending() else view.approvals[approval.approval_id], 10, "the approval's end")
    assert ended.state == "declined"
    with pytest.raises(Refused, match="409"):
        api.decide(approval, "allow")
    assert api.files(chat.chat_id) == {}


@pytest.mark.proves("T13")
def test_a_word_on_another_call_than_the_one_shown_runs_nothing(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    api.send(chat.chat_id, Script([call("run_command", command="touch ran.txt"), text("fine")]).message)
    (approval,) = tab.wait(lambda view: view.pending() or None, 15, "an approval")
    with pytest.raises(Refused, match="409"):
        api.decide(approval.model_copy(update={"call_hash": "0" * 64}), "allow")
    assert api.chat(chat.chat_id).approvals[0].state == "pending"
    assert api.files(chat.chat_id) == {}


@pytest.mark.proves("C8")
def test_a_model_that_never_stops_calling_is_stopped_at_the_cap(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api, recorded_model: RecordedModel
) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    script = Script([call("run_js", code=str(number)) for number in range(30)])
    exchange = api.send(chat.chat_id, script.message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 60).values()
    assert reply.error is not None
    assert (reply.status, reply.error.code) == ("stopped", "policy.turns")
    assert len(recorded_model.requests(script)) == 25
    assert [part.content for part in tab.view.calls_of(reply.reply_id)] != []


@pytest.mark.proves("C8")
def test_more_calls_in_one_response_than_the_cap_are_refused(
    scripted: ModelRef, new_chat: NewChat, open_tab: OpenTab, api: Api
) -> None:
    chat = new_chat(scripted)
    tab = open_tab(chat)
    many = {"calls": [{"name": "write_file", "arguments": {"path": f"{number}.txt", "content": "x"}} for number in range(11)]}
    exchange = api.send(chat.chat_id, Script([many, text("done")]).message)
    (reply,) = tab.wait_for_end(exchange.exchange_id, 1, 30).values()
    calls = tab.view.calls_of(reply.reply_id)
    refused = [part.refusal.code for part in calls if part.refusal is not None]
    assert (len(calls), refused) == (11, ["policy.too_many_calls"] * 3)
    assert len(api.files(chat.chat_id)) == 8
