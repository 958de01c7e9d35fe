"""Each ticket once, over all runners: a nonce in Redis, and the epoch that a restart of Redis ends."""

from collections.abc import Callable

from redis import Redis

from contracts import errors, redis_keys
from contracts.errors import Refusal
from contracts.tickets import Ticket

# A nonce outlives its ticket's deadline by this, for clocks that differ a little.
NONCE_GRACE_MILLISECONDS = 60_000


class RedisNonceKeeper:
    """See `policy.tickets.NonceKeeper`. An error of Redis passes through: a ticket that cannot be taken is not accepted."""

    def __init__(self, redis: Redis, clock: Callable[[], int]) -> None:
        """`clock` gives Unix time in ms."""
        self._redis = redis
        self._clock = clock

    def take(self, ticket: Ticket) -> Refusal | None:
        """Take the nonce, then see whether the ticket is of this epoch.

        In this order, since Redis may be restarted between the two: a nonce that was taken in the Redis of before is
        worth nothing, and then the epoch is another one or none.

        Raises:
            redis.RedisError: Redis does not answer.
        """
        life = max(ticket.deadline - self._clock(), 0) + NONCE_GRACE_MILLISECONDS
        taken = self._redis.set(redis_keys.nonce(ticket.nonce), b"1", nx=True, px=life)
        if not taken:
            return Refusal(code=errors.TICKET_USED, detail="The ticket was used before.")
        if self._redis.get(redis_keys.EPOCH) != str(ticket.epoch).encode():
            return Refusal(code=errors.TICKET_EPOCH, detail="The ticket is from before a restart.", hint="Ask again.")
        return None
