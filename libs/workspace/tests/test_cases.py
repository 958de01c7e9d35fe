"""The cases of `tests/cases/paths.json`: what is asked for through the judge and the kernel, checked by effect."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from contracts import errors
from contracts.errors import Refusal
from policy.paths import judge_path
from workspace import Folder, Listing, Written, delete_file, list_folder, read_file, write_file

CASES = json.loads((Path(__file__).parents[3] / "tests/cases/paths.json").read_text(encoding="utf-8"))["cases"]
SECRET = "outside-secret"
LIMIT = 1_000_000

CLASSES = {
    errors.PATH_ESCAPES: "outside",
    errors.PATH_ABSOLUTE: "absolute",
    errors.PATH_DRIVE: "drive",
    errors.PATH_UNC: "unc",
    errors.PATH_DEVICE_NAME: "device_name",
    errors.PATH_STREAM: "stream",
    errors.PATH_TRAILING: "trailing",
    errors.PATH_BAD_CHARACTER: "bad_char",
    errors.PATH_SYMLINK: "symlink",
    errors.PATH_TOO_LONG: "too_long",
    errors.PATH_NOT_A_FILE: "not_a_file",
    errors.PATH_NOT_FOUND: "not_found",
}


def test_the_cases_were_loaded() -> None:
    assert len(CASES) >= 50


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    given, expected = case["input"], case["expect"]
    build(tmp_path, given.get("setup", []))
    before = outside(tmp_path)

    answer = ask(tmp_path, given["op"], given["path"], case.get("race"))

    assert outside(tmp_path) == before
    assert SECRET not in text_of(answer)
    match expected["decision"]:
        case "allow":
            assert not isinstance(answer, Refusal)
            check_effect(given["op"], tmp_path / expected["resolves_to"], answer)
        case "refuse":
            assert isinstance(answer, Refusal)
            assert CLASSES[answer.code] in expected["classes"]
        case "contained":
            if not isinstance(answer, Refusal):
                assert given["op"] == "read"
                assert answer == b"inside"
        case other:
            pytest.fail(f"a case this test cannot read: {other}")


def ask(base: Path, operation: str, path: str, race: dict[str, str] | None) -> bytes | Written | str | Listing | Refusal:
    """Do what the case asks for. A race changes the folder after the path was judged and before it is opened."""
    judged = judge_path(path)
    if race:
        (base / race["replace"]).rmdir()
        (base / race["replace"]).symlink_to(race["with_symlink_to"])
    if isinstance(judged, Refusal):
        return judged
    with Folder(os.open(base / "ws", os.O_RDONLY | os.O_DIRECTORY)) as folder:
        match operation:
            case "read":
                return read_file(folder, judged, LIMIT)
            case "write":
                return write_file(folder, judged, b"written", LIMIT)
            case "list":
                return list_folder(folder, judged, 100)
            case "delete":
                return delete_file(folder, judged)
            case other:
                pytest.fail(f"a case this test cannot do: {other}")


def check_effect(operation: str, target: Path, answer: object) -> None:
    if operation == "read":
        assert answer == target.read_bytes()
    elif operation == "write":
        assert target.read_bytes() == b"written"
    else:
        pytest.fail(f"no effect is known for {operation}")


def build(base: Path, setup: list[dict[str, str]]) -> None:
    (base / "ws").mkdir()
    for item in setup:
        where = base / item["path"]
        where.parent.mkdir(parents=True, exist_ok=True)
        match item["type"]:
            case "dir":
                where.mkdir(exist_ok=True)
            case "file":
                where.write_text(item["text"].replace("{BASE}", str(base)))
            case "symlink":
                where.symlink_to(item["target"].replace("{BASE}", str(base)))
            case other:
                pytest.fail(f"a setup this test cannot make: {other}")


def outside(base: Path) -> dict[str, object]:
    """Everything below the base but `ws`: names, kinds, content."""
    found: dict[str, object] = {}
    for where in sorted(base.rglob("*")):
        name = where.relative_to(base).as_posix()
        if name == "ws" or name.startswith("ws/"):
            continue
        found[name] = where.read_bytes() if where.is_file() else where.is_dir()
    return found


def text_of(answer: object) -> str:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else repr(answer)
