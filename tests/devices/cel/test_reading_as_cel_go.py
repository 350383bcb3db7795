"""What cel-go's own parser says, by the tests of it that ``@bufbuild/cel-spec`` publishes as well."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from allotment.devices.cel import CompileError
from allotment.devices.cel.grammar import Syntax
from allotment.devices.cel.macros import STANDARD
from allotment.devices.cel.parser import parse
from tests.devices.cel.spec_package import spec_tests

pytestmark = pytest.mark.network

LEAST = 175
"""So many tests ask for nothing but the usual limits."""
OTHER_LIMITS = ("recursion", "recovery")
SYNTAXES = tuple(Syntax(optionals, backticks) for optionals, backticks in product((True, False), repeat=2))
"""The tests do not say which of the newer forms they allow."""
KNOWN: Mapping[str, str] = {
    "[].existsOne(__result__, __result__)": "a macro that Kubernetes' cel-go has with two names only",
}
"""What is otherwise here, as it is in Kubernetes, and why."""


def said(text: str, syntax: Syntax) -> str | None:
    """The first thing that is said of an expression, if it cannot be read."""
    try:
        parse(text, STANDARD, syntax)
    except CompileError as error:
        return first(error.text.replace("<input>", ""))
    return None


def first(text: str) -> str:
    """The first of several errors; the rest come of how a generated parser finds back into the text."""
    return text.partition("\nERROR:")[0]


def test_expressions_are_read_or_refused_with_the_same_words() -> None:
    cases: list[Mapping[str, Any]] = [
        case
        for case in spec_tests()["parsing"]["tests"]
        if not any(limit in case.get("error", "") for limit in OTHER_LIMITS)
    ]
    assert len(cases) >= LEAST
    wrong = {
        case["original"]["expr"]: said(case["original"]["expr"], SYNTAXES[0])
        for case in cases
        if (None if "ast" in case else first(case["error"]))
        not in {said(case["original"]["expr"], syntax) for syntax in SYNTAXES}
    }
    assert wrong.keys() == KNOWN.keys(), wrong
