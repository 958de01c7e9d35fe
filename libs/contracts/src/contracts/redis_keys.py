"""The names of the keys that the orchestrator and the tool-runner share in Redis, and how long each lives.

RQ's own keys start with `rq:` and are RQ's business. The rights of each Redis user follow these names
(`services/redis/`): a runner may only add to result streams, only read cancel streams and the epoch, and only set,
never delete, nonces.
"""

RESULT_TTL_SECONDS = 900
CANCEL_TTL_SECONDS = 900
RUNNER_TTL_SECONDS = 5

EPOCH = "epoch"


def result_stream(name: str) -> str:
    """The stream that takes a call's output and result; `name` is the ticket's `stream`."""
    return f"result:{name}"


def cancel_stream(call_id: str) -> str:
    """The stream whose first entry asks a runner to stop that call."""
    return f"cancel:{call_id}"


def nonce(value: str) -> str:
    """Set with NX by the runner that takes the ticket; it lives until after the ticket's deadline."""
    return f"nonce:{value}"


def runner(name: str) -> str:
    """Set by each runner with RUNNER_TTL_SECONDS, every second: somebody is there to take jobs."""
    return f"runner:{name}"
