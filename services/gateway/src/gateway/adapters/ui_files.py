"""The built browser app: a handful of files, read once into memory, so that no request ever names a path on disk."""

from dataclasses import dataclass
from pathlib import Path

from gateway.domain.errors import StartRefusedError

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
# Names below assets/ hold a hash of their content.
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class UiFile:
    """One file of the app, ready to send."""

    content: bytes
    media_type: str
    cache_control: str


def read_ui(folder: Path) -> dict[str, UiFile]:
    """Every file of the app by its path in the address, and the page itself at `/`.

    Raises:
        StartRefusedError: there is no app in `folder`, or a file of a kind that has no type here.
    """
    if not (folder / "index.html").is_file():
        reason = f"GATEWAY_UI_DIR: there is no index.html in {folder}. Build the app (npm run build in services/gateway/ui)."
        raise StartRefusedError(reason)
    files = {f"/{path.relative_to(folder).as_posix()}": _read(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    files = {place: _cached(place, file) for place, file in files.items()}
    return {**files, "/": files["/index.html"]}


def _read(path: Path) -> UiFile:
    media_type = _TYPES.get(path.suffix)
    if media_type is None:
        reason = f"GATEWAY_UI_DIR: {path} is of a kind that is not served."
        raise StartRefusedError(reason)
    return UiFile(path.read_bytes(), media_type, cache_control="no-store")


def _cached(place: str, file: UiFile) -> UiFile:
    return UiFile(file.content, file.media_type, _FOR_EVER) if place.startswith("/assets/") else file
