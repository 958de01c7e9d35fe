"""tests/cases/js_programs.json against the real service in its container, and what must hold around it."""

import json
from pathlib import Path
from typing import Any

import js_container as js
import pytest

from contracts.javascript import JsResult

CASES = json.loads((js.REPOSITORY / "tests/cases/js_programs.json").read_text(encoding="utf-8"))["cases"]
ATTACKS = Path(__file__).parents[1] / "adapters" / "attacks.py"
# The classes of the cases, by our outcomes.
CLASSES = {"exception": "exception", "forbidden": "forbidden", "timed_out": "timeout", "memory": "memory"}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(container: js.Sandbox, case: dict[str, Any]) -> None:
    answers = container.run(*case["input"]["programs"])
    expected = case["expect"]["results"]
    assert len(answers) == len(expected)
    for answer, wanted in zip(answers, expected, strict=True):
        assert answer.seconds <= case["expect"].get("within_s", 8)
        if "value" in wanted:
            assert answer.result.outcome == "ok", answer
            assert json.loads(answer.result.value or "null") == wanted["value"]
        elif "error_classes" in wanted:
            assert CLASSES.get(answer.result.outcome) in wanted["error_classes"], answer
            assert answer.result.refusal is not None
        else:
            assert wanted == {"any": True}
            json.dumps(answer.result.model_dump(), ensure_ascii=False).encode()
    (after,) = container.run("6*7")
    assert after.result.value == "42"


def test_every_case_was_known_to_this_test() -> None:
    kinds = {key for case in CASES for wanted in case["expect"]["results"] for key in wanted}
    assert kinds == {"value", "error_classes", "any"}
    assert len(CASES) >= 38


def test_eight_that_fill_their_memory_at_once_leave_the_service_whole(container: js.Sandbox) -> None:
    greedy = "let a=[];for(;;)a.push(new Array(1e4).fill(1),new Uint8Array(1e5).fill(1))"
    outcomes = {answer.result.outcome for answer in container.run(*[greedy] * 16, at_once=8)}
    assert outcomes <= {"memory", "timed_out"}
    assert [answer.result.value for answer in container.run("1+1")] == ["2"]
    state = js.docker("inspect", "-f", "{{.State.OOMKilled}} {{.RestartCount}} {{.State.Running}}", container.name).split()
    assert state == ["false", "0", "true"]


def test_a_program_out_of_v8_can_do_nothing(container: js.Sandbox) -> None:
    script = ATTACKS.read_text(encoding="utf-8")
    met = json.loads(container.inside(script))
    assert len(met) > 40
    assert {name for name, what in met.items() if what == "done"} == set()


def test_the_container_has_no_network_no_rights_and_nothing_to_write(container: js.Sandbox) -> None:
    probe = (
        "import json,os,socket\n"
        "status=dict(line.split(':',1) for line in open('/proc/1/status'))\n"
        "def denied(path):\n"
        "  try: open(path,'w')\n"
        "  except OSError: return True\n"
        "  return False\n"
        "print(json.dumps({'interfaces': [name for _, name in socket.if_nameindex()], 'uid': status['Uid'].split(),\n"
        "  'capabilities': [status[k].strip() for k in ('CapPrm','CapEff','CapBnd','CapAmb')], 'no_new_privs': status['NoNewPrivs'].strip(),\n"
        "  'denied': [denied('/app/x'), denied('/x'), denied('/keys/public/ticket.pub'), denied('/opt/venv/x')]}))\n"
    )
    found = json.loads(container.inside(probe))
    assert found["interfaces"] == ["lo"]
    assert set(found["uid"]) == {"10005"}
    assert {int(mask, 16) for mask in found["capabilities"]} == {0}
    assert found["no_new_privs"] == "1"
    assert all(found["denied"])


def test_another_user_is_not_served(container: js.Sandbox) -> None:
    script = js.CLIENT.read_text(encoding="utf-8")
    given = json.dumps({"tickets": [container.ticket("1")], "at_once": 1, "pause_seconds": 0})
    container.inside(script, given=given, uid="10010", code=1)
    assert isinstance(container.run("1")[0].result, JsResult)


def test_no_process_is_left_of_what_ran(container: js.Sandbox) -> None:
    container.run(*["1+1"] * 40, at_once=8)
    container.run("for(;;);", "let a=[];for(;;)a.push(new Array(1e5).fill(0))", at_once=2)
    lines = container.processes()
    assert not [line for line in lines if line.startswith("Z")]
    # Init, the service, its zygote, eight warm children, and at most one that is just ending.
    assert len(lines) <= 12


def test_stopping_takes_no_time_and_loses_nothing(container: js.Sandbox) -> None:
    js.docker("stop", "-t", "8", container.name)
    assert js.docker("inspect", "-f", "{{.State.ExitCode}}", container.name).strip() in {"0", "143"}
    js.docker("start", container.name)
    js.wait(container)
    assert container.run("1+1")[0].result.value == "2"
