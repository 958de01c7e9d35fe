"""Whether a call is to go on, as far as Redis says."""

from enum import StrEnum

from redis import Redis
from redis.exceptions import RedisError

from contracts import redis_keys
from contracts.tickets import Ticket


class Word(StrEnum):
    """What Redis says about a running call."""

    GO_ON = "go_on"
    CANCELLED = "cancelled"
    VOID = "void"  # Redis was restarted: whoever waited for this call has given it up
    SILENT = "silent"  # no answer


def ask(redis: Redis, ticket: Ticket) -> Word:
    """Look once, without waiting."""
    try:
        with redis.pipeline(transaction=False) as pipeline:
            pipeline.xread({redis_keys.cancel_stream(ticket.call_id): "0"}, count=1)
            pipeline.get(redis_keys.EPOCH)
            cancelled, epoch = pipeline.execute()
    except RedisError:
        return Word.SILENT
    if cancelled:
        return Word.CANCELLED
    return Word.GO_ON if epoch == str(ticket.epoch).encode() else Word.VOID
