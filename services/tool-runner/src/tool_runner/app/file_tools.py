"""list_files, read_file, write_file and delete_file: arguments in, result out, everything beneath the chat's folder."""

from collections.abc import Callable
from pathlib import Path

from contracts.base import Message
from contracts.errors import Refusal
from contracts.tool_jobs import ToolResult
from contracts.tools import MAX_LISTED, DeleteFile, ListFiles, ReadFile, WriteFile
from policy.paths import JudgedPath, judge_path
from tool_runner.domain import file_results, results
from workspace import Folder, Quota, delete_file, list_folder, open_chat_folder, read_file, write_file


class FileTools:
    """The file tools of all chats below one root."""

    def __init__(self, root: Path, max_file_bytes: int, quota: Quota) -> None:
        """`root` holds the folder of chats."""
        self._root = root
        self._max_file_bytes = max_file_bytes
        self._quota = quota

    def run(self, chat: str, arguments: Message) -> ToolResult:
        """Do what `arguments` ask for in the workspace named `chat`.

        Raises:
            TypeError: they are no file tool's.
        """
        match arguments:
            case ListFiles(path=path):
                return self._in_folder(chat, path, self._list)
            case ReadFile(path=path, offset=offset):
                return self._in_folder(chat, path, lambda folder, judged: self._read(folder, judged, offset))
            case WriteFile(path=path, content=content):
                return self._in_folder(chat, path, lambda folder, judged: self._write(chat, folder, judged, content.encode()))
            case DeleteFile(path=path):
                return self._in_folder(chat, path, lambda folder, judged: self._delete(chat, folder, judged))
            case _:
                raise TypeError(type(arguments).__name__)

    def _in_folder(self, chat: str, path: str, work: Callable[[Folder, JudgedPath], ToolResult | Refusal]) -> ToolResult:
        judged = judge_path(path)
        if isinstance(judged, Refusal):
            return results.refused(judged)
        folder = open_chat_folder(self._root, chat, create=True)
        if isinstance(folder, Refusal):
            return results.refused(folder)
        with folder:
            answer = work(folder, judged)
        return results.refused(answer) if isinstance(answer, Refusal) else answer

    def _list(self, folder: Folder, path: JudgedPath) -> ToolResult | Refusal:
        listing = list_folder(folder, path, MAX_LISTED)
        return listing if isinstance(listing, Refusal) else file_results.lines_of_listing(str(path), listing)

    def _read(self, folder: Folder, path: JudgedPath, offset: int) -> ToolResult | Refusal:
        content = read_file(folder, path, self._max_file_bytes)
        return content if isinstance(content, Refusal) else file_results.page_of_text(str(path), content, offset)

    def _write(self, chat: str, folder: Folder, path: JudgedPath, content: bytes) -> ToolResult | Refusal:
        refusal = self._quota.judge(chat, folder, len(content))
        if refusal:
            return refusal
        answer = write_file(folder, path, content, self._max_file_bytes)
        if isinstance(answer, Refusal):
            return answer
        self._quota.added(chat, answer.size_bytes - (answer.replaced_bytes or 0))
        return file_results.written(str(path), answer)

    def _delete(self, chat: str, folder: Folder, path: JudgedPath) -> ToolResult | Refusal:
        kind = delete_file(folder, path)
        if isinstance(kind, Refusal):
            return kind
        self._quota.forget(chat)
        return file_results.deleted(str(path), kind)
