"""The tree of an expression.

Nodes are numbered in the order in which they are made, and know where in the text they stand; what the
checker finds out is kept beside them, under their numbers. ``&&``, ``+`` and the rest are calls of functions
with cel-go's names (``_&&_``), macros have been expanded into comprehensions.
"""

from __future__ import annotations

from dataclasses import dataclass

from allotment.devices.cel.numbers64 import UInt

LiteralValue = None | bool | int | UInt | float | str | bytes


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant."""

    id: int
    offset: int
    value: LiteralValue


@dataclass(frozen=True, slots=True, eq=False)
class Ident:
    """A name."""

    id: int
    offset: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """``operand.field``, or, within ``has()``, whether it is there."""

    id: int
    offset: int
    operand: Expr
    field: str
    test_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """``function(arguments)`` or ``target.function(arguments)``."""

    id: int
    offset: int
    function: str
    arguments: tuple[Expr, ...]
    target: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ListExpr:
    """``[a, ?b]``; ``optional`` holds the indexes of those with a question mark."""

    id: int
    offset: int
    elements: tuple[Expr, ...]
    optional: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """``key: value`` of a map."""

    id: int
    offset: int
    key: Expr
    value: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """``name: value`` of a message."""

    id: int
    offset: int
    name: str
    value: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MapExpr:
    """``{key: value, ?key: value}``."""

    id: int
    offset: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StructExpr:
    """``Name{field: value}``."""

    id: int
    offset: int
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comprehension:
    """What a macro means: a walk over ``range`` that folds ``step`` into a result while ``condition``."""

    id: int
    offset: int
    range: Expr
    variable: str
    second_variable: str
    accumulator: str
    initial: Expr
    condition: Expr
    step: Expr
    result: Expr


Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension

ACCUMULATOR = "@result"
UNUSED = "#unused"


def literal_text(node: Expr) -> str | None:
    """The text of a constant that is one."""
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else None


def is_binding(node: Comprehension) -> bool:
    """Whether a comprehension is ``cel.bind``: no walk, only a name for a value."""
    return (
        isinstance(node.range, ListExpr)
        and not node.range.elements
        and isinstance(node.condition, Literal)
        and node.condition.value is False
        and node.accumulator != "__result__"
    )


def children(node: Expr) -> tuple[Expr, ...]:  # noqa: PLR0911 - one line a kind of node
    """The nodes directly below one."""
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return node.arguments if node.target is None else (node.target, *node.arguments)
        case ListExpr():
            return node.elements
        case MapExpr():
            return tuple(part for entry in node.entries for part in (entry.key, entry.value))
        case StructExpr():
            return tuple(entry.value for entry in node.fields)
        case Comprehension():
            return (node.range, node.initial, node.condition, node.step, node.result)
        case _:
            return ()
