import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import Refusal
from gateway.domain.sessions import Claims, issue, judge_session

KEY = bytes(range(32))
NOW = 1_800_000_000_000
CLAIMS = Claims("00112233445566778899aabbccddeeff", NOW + 1)
TOKEN = issue(KEY, CLAIMS).encode()


def judge(*tokens: bytes, now: int = NOW, key: bytes = KEY, ended: frozenset[str] = frozenset()) -> str:
    judged = judge_session(key, list(tokens), now=now, ended=ended)
    return judged.code if isinstance(judged, Refusal) else "ok"


def test_a_token_of_ours_gives_its_claims() -> None:
    assert judge_session(KEY, [TOKEN], now=NOW, ended=frozenset()) == CLAIMS


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        (errors.SESSION_MISSING, judge()),
        (errors.SESSION_INVALID, judge(b"")),
        (errors.SESSION_INVALID, judge(TOKEN, TOKEN)),
        (errors.SESSION_INVALID, judge(TOKEN + b"\n")),
        (errors.SESSION_INVALID, judge(TOKEN, key=b"x" * 32)),
        (errors.SESSION_INVALID, judge(issue(KEY, Claims(CLAIMS.session_id, NOW + 10**9)).encode().replace(b"1801", b"1901"))),
        (errors.SESSION_EXPIRED, judge(TOKEN, now=NOW + 1)),
        (errors.SESSION_EXPIRED, judge(TOKEN, ended=frozenset({CLAIMS.session_id}))),
    ],
)
def test_any_other_is_refused_for_its_reason(code: str, answer: str) -> None:
    assert answer == code


@given(place=st.integers(0, len(TOKEN) - 1), byte=st.integers(0, 255))
def test_a_token_with_one_changed_byte_is_refused(place: int, byte: int) -> None:
    changed = TOKEN[:place] + bytes([byte]) + TOKEN[place + 1 :]
    # The last character of the code carries two bits that decode to nothing, but the text is compared, not its bytes.
    assert (judge(changed) == "ok") == (changed == TOKEN)
