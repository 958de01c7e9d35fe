"""What each user of Redis may do is what it needs, tried on a real Redis with the real template."""

import secrets
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError
from runner_bench import Bench

RUNNER_MAY_NOT: list[tuple[Any, ...]] = [
    # look around, empty, configure, script
    ("KEYS", "*"), ("SCAN", "0"), ("RANDOMKEY",), ("DBSIZE",), ("INFO",), ("FLUSHALL",), ("FLUSHDB",), ("CONFIG", "GET", "*"),
    ("ACL", "LIST"), ("ACL", "WHOAMI"), ("CLIENT", "LIST"), ("CLIENT", "KILL", "ID", "1"), ("MONITOR",), ("LATENCY", "RESET"),
    ("EVAL", "return 1", "0"), ("FUNCTION", "LIST"), ("SCRIPT", "FLUSH"), ("MODULE", "LIST"), ("SHUTDOWN",), ("SAVE",), ("SELECT", "1"),
    ("REPLICAOF", "NO", "ONE"), ("PUBLISH", "c", "m"), ("SUBSCRIBE", "c"), ("OBJECT", "ENCODING", "epoch"), ("DUMP", "epoch"),
    # queues: take, but neither put nor look
    ("RPUSH", "rq:queue:files", "x"), ("LPUSH", "rq:queue:commands", "x"), ("LRANGE", "rq:queue:files", "0", "-1"), ("DEL", "rq:queue:files"),
    ("BLMOVE", "rq:queue:files", "rq:queue:commands", "LEFT", "LEFT", "1"), ("BLPOP", "rq:queue:other", "1"), ("BLPOP", "epoch", "1"),
    # jobs: take, but neither make nor change
    ("HSET", "rq:job:x", "data", "y"), ("HGETALL", "rq:job:x"), ("EXPIRE", "rq:job:x", "1"), ("RENAME", "rq:job:x", "rq:job:y"), ("COPY", "a", "b"),
    # results: add only
    ("XREAD", "STREAMS", "result:x", "0"), ("XRANGE", "result:x", "-", "+"), ("DEL", "result:x"), ("XDEL", "result:x", "0-1"),
    ("XTRIM", "result:x", "MAXLEN", "0"), ("XLEN", "result:x"), ("XADD", "results:x", "*", "a", "b"),
    # nonces: set only
    ("DEL", "nonce:x"), ("GET", "nonce:x"), ("GETDEL", "nonce:x"), ("EXPIRE", "nonce:x", "1"), ("PERSIST", "nonce:x"), ("UNLINK", "nonce:x"),
    # epoch and cancel streams: read only
    ("SET", "epoch", "1"), ("DEL", "epoch"), ("INCR", "epoch"), ("EXPIRE", "epoch", "1"),
    ("XADD", "cancel:x", "*", "a", "b"), ("DEL", "cancel:x"), ("XTRIM", "cancel:x", "MAXLEN", "0"),
    # other runners and everything else
    ("DEL", "runner:x"), ("GET", "runner:x"), ("SET", "other", "1"), ("GET", "other"), ("SET", "rq:queue:files", "1"), ("SADD", "rq:queues", "x"),
    ("SET", "result:x", "1"), ("SET", "rq:job:x", "1"),
]  # fmt: skip

ORCHESTRATOR_MAY_NOT: list[tuple[Any, ...]] = [
    ("KEYS", "*"), ("FLUSHALL",), ("CONFIG", "GET", "*"), ("ACL", "LIST"), ("EVAL", "return 1", "0"), ("MONITOR",), ("SHUTDOWN",),
    ("INFO", "clients"), ("HGETALL", "rq:job:x"), ("BLPOP", "rq:queue:files", "1"), ("LRANGE", "rq:queue:files", "0", "-1"),
    ("XADD", "result:x", "*", "a", "b"), ("DEL", "nonce:x"), ("GET", "nonce:x"), ("SET", "nonce:x", "1"), ("SET", "runner:x", "1"),
]  # fmt: skip


@pytest.mark.parametrize("command", RUNNER_MAY_NOT, ids=" ".join)
def test_a_runner_may_not(bench: Bench, command: tuple[Any, ...]) -> None:
    with bench.redis("tool-runner") as redis, pytest.raises(NoPermissionError):
        redis.execute_command(*command)


@pytest.mark.parametrize("command", ORCHESTRATOR_MAY_NOT, ids=" ".join)
def test_the_orchestrator_may_not(bench: Bench, command: tuple[Any, ...]) -> None:
    with bench.redis() as redis, pytest.raises(NoPermissionError):
        redis.execute_command(*command)


def test_a_transaction_lends_no_rights(bench: Bench) -> None:
    with bench.redis("tool-runner") as redis, redis.pipeline() as pipeline, pytest.raises(NoPermissionError):
        pipeline.set("nonce:y", "1").delete("nonce:y").execute()


def test_a_runner_may_do_its_work(bench: Bench) -> None:
    name = secrets.token_hex(16)
    with bench.redis("tool-runner") as redis:
        assert redis.set(f"nonce:{name}", b"1", nx=True, px=10_000)
        assert not redis.set(f"nonce:{name}", b"1", nx=True, px=10_000)
        assert redis.get("epoch") == str(bench.epoch).encode()
        assert redis.xadd(f"result:{name}", {"entry": "x"})
        assert redis.expire(f"result:{name}", 10)
        assert not redis.xread({f"cancel:{name}": "0"})


def test_health_may_ping_and_nothing_else(bench: Bench) -> None:
    with Redis(host=bench.redis_address, username="health", password="") as redis:
        assert redis.ping()
        for command in (("GET", "epoch"), ("INFO",), ("KEYS", "*"), ("ACL", "WHOAMI"), ("CLIENT", "LIST")):
            with pytest.raises(NoPermissionError):
                redis.execute_command(*command)


@pytest.mark.parametrize("user", [None, "default", "tool-runner", "orchestrator", "nobody"])
def test_nobody_gets_in_without_the_password(bench: Bench, user: str | None) -> None:
    with (
        Redis(host=bench.redis_address, username=user, password="wrong" if user else None) as redis,
        pytest.raises(AuthenticationError),
    ):
        redis.ping()


def test_ordinary_work_asks_for_nothing_that_is_refused(bench: Bench) -> None:
    """Every refused command counts; a call, its enqueueing and the worker's own book-keeping leave the count as it is."""
    before = denied(bench)
    bench.call("write_file", {"path": "a", "content": "x"})
    assert denied(bench) == before


def denied(bench: Bench) -> int:
    with bench.redis() as redis:
        info: Any = redis.info("server")
        assert info["redis_version"]
        # errorstat_NOPERM is in INFO errorstats, which no user here may read: the log of the runner says it too.
    return sum("NoPermission" in str(line) for line in bench.logs())
