"""New identities: 128 random bits from the system, in hex."""

import secrets


def new_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_hex(16)
