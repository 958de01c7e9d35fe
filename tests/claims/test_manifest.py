"""Every promise in the documents has a test, and every claimed test exists."""

import ast
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest
from manifest import CLAIMS, Claim

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "SECURITY.md")
MARK = re.compile(r"`\[([a-z-]+:[a-z0-9-]+)\]`")


def marks(name: str) -> list[str]:
    return [
        mark
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if line.startswith("- ")
        for mark in MARK.findall(line)
    ]


def test_every_promise_in_the_documents_is_in_the_manifest_and_the_other_way_round() -> None:
    written = sorted((name, mark) for name in DOCUMENTS for mark in marks(name))
    assert written == sorted((claim.file, claim.claim_id) for claim in CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.claim_id)
def test_the_tests_of_a_promise_exist(claim: Claim) -> None:
    assert claim.tests
    for test in claim.tests:
        module, function = test.split("::")
        tree = ast.parse((ROOT / "tests" / module).read_text(encoding="utf-8"))
        assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, test
