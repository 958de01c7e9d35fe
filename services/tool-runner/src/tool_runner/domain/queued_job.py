"""Is what lies in the queue a job of ours? Decided on its bytes, before anything in it is used.

RQ would import the dotted name that a job carries. Here the name is compared with the one that is allowed, and nothing
is ever imported because a job said so.
"""

import json
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from contracts.tool_jobs import JOB_ENTRY

# The JSON of a job with the largest ticket, encoded once more as a string.
MAX_JOB_BYTES = 64 * 1024 * 1024


class Problem(StrEnum):
    """Why a job is not run."""

    NO_DATA = "no_data"
    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    FOREIGN_FUNCTION = "foreign_function"
    WRONG_ARGUMENTS = "wrong_arguments"


@dataclass(frozen=True)
class NotOurs:
    """The job is dropped; `problem` is what a log line says of it."""

    problem: Problem


def read_queued_job(data: bytes | None) -> str | NotOurs:
    """The one argument of a job for our entry; `data` is the `data` field of RQ's job hash.

    RQ writes zlib-compressed JSON of `[function, instance, args, kwargs]`. A pickled job is not JSON, and is not
    unpickled to find out what it is.
    """
    if not data:
        return NotOurs(Problem.NO_DATA)
    try:
        text = _inflate(data)
        parts = None if text is None else json.loads(text)
    except (zlib.error, ValueError, RecursionError):
        return NotOurs(Problem.NOT_JSON)
    if text is None:
        return NotOurs(Problem.TOO_LARGE)
    return _judge(parts)


def _judge(parts: Any) -> str | NotOurs:
    match parts:
        case [str(name), None, [str(text)], kwargs] if kwargs == {}:
            return text if name == JOB_ENTRY else NotOurs(Problem.FOREIGN_FUNCTION)
        case [str(name), *_] if name != JOB_ENTRY:
            return NotOurs(Problem.FOREIGN_FUNCTION)
        case _:
            return NotOurs(Problem.WRONG_ARGUMENTS)


def _inflate(data: bytes) -> bytes | None:
    """Decompress up to the limit; None when there is more, so that a few bytes cannot become a full memory."""
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, MAX_JOB_BYTES)
    if inflater.unconsumed_tail:
        return None
    if not inflater.eof:
        raise zlib.error("the job's data ends early")
    return text
