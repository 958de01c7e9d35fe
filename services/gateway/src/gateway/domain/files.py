"""How a workspace file is served: by what its first bytes are, never by its name, and never as a document that can run.

A model or a web page may have written it. What is not a picture is text, whatever it is called: HTML, SVG, scripts and
PDF (whose readers run scripts as well) are shown as their source.
"""

import re
from urllib.parse import quote

HEAD_BYTES = 16
TEXT = "text/plain; charset=utf-8"

# The sandbox gives the answer an origin of its own, without scripts, even when it is opened as a page.
CONTENT_SECURITY_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"


def media_type(head: bytes) -> str:
    """The type for a file that begins with `head` (at least 16 bytes, fewer where the file is shorter)."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    # ISO/IEC 14496-12: a box of type 'ftyp' with its major brand; AVIF's brands are in the AVIF specification, section 7.
    if head[4:8] == b"ftyp" and head[8:12] in {b"avif", b"avis"}:
        return "image/avif"
    return TEXT


def content_disposition(path: str, *, download: bool) -> str:
    """RFC 6266: the file's own name in RFC 8187 form, and an ASCII one for programs that do not read that."""
    name = path.rsplit("/", 1)[-1]
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)[:150]
    exact = quote(name, safe="", errors="replace")[:1_000]
    return f"{'attachment' if download else 'inline'}; filename=\"{plain}\"; filename*=UTF-8''{exact}"
