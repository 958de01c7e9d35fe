"""What every answer says to the browser, and the policy of the app's own page."""

# Nothing but our own scripts and styles; no frame, form, base address or string-to-script sink (Trusted Types, no policy
# may be made: the app builds no HTML from text). Pictures of a workspace are fetched with the session and shown as blobs.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)

# Added to every answer that does not set the header itself.
DEFAULTS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), payment=(), serial=(), usb=()",
    ),
    (b"cache-control", b"no-store"),
)


def with_defaults(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, completed."""
    given = {name.lower() for name, _ in headers}
    return headers + [(name, value) for name, value in DEFAULTS if name not in given]
