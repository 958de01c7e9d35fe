"""The one place that builds what a worker works with. Called in the worker's own process: connections are not shared."""

import os
import time
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from redis import Redis

from contracts.tickets import Ticket
from tool_runner.adapters import cancel_stream
from tool_runner.adapters.command_box import CommandBox
from tool_runner.adapters.redis_connection import SOCKET_SECONDS, connect
from tool_runner.adapters.redis_nonces import RedisNonceKeeper
from tool_runner.adapters.result_stream import ResultStream
from tool_runner.app.command_tool import CommandTool
from tool_runner.app.entry import Services
from tool_runner.app.file_tools import FileTools
from tool_runner.app.running import Attendant
from tool_runner.app.settings import Settings
from workspace import Quota

GIVEN_UP_STATUS = 70  # sysexits.h, EX_SOFTWARE


class WrongKey(ValueError):
    """The ticket key file holds something else than an Ed25519 public key."""


def read_ticket_key(settings: Settings) -> Ed25519PublicKey:
    """The key that verifies tickets.

    Raises:
        WrongKey: it is of another kind.
        OSError, ValueError: it cannot be read.
    """
    key = load_pem_public_key(settings.ticket_key_file.read_bytes())
    if not isinstance(key, Ed25519PublicKey):
        raise WrongKey(f"TOOL_RUNNER_TICKET_KEY_FILE: {settings.ticket_key_file} is not an Ed25519 public key")
    return key


def connect_redis(settings: Settings, *, seconds: float = SOCKET_SECONDS) -> Redis:
    """A client of this runner's Redis user; no command waits longer than `seconds`."""
    password = settings.redis_password_file.read_text(encoding="utf-8").strip()
    return connect(settings.redis_host, settings.redis_port, settings.redis_user, password, seconds=seconds)


def build_services(settings: Settings, redis: Redis, beat: Callable[[], None]) -> Services:
    """Everything `entry.run_job` takes; the attendant is not started yet."""

    def ask(ticket: Ticket) -> cancel_stream.Word:
        return cancel_stream.ask(redis, ticket)

    return Services(
        key=read_ticket_key(settings),
        nonces=RedisNonceKeeper(redis, unix_milliseconds),
        clock=unix_milliseconds,
        ask=ask,
        open_stream=lambda name: ResultStream(redis, name),
        attendant=Attendant(ask, beat, give_up=lambda: os._exit(GIVEN_UP_STATUS)),
        files=FileTools(settings.workspaces_root, settings.max_file_bytes, Quota(settings.max_chat_bytes)),
        commands=CommandTool(CommandBox(settings.command_socket)),
    )


def unix_milliseconds() -> int:
    """The wall clock."""
    return time.time_ns() // 1_000_000
