"""The committed schema of the browser API is the one the contracts give today."""

import importlib.util
from pathlib import Path
from types import ModuleType


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api_schema", Path(__file__).with_name("api_schema.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_committed_schema_is_what_the_contracts_say() -> None:
    api_schema = _load()

    assert api_schema.SCHEMA_FILE.read_text(encoding="utf-8") == api_schema.render()
