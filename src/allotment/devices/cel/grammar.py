"""Tables of CEL's grammar: precedence, reserved words, what may come where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.devices.cel import literals
from allotment.devices.cel.lexer import Token
from allotment.devices.cel.syntax import Call, Expr, LiteralValue

RELATIONS: Final = frozenset({"==", "!=", "<", "<=", ">=", ">", "in"})
SUMS: Final = frozenset({"+", "-"})
PRODUCTS: Final = frozenset({"*", "/", "%"})
LEVELS: Final = (RELATIONS, SUMS, PRODUCTS)
FUNCTIONS: Final = {"in": "@in"}
RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)
STARTS: Final = (
    *("[", "{", "(", ".", "-", "!", "true", "false", "null"),
    *("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"),
)


@dataclass(frozen=True, slots=True)
class Syntax:
    """What of the grammar is allowed: ``a.?b`` and ``[?a]``, names between backticks."""

    optionals: bool = True
    backticks: bool = True


EVERYTHING: Final = Syntax()
CONSTANTS: Final[Mapping[str, LiteralValue]] = {"true": True, "false": False, "null": None}
NUMBERS: Final = frozenset({"NUM_INT", "NUM_FLOAT"})
BEHIND: Final = {
    ":": frozenset(STARTS),
    ")": frozenset({":", "]", ")", ",", "}", "<EOF>"}),
    "]": frozenset({"<EOF>"}),
}
"""What can stand where a sign was forgotten."""
ORDER: Final = ("[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":")


def constant_value(token: Token, *, negative: bool) -> LiteralValue:
    """What a constant stands for."""
    match token.kind:
        case "NUM_INT":
            return literals.int_literal(token.text, negative=negative)
        case "NUM_UINT":
            return literals.uint_literal(token.text)
        case "NUM_FLOAT":
            return literals.float_literal(token.text, negative=negative)
        case "STRING":
            return literals.string_literal(token.text)
        case "BYTES":
            return literals.bytes_literal(token.text)
        case kind:
            return CONSTANTS[kind]


def balanced(function: str, terms: list[Expr], operators: list[tuple[int, int]], low: int, high: int) -> Call:
    """A chain as a tree of the least depth."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else balanced(function, terms, operators, low, middle - 1)
    right = terms[middle + 1] if middle == high else balanced(function, terms, operators, middle + 1, high)
    number, offset = operators[middle]
    return Call(number, offset, function, (left, right))


def expected(kinds: tuple[str, ...]) -> str:
    """What could come, as the generated parser lists it: signs in the order of the grammar, then the rest."""
    signs = [f"'{sign}'" for sign in ORDER if sign in kinds]
    words = [f"'{word}'" for word in ("true", "false", "null")]
    return "{" + ", ".join([*signs, *words, *STARTS[9:]]) + "}"
