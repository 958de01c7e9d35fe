"""The lexical judge of workspace paths: text in, names or a refusal out. It looks at no file.

A workspace may lie on a Windows or a macOS disk, be shared or be moved there, so a name that means something else on
any of them is refused on all of them. What a name resolves to is not judged here: links are the kernel's affair, in
the act of opening (`workspace`). A path that passes here has no `..`, so that it reads the same to a person and to a
file system.
"""

import unicodedata
from dataclasses import dataclass

from contracts import errors
from contracts.errors import Refusal
from contracts.tools import MAX_PATH_CHARACTERS

# Linux NAME_MAX, in bytes. Windows allows 255 UTF-16 units, which is never less.
MAX_NAME_BYTES = 255
# Linux PATH_MAX is 4,096 bytes with the closing NUL; some are left for the folder the path is in.
MAX_PATH_BYTES = 3_840
MAX_DEPTH = 64

# "Naming Files, Paths, and Namespaces" (learn.microsoft.com/windows/win32/fileio/naming-a-file): reserved characters.
# The colon and the separators are told apart below, since they name drives, streams and folders.
WINDOWS_RESERVED = frozenset('<>"|?*')

# The same page: reserved names, with any extension and in any case. The superscripts of ISO 8859-1 count as digits.
# CONIN$ and CONOUT$ are from "Console Handles"; CLOCK$ was one up to Windows 9x.
DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}
    | {f"{port}{digit}" for port in ("COM", "LPT") for digit in "123456789¹²³"}
)

# macOS: `file/..namedfork/rsrc` is the resource fork of `file`.
NAMED_FORK = "..NAMEDFORK"

# WSL, Cygwin and Samba store the characters that Windows forbids at U+F000 + their ASCII code.
FORBIDDEN_TWINS = range(0xF000, 0xF100)

# Zero-width (non-)joiners belong to Persian, Indic scripts and emoji; between ASCII letters they only deceive.
JOINERS = frozenset("\u200c\u200d")


@dataclass(frozen=True)
class JudgedPath:
    """A path inside the workspace, as the names that lead to it; no names at all mean the workspace's top.

    Only `judge_path` makes one. `is_folder` says that the text itself named a folder (`docs/`, `.`).
    """

    names: tuple[str, ...]
    is_folder: bool

    def __str__(self) -> str:
        """The one spelling of this path; the top is `.`."""
        return "/".join(self.names) or "."


def judge_path(text: str) -> JudgedPath | Refusal:
    """Judge a path that a model, a client or a person gave.

    `.` and doubled slashes are dropped; percent signs and `~` are ordinary characters. Everything else that is not
    an ordinary name is refused with the code that says why. It does not catch what only a certain disk knows: names
    that differ in case only, 8.3 short names, Unicode normalisation.
    """
    refusal = _judge_whole(text)
    if refusal:
        return refusal
    pieces = text.split("/")
    names = tuple(piece for piece in pieces if piece not in ("", "."))
    if len(names) > MAX_DEPTH:
        return _refuse(errors.PATH_TOO_LONG, f"The path has more than {MAX_DEPTH} folders.")
    for name in names:
        refusal = _judge_name(name)
        if refusal:
            return refusal
    return JudgedPath(names, is_folder=pieces[-1] in ("", "."))


def _judge_whole(text: str) -> Refusal | None:
    """What can be said before the path is taken apart."""
    if not text:
        return _refuse(errors.PATH_NOT_A_FILE, "The path is empty.", "Name a file, or '.' for the workspace's top.")
    if len(text) > MAX_PATH_CHARACTERS or len(text.encode(errors="surrogatepass")) > MAX_PATH_BYTES:
        return _refuse(errors.PATH_TOO_LONG, f"The path is longer than {MAX_PATH_CHARACTERS} characters.")
    if text.startswith(("\\\\", "//", "\\/", "/\\")):
        return _refuse(errors.PATH_UNC, "The path names a network share.", _RELATIVE)
    if text.startswith(("/", "\\")):
        return _refuse(errors.PATH_ABSOLUTE, "The path is absolute.", _RELATIVE)
    if len(text) > 1 and text[1] == ":" and text[0].isascii() and text[0].isalpha():
        return _refuse(errors.PATH_DRIVE, "The path names a drive.", _RELATIVE)
    if ".." in text.replace("\\", "/").split("/"):
        return _refuse(errors.PATH_ESCAPES, "The path has '..' in it.", _RELATIVE)
    return None


def _judge_name(name: str) -> Refusal | None:
    """Judge one name between slashes; it is neither empty nor `.` nor `..`."""
    bad = _bad_character(name)
    if bad is not None:
        return _refuse(errors.PATH_BAD_CHARACTER, f"The character U+{ord(bad):04X} is not allowed in a name.", "Leave it out.")
    if ":" in name:
        return _refuse(
            errors.PATH_STREAM, "A colon in a name means a second stream of the file on Windows.", "Leave the colon out."
        )
    # What looks like these to a program that maps characters to an old code page (full-width dots, for one).
    folded = unicodedata.normalize("NFKC", name).upper()
    if any(not piece.strip(". ") for piece in folded.replace("\\", "/").split("/")):
        return _refuse(errors.PATH_ESCAPES, f"The name {name!r} can be read as a step out of the folder.", _RELATIVE)
    if folded.startswith(NAMED_FORK):
        return _refuse(errors.PATH_STREAM, "The name means a second stream of the file on macOS.")
    stem = name.upper().split(".", 1)[0].rstrip(" ")
    if stem in DEVICES or folded.split(".", 1)[0].rstrip(" ") in DEVICES:
        return _refuse(errors.PATH_DEVICE_NAME, f"The name {name!r} is a device on Windows.", "Choose another name.")
    if name[-1] in ". ":
        return _refuse(errors.PATH_TRAILING, "A name cannot end in a dot or a space: Windows drops them.", "Leave it out.")
    if len(name.encode()) > MAX_NAME_BYTES:
        return _refuse(errors.PATH_TOO_LONG, f"A name is longer than {MAX_NAME_BYTES} bytes.", "Choose a shorter one.")
    return None


def _bad_character(name: str) -> str | None:
    """The first character that cannot stand in a name on some platform, or that nobody can see."""
    for position, character in enumerate(name):
        if character in WINDOWS_RESERVED or character == "\\" or ord(character) in FORBIDDEN_TWINS:
            return character
        if character in JOINERS and _between_letters_of_a_script(name, position):
            continue
        # Cc: controls. Cf: bidi marks, zero-width characters, tags. Cs: half a character. Zl, Zp: line ends.
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} or _is_noncharacter(ord(character)):
            return character
    return None


def _between_letters_of_a_script(name: str, position: int) -> bool:
    around = name[position - 1 : position] + name[position + 1 : position + 2]
    return len(around) == 2 and not any(c.isascii() or c in JOINERS for c in around)  # noqa: PLR2004 (one on each side)


def _is_noncharacter(code: int) -> bool:
    """Unicode 23.7: never to be interchanged."""
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE  # noqa: PLR2004 (the standard's own numbers)


_RELATIVE = "Give a path inside the workspace, like docs/notes.txt."


def _refuse(code: str, detail: str, hint: str = "") -> Refusal:
    return Refusal(code=code, detail=detail, hint=hint)
