"""One table from the code of a refusal to the HTTP status it is answered with."""

from contracts import errors

STATUSES: dict[str, int] = {
    errors.REQUEST_HOST: 403,
    errors.REQUEST_TARGET: 400,
    errors.REQUEST_ORIGIN: 403,
    errors.REQUEST_FETCH_SITE: 403,
    errors.REQUEST_METHOD: 405,
    errors.REQUEST_CONTENT_TYPE: 415,
    errors.REQUEST_BODY: 422,
    errors.REQUEST_TOO_LARGE: 413,
    errors.REQUEST_NOT_FOUND: 404,
    errors.REQUEST_MALFORMED: 400,
    errors.REQUEST_TIMED_OUT: 408,
    errors.REQUEST_TOO_MANY: 429,
    errors.SESSION_MISSING: 401,
    errors.SESSION_INVALID: 401,
    errors.SESSION_EXPIRED: 401,
    errors.LOGIN_CODE: 401,
    errors.LOGIN_TOO_MANY: 429,
    errors.CORE_UNAVAILABLE: 503,
    errors.INTERNAL: 500,
}


def status_of(code: str) -> int:
    """The status for a code of the gateway's own; a code that is not in the table is a fault of ours: 500."""
    return STATUSES.get(code, 500)
