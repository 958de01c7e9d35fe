"""How the tool-runner connects to Redis: bounded waits, and nothing is sent twice."""

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

# Longer than any command here blocks.
SOCKET_SECONDS = 5.0
CONNECT_SECONDS = 2.0


def connect(host: str, port: int, username: str, password: str, *, seconds: float = SOCKET_SECONDS) -> Redis:
    """A client that connects when it is first used; no command waits longer than `seconds`.

    redis-py would repeat a command whose answer was lost: an entry would stand twice in a result stream, and the
    taking of a nonce would look like a second use. So each command is sent once, and each caller says what a lost
    connection means for it.
    """
    return Redis(
        host=host,
        port=port,
        username=username,
        password=password,
        socket_timeout=seconds,
        socket_connect_timeout=min(seconds, CONNECT_SECONDS),
        retry=Retry(NoBackoff(), 0),
    )
