"""Builds the service from its settings; tests call the same function."""

from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from starlette.applications import Starlette

from contracts.javascript import HEAP_BYTES, MAX_RESULT_CHARACTERS, TIMEOUT_SECONDS
from js_sandbox.adapters.child import ChildLimits
from js_sandbox.adapters.pool import Pool
from js_sandbox.app.handlers import RunProgram
from js_sandbox.app.http import application
from js_sandbox.app.settings import Settings
from policy.tickets import MemoryNonceKeeper

LIMITS = ChildLimits(
    heap_bytes=HEAP_BYTES,
    # What is beside the heap: typed arrays, compiled code, and the collector's second copy of young objects.
    data_bytes=HEAP_BYTES + 64 * 1024 * 1024,
    # Warming up takes a part of the first second.
    cpu_seconds=int(TIMEOUT_SECONDS) + 2,
    characters=MAX_RESULT_CHARACTERS,
)


def build(settings: Settings, clock: Callable[[], int]) -> Starlette:
    """The application; `clock` gives Unix time in ms."""
    key = load_pem_public_key(settings.ticket_key_file.read_bytes())
    if not isinstance(key, Ed25519PublicKey):
        message = f"JS_SANDBOX_TICKET_KEY_FILE: {settings.ticket_key_file} holds no Ed25519 public key"
        raise SystemExit(message)
    pool = Pool(LIMITS, size=settings.pool, max_running=settings.max_running)
    return application(pool, RunProgram(pool, key, MemoryNonceKeeper(clock), clock))
