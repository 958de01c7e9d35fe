from gateway.domain.headers import DEFAULTS, PAGE_POLICY, with_defaults


def test_an_answer_keeps_its_own_headers_and_gets_the_others() -> None:
    completed = with_defaults([(b"Cache-Control", b"immutable"), (b"content-type", b"text/css")])
    names = [name.lower() for name, _ in completed]
    assert len(names) == len(set(names))
    assert dict(completed)[b"Cache-Control"] == b"immutable"
    assert {name for name, _ in DEFAULTS} <= set(names)


def test_the_page_allows_no_inline_script_no_frame_and_no_html_from_text() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in PAGE_POLICY.split(";"))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert rules["trusted-types"] == "'none'"
    assert "unsafe" not in PAGE_POLICY
    assert "*" not in PAGE_POLICY
