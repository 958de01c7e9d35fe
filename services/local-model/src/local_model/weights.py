"""Which weight file is served."""

from collections.abc import Iterable
from pathlib import Path

# The first four bytes of the format (ggml, docs/gguf.md, "File Structure").
MAGIC = b"GGUF"


class UnusableWeights(Exception):
    """The chosen file cannot be served; the text says why and what to do."""


def choose(candidates: Iterable[Path], default: Path) -> Path:
    """The first .gguf file by name, else the default.

    Of a model split into several files, the first by name is the one that is opened. Files of a vision projector
    (`mmproj`) are no models of their own.
    """
    usable = (path for path in candidates if path.suffix.lower() == ".gguf" and "mmproj" not in path.name.lower())
    return min(usable, key=lambda path: path.name, default=default)


def check(path: Path) -> None:
    """Raise `UnusableWeights` unless the file can be read and begins as a GGUF file does."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(MAGIC))
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
        raise UnusableWeights(
            f"{path.name} cannot be read ({reason}). Make it readable for every user: chmod a+r models/{path.name}"
        ) from exc
    if begin != MAGIC:
        raise UnusableWeights(f"{path.name} is not a GGUF file. Take it out of models/, or put a whole download in its place.")


def model_id(path: Path) -> str:
    """The id under which /v1/models lists it."""
    return path.stem
