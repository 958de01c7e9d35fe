"""Each promise of the documents: its id, the file, and the tests that prove it. The sentence stands in the file once."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A sentence ends with `[id]` in `file`; each of `tests` is `module::function` below tests/."""

    claim_id: str
    tests: tuple[str, ...]
    file: str = "SECURITY.md"


WALLS, TICKETS = "integration/test_walls.py", "integration/test_tickets.py"
HTTP, REPLIES, EGRESS = "integration/test_http.py", "integration/test_replies.py", "integration/test_egress.py"

CLAIMS = (
    Claim("gateway:published", (f"{WALLS}::test_only_the_gateway_is_published_and_only_on_loopback",)),
    Claim("gateway:host", (f"{HTTP}::test_http_request_case",)),
    Claim("gateway:origin", (f"{HTTP}::test_http_request_case",)),
    Claim("gateway:body", (f"{HTTP}::test_http_request_case",)),
    Claim("gateway:files", (f"{HTTP}::test_http_request_case",)),
    Claim("gateway:session", (f"{HTTP}::test_without_a_session_nothing_is_read_or_changed",)),
    Claim("gateway:login-once", (f"{HTTP}::test_a_login_link_works_once", "e2e/test_browser.py::test_a_login_link_logs_in_once")),
    Claim("gateway:no-way-out", (f"{WALLS}::test_gateway_gets_no_answer_from_beyond_the_host",)),
    Claim("core:no-listener", (f"{WALLS}::test_orchestrator_listens_on_no_tcp_port",)),
    Claim("core:off", (f"{REPLIES}::test_a_tool_that_is_off_is_refused",)),
    Claim("core:approval", (f"{REPLIES}::test_a_command_waits_for_the_person_and_runs_as_shown",)),
    Claim("core:declined", (f"{REPLIES}::test_a_declined_command_does_not_run",)),
    Claim(
        "tickets:refused",
        (
            f"{TICKETS}::test_job_without_ticket_is_refused",
            f"{TICKETS}::test_changed_argument_is_refused",
            f"{TICKETS}::test_signed_ticket_for_something_else_is_refused",
            f"{TICKETS}::test_ticket_used_twice_is_run_once",
        ),
    ),
    Claim("tickets:one-entry", (f"{TICKETS}::test_job_naming_another_function_is_not_run",)),
    Claim(
        "rooms:hardened",
        (
            f"{WALLS}::test_no_process_has_capabilities_or_can_gain_privileges",
            f"{WALLS}::test_redis_has_no_capabilities_and_cannot_gain_privileges",
            f"{WALLS}::test_root_file_system_is_read_only",
            f"{WALLS}::test_root_file_system_of_redis_is_read_only",
        ),
    ),
    Claim("rooms:no-dns", (f"{WALLS}::test_outside_names_are_not_looked_up",)),
    Claim("rooms:js-no-network", (f"{WALLS}::test_js_sandbox_has_no_interface_but_loopback",)),
    Claim("rooms:reach", (f"{WALLS}::test_containers_reach_each_other_only_where_designed",)),
    Claim("rooms:host", (f"{WALLS}::test_untrusted_containers_do_not_reach_the_host",)),
    Claim("egress:ticket", (f"{EGRESS}::test_without_a_ticket_nothing_is_looked_up",)),
)
