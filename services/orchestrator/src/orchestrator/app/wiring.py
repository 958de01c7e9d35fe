"""The one place that builds the core."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import redis
import redis.asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry
from starlette.applications import Starlette

from contracts.tickets import Ticket
from contracts.tool_jobs import Job
from contracts.tools import Tool
from orchestrator.adapters.database import Database
from orchestrator.adapters.decisions_socket import DecisionsSocket
from orchestrator.adapters.js_client import JsClient
from orchestrator.adapters.ticket_epoch import RedisEpoch
from orchestrator.adapters.tool_queue import ToolQueue
from orchestrator.adapters.workspace_files import WorkspaceFiles
from orchestrator.app.approvals import Approvals
from orchestrator.app.calls import ToolCalls
from orchestrator.app.chats import Chats
from orchestrator.app.event_log import EventLog
from orchestrator.app.network_log import NetworkLog
from orchestrator.app.providers import Providers
from orchestrator.app.replies import Replies
from orchestrator.app.routes import Core, application
from orchestrator.app.settings import Settings
from orchestrator.domain.ids import new_id
from orchestrator.domain.ports import Executor
from policy import tickets

# A short wait for Redis: a call that cannot be queued is told at once. Blocking reads wait at most 500 ms.
REDIS_TIMEOUT_SECONDS = 3


def clock() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def build(settings: Settings) -> Starlette:
    """Everything, closed and opened by the application's lifespan."""
    key = _ticket_key(settings)
    database = Database(settings.data_dir / "switchbox.db")
    events = EventLog(database, clock)
    approvals = Approvals(database, events, clock)
    providers = Providers(database, settings.embedded_url)
    network = NetworkLog()
    address: dict[str, Any] = {
        "host": settings.redis_host,
        "port": settings.redis_port,
        "username": "orchestrator",
        "password": settings.redis_password_file.read_text().strip(),
        "socket_timeout": REDIS_TIMEOUT_SECONDS,
        "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
        # The default would wait up to 10 s between tries; what is lost is told to a person instead.
        "retry": Retry(NoBackoff(), 1),
    }
    queue_redis = redis.Redis(**address)
    async_redis = redis.asyncio.Redis(**{**address, "retry": AsyncRetry(NoBackoff(), 1)})
    epoch = RedisEpoch(async_redis, clock)
    js_client = JsClient(settings.js_socket, lambda ticket: tickets.sign(ticket, key))
    executors: dict[str, Executor] = {
        "tool-runner": ToolQueue(queue_redis, async_redis, epoch, lambda tool, ticket: _job(tool, ticket, key)),
        "js-sandbox": js_client,
    }
    calls = ToolCalls(database, approvals, executors, epoch, network, clock)
    replies = Replies(database, events, calls, providers, clock)
    chats = Chats(database, events, replies, clock)
    decisions = DecisionsSocket(settings.decisions_socket, settings.egress_uid, network.take)
    core = Core(chats, approvals, providers, events, WorkspaceFiles(settings.workspaces_root), database)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await database.open()
        await events.open()
        await replies.recover()
        await approvals.end_stale()
        await decisions.open()
        yield
        await replies.stop_all()
        await decisions.close()
        await events.close()
        await providers.close()
        await js_client.close()
        await async_redis.aclose()
        queue_redis.close()
        await database.close()

    return application(core, lifespan)


def _job(tool: Tool, ticket: Ticket, key: Ed25519PrivateKey) -> Job:
    """The job of a call: its ticket, and one more for each service that helps with it."""
    command = _for(ticket, "command-box", key) if tool.name == "run_command" else None
    egress = _for(ticket, "egress", key) if tool.queue in ("commands", "fetch") and ticket.network.enabled else None
    return Job(ticket=tickets.sign(ticket, key), command_ticket=command, egress_ticket=egress)


def _for(ticket: Ticket, audience: str, key: Ed25519PrivateKey) -> str:
    """The same call for another audience, with a nonce of its own; egress does not need to know the arguments."""
    changes = {"audience": audience, "nonce": new_id(), **({"arguments": {}} if audience == "egress" else {})}
    return tickets.sign(ticket.model_copy(update=changes), key)


def _ticket_key(settings: Settings) -> Ed25519PrivateKey:
    key = load_pem_private_key(settings.ticket_key_file.read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise SystemExit(f"ORCHESTRATOR_TICKET_KEY_FILE ({settings.ticket_key_file}) does not hold an Ed25519 key.")
    return key
