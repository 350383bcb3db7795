"""``cel.block([a, b], result)``: common parts of an expression under numbers, ``cel.index(0)``.

Optimizers write such expressions, people do not; cel-spec's tests name them by these macros. A block is read
as ``cel.bind`` within ``cel.bind``, since both compute a part when it is first asked for, and then keep it.
``cel.iterVar(depth, number)`` and ``cel.accuVar`` are names that no text can spell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.devices.cel.building import MacroBuilder, MacroError
from allotment.devices.cel.macros import Macro, MacroKey, named
from allotment.devices.cel.syntax import Expr, Ident, ListExpr, Literal


def _is_cel(target: Expr) -> bool:
    return isinstance(target, Ident) and target.name == "cel"


def _number(node: Expr) -> int:
    if isinstance(node, Literal) and type(node.value) is int and node.value >= 0:
        return node.value
    raise MacroError(node.offset, "a number of a block must be a constant that is not negative")


def _block(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr | None:
    if not _is_cel(target):
        return None
    parts, result = arguments
    if not isinstance(parts, ListExpr):
        raise MacroError(parts.offset, "cel.block() needs a list of expressions")
    for place in reversed(range(len(parts.elements))):
        result = named(make, f"@index{place}", parts.elements[place], result)
    return result


def _numbered(prefix: str, separator: str = ":") -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr | None:
        if not _is_cel(target):
            return None
        return make.ident(prefix + separator.join(str(_number(argument)) for argument in arguments))

    return expand


BLOCKS: Final[Mapping[MacroKey, Macro]] = {
    ("block", 2, True): _block,
    ("index", 1, True): _numbered("@index"),
    ("iterVar", 2, True): _numbered("@it:"),
    ("accuVar", 2, True): _numbered("@ac:"),
}
