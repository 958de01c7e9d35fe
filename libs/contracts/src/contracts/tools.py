"""The built-in tools: what a model is told of each, its arguments, who runs it, and its policy unless a person says otherwise.

One entry of `TOOLS` is everything the rest of the code knows about a tool. Arguments are pydantic models; the JSON
Schema that a model gets comes from them, and every executor validates with them again.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from .base import JsonObject, Message
from .tickets import Audience, Policy
from .tool_jobs import QueueName

MAX_PATH_CHARACTERS = 1_024
MAX_FILE_BYTES = 20 * 1024 * 1024
# What a model gets of one file in one call; it asks for the rest with `offset`.
MAX_READ_CHARACTERS = 100_000
MAX_LISTED = 1_000
MAX_COMMAND_CHARACTERS = 20_000
MAX_PROGRAM_CHARACTERS = 200_000

WorkspacePath = Annotated[
    str, Field(min_length=1, max_length=MAX_PATH_CHARACTERS, description="Path inside the workspace, with / between names.")
]


class ListFiles(Message):
    """List the files and folders of a folder in the workspace."""

    path: Annotated[str, Field(max_length=MAX_PATH_CHARACTERS, description="Folder inside the workspace; '.' is its top.")] = "."


class ReadFile(Message):
    """Read a text file of the workspace."""

    path: WorkspacePath
    offset: Annotated[int, Field(ge=0, le=MAX_FILE_BYTES, description="Character to start at.")] = 0


class WriteFile(Message):
    """Write a text file in the workspace; folders on the way are made, an existing file is replaced."""

    path: WorkspacePath
    content: Annotated[str, Field(max_length=MAX_FILE_BYTES, description="The whole new content.")]


class DeleteFile(Message):
    """Delete one file or one empty folder of the workspace."""

    path: WorkspacePath


class RunCommand(Message):
    """Run a command line with bash in the workspace. No input can be given to it; it is stopped after 60 seconds."""

    command: Annotated[str, Field(min_length=1, max_length=MAX_COMMAND_CHARACTERS, description="The command line for bash -c.")]


class RunJs(Message):
    """Compute with JavaScript. No network, files, require or process; the value of the last expression is the result."""

    code: Annotated[str, Field(min_length=1, max_length=MAX_PROGRAM_CHARACTERS, description="The program.")]


@dataclass(frozen=True)
class Tool:
    """A built-in tool. `queue` is set for what goes through Redis; run_js goes over the js socket instead."""

    name: str
    arguments: type[Message]
    audience: Audience
    queue: QueueName | None
    default_policy: Policy
    effect: Literal["read", "write", "run"]
    timeout_seconds: float

    @property
    def description(self) -> str:
        """What a model is told of the tool."""
        return self.arguments.__doc__ or ""

    def schema(self) -> JsonObject:
        """The JSON Schema of the arguments, as an OpenAI-compatible endpoint takes it."""
        schema = self.arguments.model_json_schema()
        return {key: schema[key] for key in ("type", "properties", "required", "additionalProperties") if key in schema}


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("list_files", ListFiles, "tool-runner", "files", "auto", "read", 20),
        Tool("read_file", ReadFile, "tool-runner", "files", "auto", "read", 20),
        Tool("write_file", WriteFile, "tool-runner", "files", "auto", "write", 20),
        Tool("delete_file", DeleteFile, "tool-runner", "files", "auto", "write", 20),
        Tool("run_js", RunJs, "js-sandbox", None, "auto", "run", 5),
        Tool("run_command", RunCommand, "tool-runner", "commands", "ask", "run", 60),
    )
}
