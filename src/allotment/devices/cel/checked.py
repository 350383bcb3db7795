"""What the checker finds out about a tree: a type for every node, and what names and calls refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.syntax import Expr


@dataclass(frozen=True, slots=True)
class Reference:
    """What a node refers to: a variable, a type or a constant by name, or a function and which of its forms
    may apply.

    ``namespaced`` calls look like calls on a value (``optional.of(x)``) but are of a function with a dotted
    name.
    """

    name: str
    type: CelType | None = None
    overloads: tuple[str, ...] = ()
    namespaced: bool = False
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A tree that has passed the checker."""

    tree: Expr
    types: Mapping[int, CelType]
    references: Mapping[int, Reference]

    @property
    def result(self) -> CelType:
        """The type of the whole."""
        return self.types[self.tree.id]

    def type_of(self, node: Expr) -> CelType:
        """The type of a node."""
        return self.types[node.id]

    def overloads(self, node: Expr) -> tuple[str, ...]:
        """The forms that may apply to a call."""
        reference = self.references.get(node.id)
        return reference.overloads if reference else ()
