"""Which file is served, and what is said of one that cannot be."""

from pathlib import Path

import pytest

from local_model.weights import UnusableWeights, check, choose, model_id

DEFAULT = Path("/opt/model/default.gguf")


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        # Nothing that is a model: the default.
        ([], DEFAULT),
        (["README.md", ".gitignore", "model.safetensors"], DEFAULT),
        (["mmproj-model-f16.gguf"], DEFAULT),
        # The first by name, whatever the order in which the folder lists them.
        (["b.gguf", "a.gguf"], Path("/models/a.gguf")),
        (["Model.GGUF"], Path("/models/Model.GGUF")),
        (["llava.gguf", "a-mmproj.gguf"], Path("/models/llava.gguf")),
        (["big-00002-of-00002.gguf", "big-00001-of-00002.gguf"], Path("/models/big-00001-of-00002.gguf")),
    ],
)
def test_first_model_file_by_name_takes_the_place_of_the_default(names: list[str], chosen: Path) -> None:
    assert choose([Path("/models") / name for name in names], DEFAULT) == chosen


def test_a_file_that_begins_as_gguf_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    check(path)


@pytest.mark.parametrize("content", [b"", b"GGU", b"PK\x03\x04", b"<html>"])
def test_a_file_of_another_form_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(UnusableWeights, match=r"model\.gguf is not a GGUF file"):
        check(path)


def test_a_file_that_cannot_be_read_is_named_with_the_command_that_mends_it(tmp_path: Path) -> None:
    with pytest.raises(UnusableWeights, match=r"chmod a\+r models/gone\.gguf"):
        check(tmp_path / "gone.gguf")


def test_the_id_is_the_file_name_without_its_ending() -> None:
    assert model_id(DEFAULT) == "default"
