"""What a model is told of files: text in pages, folders as lines. Pure text work."""

from contracts import errors
from contracts.base import JsonObject
from contracts.errors import Refusal
from contracts.tool_jobs import ToolResult
from contracts.tools import MAX_READ_CHARACTERS
from tool_runner.domain import results
from workspace import Entry, Listing, Written

# Both the lines and the data of a listing must fit into one entry of a result stream, however odd the names are.
MAX_LISTING_CHARACTERS = 100_000


def page_of_text(path: str, content: bytes, offset: int) -> ToolResult:
    """The part of a text file that begins at character `offset`, and how to go on where there is more."""
    text = _text(content)
    if text is None:
        detail = f"{path} is not text in UTF-8 ({len(content):,} bytes)."
        return results.refused(Refusal(code=errors.FILE_BINARY, detail=detail, hint="run_command can look into it."))
    if offset > len(text):
        detail = f"{path} has only {len(text):,} characters."
        return results.refused(Refusal(code=errors.POLICY_ARGUMENTS, detail=detail, hint="Give a smaller offset."))
    piece = text[offset : offset + MAX_READ_CHARACTERS]
    end = offset + len(piece)
    data: JsonObject = {"path": path, "size_bytes": len(content), "characters": len(text), "offset": offset}
    if end == len(text):
        nothing = "(Nothing more.)" if offset else "(The file is empty.)"
        return results.done(piece or nothing, data)
    note = f"\n\n[Cut here: these are characters {offset:,} to {end:,} of {len(text):,}. Go on with offset={end}.]"
    return results.done(piece + note, data | {"next_offset": end}, truncated=True)


def lines_of_listing(path: str, listing: Listing) -> ToolResult:
    """One line for each entry; folders end in a slash."""
    lines: list[str] = []
    entries: list[JsonObject] = []
    complete, used = listing.complete, 0
    for entry in listing.entries:
        line = _line(entry)
        used += len(line)
        if used > MAX_LISTING_CHARACTERS:
            complete = False
            break
        lines.append(line)
        entries.append(
            {
                "name": visible(entry.name),
                "kind": entry.kind,
                "size_bytes": entry.size_bytes,
                "modified": int(entry.modified * 1000),
            }
        )
    if not complete:
        lines.append(f"[There are more; these are the first {len(entries):,} by name.]")
    data: JsonObject = {"path": path, "entries": entries, "complete": complete}
    return results.done("\n".join(lines) or "(The folder is empty.)", data, truncated=not complete)


def written(path: str, answer: Written) -> ToolResult:
    """What a write did."""
    what = "It is new." if answer.replaced_bytes is None else f"It replaced {answer.replaced_bytes:,} bytes."
    data: JsonObject = {"path": path, "size_bytes": answer.size_bytes, "replaced_bytes": answer.replaced_bytes}
    return results.done(f"Wrote {answer.size_bytes:,} bytes to {path}. {what}", data)


def deleted(path: str, kind: str) -> ToolResult:
    """What a deletion did."""
    return results.done(f"Deleted the {kind} {path}.", {"path": path, "kind": kind})


def visible(name: str) -> str:
    """A name as a command may have made it, with what cannot be seen or is not Unicode as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in name)


def _line(entry: Entry) -> str:
    name = visible(entry.name)
    match entry.kind:
        case "folder":
            return f"{name}/"
        case "file":
            return f"{name}  {entry.size_bytes:,} bytes"
        case "link":
            return f"{name}  (a link)"
        case "other":
            return f"{name}  (neither a file nor a folder)"


def _text(content: bytes) -> str | None:
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
