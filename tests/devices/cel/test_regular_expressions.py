from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.cel.regex import RegexError, compile_regex


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("A100.*80GB", "NVIDIA A100-SXM4-80GB", (7, 21)),
        ("^a|b$", "xb", (1, 2)),
        ("", "abc", (0, 0)),
        ("(?i)h100", "NVIDIA H100", (7, 11)),
        (r"\bfoo\b", "a foo b", (2, 5)),
        ("x{2,3}", "xxxx", (0, 3)),
        ("x{2,3}?", "xxxx", (0, 2)),
        ("[[:digit:]]+", "ab12", (2, 4)),
        (r"\pL+", "1é", (1, 2)),
        ("(?m)^b$", "a\nb", (2, 3)),
        ("(?s)a.b", "a\nb", (0, 3)),
        ("a.b", "a\nb", None),
        (r"\Qa.b\E", "axb", None),
        (r"\x41\x{42}\103", "ABC", (0, 3)),
        ("(?P<n>a)(?:b)", "ab", (0, 2)),
        ("a||b", "b", (0, 0)),
        ("[^a-c]", "abcd", (3, 4)),
        ("[]a]", "]", (0, 1)),
        ("a{,2}", "a{,2}", (0, 5)),
        (r"$^", "", (0, 0)),
    ],
)
def test_where_it_matches(pattern: str, text: str, span: tuple[int, int] | None) -> None:
    regex = compile_regex(pattern)
    assert regex.find(text) == span
    assert regex.matches(text) is (span is not None)


@pytest.mark.parametrize(
    "pattern",
    ["[", "(?=a)", "(?<!a)", r"(a)\1", "a**", "a{1001}", "(", "a)", "*a", "(?P<n>a)(?P<n>b)", r"\8", "[b-a]",
     "(a{100}){100}", "\\", "[[:nope:]]", r"\p{Nope}", r"\x{110000}", "(?x)a", "(" * 500 + ")" * 500],
)  # fmt: skip
def test_what_re2_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError, match="error parsing regexp: "):
        compile_regex(pattern)


def test_patterns_that_make_others_backtrack_for_ever_do_not_here() -> None:
    for pattern in ("(a*)*b", "(a|a)*b", "(a?){200}a{200}c", "(.*)(.*)(.*)(.*)x"):
        assert not compile_regex(pattern).matches("a" * 2000)


SAFE = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", "^", "$", r"\b"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        inner.map(lambda part: f"(?:{part})?"),
        st.tuples(st.sampled_from("ab."), st.sampled_from(["*", "+", "?", "*?", "{1,2}"])).map("".join),
    ),
    max_leaves=8,
)


@given(SAFE, st.text("ab1\n ", max_size=8))
@settings(max_examples=300)
def test_it_agrees_with_python_where_python_is_safe(pattern: str, text: str) -> None:
    found = re.compile(pattern.replace("$", r"\Z"), re.ASCII).search(text)
    assert compile_regex(pattern).find(text) == (found.span() if found else None)
    assert compile_regex(pattern).matches(text) is (found is not None)
