"""The way of one web_fetch through redirects: each hop is a new URL that is read and judged afresh.

Pure: the caller asks for `Hop.target.url`, hands back the status and the Location header, and does as it is told. It
must not let its HTTP client follow redirects by itself.
"""

from dataclasses import dataclass
from urllib.parse import urljoin

from contracts import errors
from contracts.errors import Refusal
from policy.urls import Target, holds_ambiguity, parse_url

MAX_REDIRECTS = 5

# RFC 9110 section 15.4: the statuses whose Location is to be followed. 300 and 304 have another use, 305 is deprecated.
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class Hop:
    """One request to be made; `number` counts the redirects that led to it."""

    target: Target
    number: int = 0


def first_hop(url: str) -> Hop | Refusal:
    """The request that was asked for."""
    target = parse_url(url)
    return target if isinstance(target, Refusal) else Hop(target)


def next_hop(hop: Hop, status: int, location: str | None) -> Hop | Refusal | None:
    """What follows an answer: None when it is the end, the next request, or why there must not be one."""
    if status not in REDIRECT_STATUSES:
        return None
    if not location:
        return Refusal(code=errors.URL_REDIRECT, detail=f"The page redirects (status {status}) without saying where to.")
    if hop.number >= MAX_REDIRECTS:
        return Refusal(code=errors.URL_REDIRECT, detail=f"The page redirects more than {MAX_REDIRECTS} times.")
    # These are refused before the reference is resolved: urllib would drop some, and others read a back-slash as a slash.
    target = parse_url(location if holds_ambiguity(location) else _resolve(hop.target.url, location))
    return target if isinstance(target, Refusal) else Hop(target, hop.number + 1)


def _resolve(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:  # urllib's own complaint about brackets; the reader says it better.
        return reference
