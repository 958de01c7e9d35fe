"""One form for the bytes of a value, so that its hash means the value."""

import hashlib

import rfc8785

from contracts.base import JsonObject


class NotCanonical(ValueError):
    """The value has no canonical form: a number beyond 2^53, NaN, or text that is not Unicode."""


def canonical_json(value: JsonObject) -> bytes:
    """The bytes of RFC 8785 (JSON Canonicalization Scheme).

    Raises:
        NotCanonical: the value has no such form.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeError) as exc:
        raise NotCanonical(str(exc)) from exc


def canonical_hash(value: JsonObject) -> str:
    """SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
