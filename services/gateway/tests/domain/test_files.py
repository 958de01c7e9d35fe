import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.files import TEXT, content_disposition, media_type

IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (bytes.fromhex("89504e470d0a1a0a0000000d49484452"), "image/png"),
        (bytes.fromhex("ffd8ffe000104a464946"), "image/jpeg"),
        (b"GIF89a\x01\x00\x01\x00", "image/gif"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "image/avif"),
        (b"", TEXT),
        (b"\x89PNG", TEXT),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", TEXT),
        (b"\x00\x00\x00\x1cftypisom\x00\x00\x00\x00", TEXT),
        (b"BM\x00\x00", TEXT),
        (b"%PDF-1.7", TEXT),
        (b"<svg xmlns=", TEXT),
        (b'<?xml version="1.0"?>', TEXT),
        (b"<!doctype html>", TEXT),
        (b"\xef\xbb\xbf<html>", TEXT),
    ],
)
def test_only_pictures_are_served_as_pictures(head: bytes, expected: str) -> None:
    assert media_type(head) == expected


@given(st.binary(max_size=32))
def test_nothing_becomes_a_document(head: bytes) -> None:
    assert media_type(head) in IMAGES | {TEXT}


@given(st.text(max_size=400), st.booleans())
def test_a_name_cannot_leave_its_header(name: str, download: bool) -> None:
    value = content_disposition(f"folder/{name}", download=download)
    assert value.isascii()
    assert value.isprintable()
    assert value.startswith("attachment; " if download else "inline; ")
    assert value.count('"') == 2
    assert re.fullmatch(r"[A-Za-z0-9%._~-]*", value.split("filename*=UTF-8''")[1])


def test_the_name_itself_is_kept() -> None:
    assert (
        content_disposition("a/Übung 1.txt", download=True)
        == "attachment; filename=\"_bung 1.txt\"; filename*=UTF-8''%C3%9Cbung%201.txt"
    )
