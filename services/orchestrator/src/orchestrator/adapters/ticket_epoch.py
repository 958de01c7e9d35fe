"""The epoch of tickets, kept in Redis so that a restart of Redis ends it."""

import asyncio
import logging

from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts import redis_keys
from orchestrator.domain.errors import EpochUnavailable
from orchestrator.domain.ports import Clock

log = logging.getLogger(__name__)


class RedisEpoch:
    """The epoch begins when the orchestrator starts, and again whenever Redis no longer holds it."""

    def __init__(self, redis: Redis, clock: Clock) -> None:
        """Nothing is written before the first `current`."""
        self._redis = redis
        self._clock = clock
        self._epoch: int | None = None
        # Calls that begin together must not each begin an epoch: the later would void the tickets of the earlier.
        self._beginning = asyncio.Lock()

    async def current(self) -> int:
        """The epoch in force; a new one is written first where Redis has forgotten the old.

        Raises:
            EpochUnavailable: Redis does not answer.
        """
        async with self._beginning:
            try:
                if self._epoch is None or not await self.still(self._epoch):
                    epoch = max(self._clock(), (self._epoch or 0) + 1)
                    await self._redis.set(redis_keys.EPOCH, epoch)
                    self._epoch = epoch
                    log.info("epoch_began epoch=%d", epoch)
            except RedisError as exc:
                raise EpochUnavailable from exc
            return self._epoch

    async def still(self, epoch: int) -> bool:
        """Whether Redis still holds this epoch."""
        return await self._redis.get(redis_keys.EPOCH) == str(epoch).encode()
