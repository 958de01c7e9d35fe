from contracts import errors
from gateway.domain.login_codes import LIFETIME_MILLISECONDS, MAX_CODES, MAX_WRONG_PER_MINUTE, LoginCodes

NOW = 1_800_000_000_000


def code_of(codes: LoginCodes, code: str, now: int = NOW) -> str | None:
    refusal = codes.redeem(code, now=now)
    return refusal.code if refusal else None


def test_a_code_works_once() -> None:
    codes = LoginCodes()
    codes.add("good", now=NOW)
    assert code_of(codes, "good") is None
    second = codes.redeem("good", now=NOW)
    assert second is not None
    assert (second.code, "used already" in second.detail) == (errors.LOGIN_CODE, True)


def test_a_code_works_for_ten_minutes() -> None:
    codes = LoginCodes()
    codes.add("good", now=NOW)
    late = codes.redeem("good", now=NOW + LIFETIME_MILLISECONDS)
    assert late is not None
    assert "expired" in late.detail
    assert code_of(codes, "good", NOW + LIFETIME_MILLISECONDS - 1) is None


def test_several_codes_are_good_at_once_and_the_oldest_gives_way() -> None:
    codes = LoginCodes()
    for number in range(MAX_CODES + 1):
        codes.add(f"code {number}", now=NOW)
    assert code_of(codes, "code 0") == errors.LOGIN_CODE
    assert [code_of(codes, f"code {number}") for number in (1, 2, MAX_CODES)] == [None, None, None]


def test_guessing_is_slowed_down_but_locks_nobody_out() -> None:
    codes = LoginCodes()
    codes.add("good", now=NOW)
    wrong = [code_of(codes, f"guess {number}") for number in range(MAX_WRONG_PER_MINUTE + 1)]
    assert wrong == [errors.LOGIN_CODE] * MAX_WRONG_PER_MINUTE + [errors.LOGIN_TOO_MANY]
    assert code_of(codes, "good") is None
    assert code_of(codes, "guess", NOW + 60_000) == errors.LOGIN_CODE


def test_odd_text_is_a_wrong_code() -> None:
    assert code_of(LoginCodes(), "\ud800\x00") == errors.LOGIN_CODE


def test_no_code_is_kept_as_text() -> None:
    codes = LoginCodes()
    codes.add("a secret code", now=NOW)
    assert "a secret code" not in repr(codes)
