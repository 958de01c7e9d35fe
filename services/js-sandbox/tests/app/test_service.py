"""The real service over its socket: tickets judged, programs run, and stopped when nobody waits for them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from js_service import Service

from contracts import errors
from contracts.javascript import JsRequest
from contracts.tickets import ApprovalClaim


def test_a_program_runs_once(service: Service) -> None:
    ticket = service.ticket("[1,2,3].map(x=>x*2)")
    first = service.run(ticket)
    assert (first.outcome, first.value) == ("ok", "[2,4,6]")
    assert 0 < first.duration_seconds < 5
    assert service.refusal(ticket) == errors.TICKET_USED


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"audience": "command-box"}, errors.TICKET_AUDIENCE),
    ({"audience": "egress"}, errors.TICKET_AUDIENCE),
    ({"tool": "run_command"}, errors.TICKET_TOOL),
    ({"policy": "off"}, errors.POLICY_OFF),
    ({"policy": "ask"}, errors.APPROVAL_MISMATCH),
    (
        {"policy": "ask", "approval": ApprovalClaim(approval_id="0" * 32, call_hash="0" * 64, expires_at=2**50)},
        errors.APPROVAL_MISMATCH,
    ),
    ({"deadline": 1}, errors.TICKET_EXPIRED),
    ({"issued_at": 1}, errors.TICKET_EPOCH),
    ({"arguments": {}}, errors.POLICY_ARGUMENTS),
    ({"arguments": {"code": ""}}, errors.POLICY_ARGUMENTS),
    ({"arguments": {"code": 1}}, errors.POLICY_ARGUMENTS),
    ({"arguments": {"code": "1", "more": 1}}, errors.POLICY_ARGUMENTS),
    ({"arguments": {"code": "x" * 200_001}}, errors.POLICY_ARGUMENTS),
]


def test_tickets_that_are_not_in_order_are_refused_and_nothing_runs(own_service: Service) -> None:
    for changes, code in REFUSED:
        assert own_service.refusal(own_service.ticket(**changes)) == code, changes
    for ticket, code in [
        ("", errors.TICKET_MALFORMED),
        ("x.y", errors.TICKET_MALFORMED),
        ("eA.eQ", errors.TICKET_SIGNATURE),
        (own_service.ticket()[:-4] + "AAAA", errors.TICKET_SIGNATURE),
        ("A" + own_service.ticket()[1:], errors.TICKET_SIGNATURE),
    ]:
        assert own_service.refusal(ticket) == code
    assert "program_ended" not in own_service.log.read_text()


def test_an_earlier_epoch_is_refused_after_a_later_one(own_service: Service) -> None:
    assert own_service.run(own_service.ticket(epoch=7)).outcome == "ok"
    assert own_service.refusal(own_service.ticket(epoch=6)) == errors.TICKET_EPOCH


def test_the_time_limit_is_the_tickets_and_never_more_than_five_seconds(service: Service) -> None:
    for asked, least, most in ((0.3, 0.3, 2.0), (600.0, 5.0, 7.0)):
        began = time.monotonic()
        result = service.run(service.ticket("for(;;);", timeout_seconds=asked))
        assert result.outcome == "timed_out"
        assert least <= time.monotonic() - began < most


def test_a_call_that_waits_past_its_deadline_does_not_run(service: Service) -> None:
    with ThreadPoolExecutor(3) as pool:
        holding = [pool.submit(service.run, service.ticket("for(;;);", timeout_seconds=2)) for _ in range(2)]
        time.sleep(0.3)
        now = time.time_ns() // 1_000_000
        assert service.refusal(service.ticket(deadline=now + 500)) == errors.TICKET_EXPIRED
        assert {future.result().outcome for future in holding} == {"timed_out"}


def test_a_client_that_leaves_stops_its_program(service: Service) -> None:
    body = JsRequest(ticket=service.ticket("for(;;);")).model_dump_json().encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(service.path))
        connection.sendall(b"POST /run HTTP/1.1\r\nHost: s\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert wait_for(lambda: busy_children(service.process.pid) == 1, 4)
    # Sooner than its time limit would have ended it.
    assert wait_for(lambda: busy_children(service.process.pid) == 0, 2)
    assert service.run(service.ticket()).value == "2"


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether a condition came true in time."""
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return met


def busy_children(pid: int) -> int:
    """Children of the zygote that have used more processor time than warming up takes."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parent = Path("/proc") / fields[1]
            if b"adapters.zygote" in (parent / "cmdline").read_bytes() and (parent / "stat").read_text().rpartition(")")[
                2
            ].split()[1] == str(pid):
                found += int(fields[11]) + int(fields[12]) > 0.2 * os.sysconf("SC_CLK_TCK") and fields[0] != "Z"
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_service_leaves_no_process(own_service: Service, number: signal.Signals) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(own_service.run, own_service.ticket("for(;;);"))
        time.sleep(0.3)
        session = [entry for entry in Path("/proc").glob("[0-9]*") if is_below(entry, own_service.process.pid)]
        assert len(session) >= 3
        own_service.process.send_signal(number)
        own_service.process.wait(5)
        with contextlib.suppress(Exception):
            running.result()
    assert not [entry for entry in session if (entry / "cmdline").exists() and b"zygote" in (entry / "cmdline").read_bytes()]


def test_a_killed_service_leaves_no_process(own_service: Service) -> None:
    below = [entry for entry in Path("/proc").glob("[0-9]*") if is_below(entry, own_service.process.pid)]
    assert len(below) >= 3
    own_service.process.kill()
    own_service.process.wait(5)
    assert wait_for(lambda: not any(alive(entry) for entry in below), 5)


def is_below(entry: Path, pid: int) -> bool:
    with contextlib.suppress(OSError):
        while True:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == str(pid):
                return True
            if parent in {"0", "1"}:
                return False
            entry = Path("/proc") / parent
    return False


def alive(entry: Path) -> bool:
    with contextlib.suppress(OSError):
        return (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z" and b"zygote" in (entry / "cmdline").read_bytes()
    return False


def test_requests_of_another_form_are_refused(service: Service) -> None:
    with service.client() as http:
        assert http.post("/run", content=b"").status_code == 400
        assert http.post("/run", content=b"{}").status_code == 400
        assert http.post("/run", json={"ticket": "a", "more": 1}).status_code == 400
        assert http.post("/run", json={"ticket": 1}).status_code == 400
        assert http.post("/run", content=b"x" * (5 * 1024 * 1024)).status_code == 413
        assert http.get("/run").status_code == 405
        assert http.get("/").status_code == 404
        body = http.post("/run", content=b"{}").json()
        assert body["code"] == errors.REQUEST_BODY


def test_neither_programs_nor_tickets_are_logged(own_service: Service) -> None:
    ticket = own_service.ticket("/* secret-word */ console.log('secret-word'); throw new Error('secret-word')")
    own_service.run(ticket)
    own_service.run(own_service.ticket("let a=['secret-word'];for(;;)a.push(new Array(1e5).fill('secret-word'))"))
    text = own_service.log.read_text()
    assert "secret-word" not in text
    assert ticket[-40:] not in text
    events = [json.loads(line)["event"] for line in text.splitlines()]
    assert events.count("program_ended") == 2


def test_health_is_told_by_the_command_that_docker_runs(own_service: Service) -> None:
    environment = os.environ | {"JS_SANDBOX_SOCKET_PATH": str(own_service.path)}
    command = [sys.executable, "-m", "js_sandbox.health"]
    assert subprocess.run(command, env=environment, check=False, timeout=10).returncode == 0
    own_service.process.terminate()
    own_service.process.wait(10)
    assert subprocess.run(command, env=environment, check=False, timeout=10, capture_output=True).returncode == 1


def test_a_burst_is_answered_in_full(service: Service) -> None:
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda number: service.run(service.ticket(f"{number}*2")), range(48)))
    assert [result.value for result in results] == [str(number * 2) for number in range(48)]
