"""Every rule that the code can name is in the table, and every rule of the table is named somewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import allotment
from allotment.repository.rules import DOCUMENT_RULES, REPOSITORY_RULES, RULES, VALUE_RULES

ROOMS = ("documents", "platform", "repository")
CALLS = frozenset({"found", "refuse", "told", "_error", "_refused", "Finding", "Choice"})


def named_rules() -> set[str]:
    """The words with a hyphen, or of the table, that are given to whatever makes findings."""
    words: set[str] = set()
    for room in ROOMS:
        for path in (Path(allotment.__file__).parent / room).glob("*.py"):
            if path.name == "rules.py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in RULES:
                    words.add(node.value)
                if isinstance(node, ast.Call) and _name(node.func) in CALLS:
                    words |= {rule for rule in map(_rule, node.args[:2]) if rule}
    return words


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _rule(argument: ast.expr) -> str:
    """The argument, if it is a constant that looks like a rule: lower-case words joined by hyphens."""
    value = argument.value if isinstance(argument, ast.Constant) else None
    is_rule = isinstance(value, str) and value.replace("-", "").isalpha() and value.islower() and "-" in value
    return str(value) if is_rule else ""


def test_every_rule_that_is_named_is_in_the_table_and_the_other_way_round() -> None:
    assert named_rules() == set(RULES)


def test_every_meaning_is_a_sentence() -> None:
    for rule, meaning in RULES.items():
        assert meaning[0].isupper(), rule
        assert meaning.endswith("."), rule


def test_the_tables_do_not_overlap() -> None:
    assert len(RULES) == len(DOCUMENT_RULES) + len(VALUE_RULES) + len(REPOSITORY_RULES)
