"""Approvals: a call waits here until a person decides, its time is up, or its reply is stopped."""

import asyncio

from contracts import errors
from contracts.chats import Approval
from contracts.errors import Refusal
from contracts.events import ApprovalChanged
from contracts.tickets import ApprovalClaim
from orchestrator.adapters import store
from orchestrator.adapters.database import Database
from orchestrator.app.event_log import EventLog
from orchestrator.domain.errors import Conflict, NotFound
from orchestrator.domain.ports import Clock

APPROVAL_SECONDS = 3600


class Approvals:
    """The inbox of calls that wait for a person."""

    def __init__(self, database: Database, events: EventLog, clock: Clock) -> None:
        """Approvals left by an earlier process are ended by `end_stale`."""
        self._database = database
        self._events = events
        self._clock = clock
        self._waiting: dict[str, asyncio.Future[Approval]] = {}

    async def end_stale(self) -> None:
        """What waited when the core stopped will never run: end it."""
        for approval in await self._database.run(store.pending_approvals):
            await self._put(approval.model_copy(update={"state": "expired"}))

    async def ask(self, approval: Approval) -> Approval:
        """Show the approval and wait for its end: allowed, declined or expired. Being cancelled declines it."""
        future: asyncio.Future[Approval] = asyncio.get_running_loop().create_future()
        self._waiting[approval.approval_id] = future
        await self._put(approval)
        try:
            async with asyncio.timeout((approval.expires_at - self._clock()) / 1000):
                return await future
        except TimeoutError:
            return await self._put(approval.model_copy(update={"state": "expired"}))
        except asyncio.CancelledError:
            await asyncio.shield(self._put(approval.model_copy(update={"state": "declined"})))
            raise
        finally:
            self._waiting.pop(approval.approval_id, None)

    async def decide(self, approval_id: str, *, allow: bool, call_hash: str) -> Approval:
        """A person's word. It counts once, and only for the call whose hash the person was shown.

        Raises:
            NotFound: there is no such approval.
            Conflict: it no longer waits, or the hash is not that of the call.
        """
        approval = await self._database.run(store.approval, approval_id)
        if approval is None:
            raise NotFound("approval")
        future = self._waiting.get(approval_id)
        if approval.state != "pending" or future is None or future.done():
            raise Conflict("This approval no longer waits.", "Nothing was run because of this answer.")
        if call_hash != approval.call_hash:
            raise Conflict("The call shown is not the call that waits.", "Load the page again and look at what is asked now.")
        decided = approval.model_copy(update={"state": "allowed" if allow else "declined"})
        future.set_result(decided)
        return await self._put(decided)

    async def use(self, approval: Approval) -> ApprovalClaim | Refusal:
        """Take an allowed approval, once, for the ticket of its call."""
        if not await self._database.run(store.use_approval, approval.approval_id):
            return Refusal(code=errors.APPROVAL_STALE, detail="The approval was used before or has ended.", hint="Ask again.")
        self._events.publish(ApprovalChanged(chat_id=approval.chat_id, approval=approval.model_copy(update={"state": "used"})))
        return claim(approval)

    async def _put(self, approval: Approval) -> Approval:
        await self._database.run(store.put_approval, approval)
        self._events.publish(ApprovalChanged(chat_id=approval.chat_id, approval=approval))
        return approval


def claim(approval: Approval) -> ApprovalClaim:
    """The approval as a ticket carries it."""
    return ApprovalClaim(approval_id=approval.approval_id, call_hash=approval.call_hash, expires_at=approval.expires_at)
