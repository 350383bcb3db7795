"""What the checker asks an environment for, and names with dots in them."""

from __future__ import annotations

from typing import Protocol

from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.declarations import Overload
from allotment.devices.cel.syntax import Expr, Ident, Select


class Names(Protocol):
    """What the checker asks an environment for."""

    def variable(self, name: str) -> CelType | None:
        """The type of a variable."""

    def type_named(self, name: str) -> CelType | None:
        """The type that a name stands for."""

    def functions(self, name: str) -> tuple[Overload, ...] | None:
        """The forms of a function."""

    def has_fields(self, struct: str) -> bool:
        """Whether the fields of an object are declared."""

    def field(self, struct: str, name: str) -> CelType | None:
        """The type of an object's field."""


def dotted_name(node: Expr) -> str | None:
    """``a.b.c`` as one name, where a node is nothing but that."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join([node.name, *reversed(parts)])


def parameters_of(one: CelType) -> list[CelType]:
    """The type parameters within a type."""
    if one.kind == "parameter":
        return [one]
    return [found for part in one.parameters for found in parameters_of(part)]
