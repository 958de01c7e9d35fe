"""The lexical judge: every name that is dangerous on some platform is refused with its code, ordinary names are not."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import Refusal
from policy.paths import MAX_NAME_BYTES, JudgedPath, judge_path

CASES = json.loads((Path(__file__).parents[3] / "tests/cases/paths.json").read_text(encoding="utf-8"))["cases"]
BY_TEXT_ALONE = [case for case in CASES if not case["input"].get("setup") and "race" not in case]

# The general words of the cases, for our codes.
CLASSES = {
    errors.PATH_ESCAPES: "outside",
    errors.PATH_ABSOLUTE: "absolute",
    errors.PATH_DRIVE: "drive",
    errors.PATH_UNC: "unc",
    errors.PATH_DEVICE_NAME: "device_name",
    errors.PATH_STREAM: "stream",
    errors.PATH_TRAILING: "trailing",
    errors.PATH_BAD_CHARACTER: "bad_char",
    errors.PATH_TOO_LONG: "too_long",
    errors.PATH_NOT_A_FILE: "not_a_file",
}


def test_the_cases_were_loaded() -> None:
    assert len(BY_TEXT_ALONE) >= 25


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in BY_TEXT_ALONE])
def test_case_by_text_alone(case: dict[str, Any]) -> None:
    verdict = judge_path(case["input"]["path"])
    match case["expect"]["decision"]:
        case "refuse":
            assert isinstance(verdict, Refusal)
            assert CLASSES[verdict.code] in case["expect"]["classes"]
        case "contained":
            assert isinstance(verdict, Refusal) or ".." not in verdict.names
        case other:
            pytest.fail(f"a case this test cannot read: {other}")


REFUSED = [
    # climbs
    ("..", errors.PATH_ESCAPES),
    ("a/..", errors.PATH_ESCAPES),
    ("a/../b", errors.PATH_ESCAPES),
    ("a\\..\\b", errors.PATH_ESCAPES),
    ("./../a", errors.PATH_ESCAPES),
    ("...", errors.PATH_ESCAPES),
    (". /a", errors.PATH_ESCAPES),
    ("．．/out", errors.PATH_ESCAPES),
    ("．．／out", errors.PATH_ESCAPES),
    # another root
    ("/", errors.PATH_ABSOLUTE),
    ("\\a", errors.PATH_ABSOLUTE),
    ("c:/a", errors.PATH_DRIVE),
    ("Z:", errors.PATH_DRIVE),
    ("//server/share", errors.PATH_UNC),
    ("\\/server/share", errors.PATH_UNC),
    ("\\\\.\\pipe\\x", errors.PATH_UNC),
    # devices, wherever they stand
    ("docs/CON/a.txt", errors.PATH_DEVICE_NAME),
    ("Aux.c", errors.PATH_DEVICE_NAME),
    ("prn .tar.gz", errors.PATH_DEVICE_NAME),
    ("com9.", errors.PATH_DEVICE_NAME),
    ("LPT².x", errors.PATH_DEVICE_NAME),
    ("ＣＯＮ", errors.PATH_DEVICE_NAME),
    ("CLOCK$", errors.PATH_DEVICE_NAME),
    # streams
    ("a.txt:b", errors.PATH_STREAM),
    ("dir/c:d", errors.PATH_STREAM),
    (".git:$INDEX_ALLOCATION/config", errors.PATH_STREAM),
    ("a.txt/..namedfork/rsrc", errors.PATH_STREAM),
    # endings
    ("a./b", errors.PATH_TRAILING),
    ("a /b", errors.PATH_TRAILING),
    (".git.", errors.PATH_TRAILING),
    # characters
    ("a\tb", errors.PATH_BAD_CHARACTER),
    ("a\x7fb", errors.PATH_BAD_CHARACTER),
    ("a\x85b", errors.PATH_BAD_CHARACTER),
    ("a\u202egpj.exe", errors.PATH_BAD_CHARACTER),
    ("a\u200bb", errors.PATH_BAD_CHARACTER),
    (".g\u200cit/config", errors.PATH_BAD_CHARACTER),
    ("\ufeffa", errors.PATH_BAD_CHARACTER),
    ("a\u2028b", errors.PATH_BAD_CHARACTER),
    ("a\ud800b", errors.PATH_BAD_CHARACTER),
    ("a\uffffb", errors.PATH_BAD_CHARACTER),
    ("a\U000e0041b", errors.PATH_BAD_CHARACTER),
    ("a\uf03ab", errors.PATH_BAD_CHARACTER),
    ("a|b", errors.PATH_BAD_CHARACTER),
    ("docs\\a.txt", errors.PATH_BAD_CHARACTER),
    # too much
    ("日" * 86, errors.PATH_TOO_LONG),
    ("/".join("a" * 600), errors.PATH_TOO_LONG),
    ("/".join("a" * 65), errors.PATH_TOO_LONG),
    ("日/" * 511, errors.PATH_TOO_LONG),
    ("", errors.PATH_NOT_A_FILE),
]


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=ascii)
def test_dangerous_path_is_refused_with_its_code(text: str, code: str) -> None:
    verdict = judge_path(text)
    assert isinstance(verdict, Refusal)
    assert verdict.code == code


ALLOWED = [
    ("a.txt", ("a.txt",)),
    ("./a.txt", ("a.txt",)),
    ("a//b", ("a", "b")),
    (".", ()),
    ("./", ()),
    ("a/.", ("a",)),
    ("a", ("a",)),
    ("conference/auxiliary.txt", ("conference", "auxiliary.txt")),
    ("COM0", ("COM0",)),
    ("com10", ("com10",)),
    ("nullable.ts", ("nullable.ts",)),
    ("a..b", ("a..b",)),
    ("..a", ("..a",)),
    ("~", ("~",)),
    ("%2e%2e", ("%2e%2e",)),
    (" a", (" a",)),
    ("a b.txt", ("a b.txt",)),
    ("資料：最終.txt", ("資料：最終.txt",)),
    ("AC／DC.txt", ("AC／DC.txt",)),
    ("می\u200cخواهم.txt", ("می\u200cخواهم.txt",)),
    ("👩\u200d🔬.md", ("👩\u200d🔬.md",)),
    ("日" * 85, ("日" * 85,)),
]


@pytest.mark.parametrize(("text", "names"), ALLOWED, ids=ascii)
def test_ordinary_path_is_allowed(text: str, names: tuple[str, ...]) -> None:
    verdict = judge_path(text)
    assert isinstance(verdict, JudgedPath)
    assert verdict.names == names


@pytest.mark.parametrize(("text", "is_folder"), [("a/", True), (".", True), ("a/.", True), ("a", False), ("./a", False)])
def test_a_path_that_names_a_folder_says_so(text: str, is_folder: bool) -> None:
    verdict = judge_path(text)
    assert isinstance(verdict, JudgedPath)
    assert verdict.is_folder is is_folder


BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}

hostile = st.text(
    alphabet=st.one_of(st.sampled_from("./\\:~%$ acnouxCNUL1¹²\x00\n\u202e\u200d．／"), st.characters()),
    max_size=40,
)


@given(hostile)
def test_whatever_is_allowed_is_made_of_harmless_names(text: str) -> None:
    verdict = judge_path(text)
    if isinstance(verdict, Refusal):
        return
    for name in verdict.names:
        assert name not in ("", ".", "..")
        assert not set(name) & set('/\\:*?"<>|\x00\n')
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or unicodedata.bidirectional(c) in BIDI_CONTROLS for c in name)
        assert name[-1] not in ". "
        assert len(name.encode()) <= MAX_NAME_BYTES


@given(hostile)
def test_the_spelling_of_an_allowed_path_is_judged_the_same(text: str) -> None:
    verdict = judge_path(text)
    if isinstance(verdict, JudgedPath):
        again = judge_path(str(verdict))
        assert isinstance(again, JudgedPath)
        assert again.names == verdict.names


@given(hostile, hostile)
def test_any_step_up_is_refused(before: str, after: str) -> None:
    assert isinstance(judge_path(f"{before}/../{after}"), Refusal)
    assert isinstance(judge_path(f"{before}\\..\\{after}"), Refusal)


@given(st.sampled_from(["con", "PRN", "Aux", "nul", "com1", "LPT9", "com³", "conin$"]), st.text("abc.", max_size=8), hostile)
def test_a_device_is_refused_with_any_extension(device: str, extension: str, folder: str) -> None:
    assert isinstance(judge_path(f"{folder}/{device}.{extension}"), Refusal)
    assert isinstance(judge_path(f"{device} .{extension}"), Refusal)
