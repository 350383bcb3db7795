"""Making nodes: every one gets its number, and macros make theirs where the macro was called."""

from __future__ import annotations

from collections.abc import Sequence

from allotment.devices.cel.source import Issue
from allotment.devices.cel.syntax import (
    ACCUMULATOR,
    Call,
    Comprehension,
    Entry,
    Expr,
    Field,
    Ident,
    ListExpr,
    Literal,
    LiteralValue,
    MapExpr,
    Select,
    StructExpr,
)


class MacroError(Exception):
    """A macro was called with what it cannot take."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.issue = Issue(offset, message)


class Builder:
    """Numbers nodes as they are made."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0

    def number(self) -> int:
        """The next number."""
        self.last += 1
        return self.last

    def copy(self, node: Expr) -> Expr:  # noqa: PLR0911 - one line a kind of node
        """The same tree again, with numbers of its own."""
        match node:
            case Literal():
                return Literal(self.number(), node.offset, node.value)
            case Ident():
                return Ident(self.number(), node.offset, node.name)
            case Select():
                return Select(self.number(), node.offset, self.copy(node.operand), node.field, node.test_only)
            case Call():
                target = None if node.target is None else self.copy(node.target)
                arguments = tuple(self.copy(argument) for argument in node.arguments)
                return Call(self.number(), node.offset, node.function, arguments, target)
            case ListExpr():
                elements = tuple(self.copy(element) for element in node.elements)
                return ListExpr(self.number(), node.offset, elements, node.optional)
            case MapExpr():
                return MapExpr(self.number(), node.offset, tuple(map(self._entry, node.entries)))
            case StructExpr():
                return StructExpr(self.number(), node.offset, node.name, tuple(map(self._field, node.fields)))
            case Comprehension():
                parts = (node.range, node.initial, node.condition, node.step, node.result)
                walked, initial, condition, step, result = map(self.copy, parts)
                names = (node.variable, node.second_variable, node.accumulator)
                return Comprehension(
                    self.number(), node.offset, walked, *names, initial, condition, step, result
                )

    def _entry(self, entry: Entry) -> Entry:
        return Entry(
            self.number(), entry.offset, self.copy(entry.key), self.copy(entry.value), entry.optional
        )

    def _field(self, field: Field) -> Field:
        return Field(self.number(), field.offset, field.name, self.copy(field.value), field.optional)


class MacroBuilder:
    """What a macro makes its expansion with; all of it stands where the macro was called."""

    __slots__ = ("builder", "offset")

    def __init__(self, builder: Builder, offset: int) -> None:
        self.builder = builder
        self.offset = offset

    def copy(self, node: Expr) -> Expr:
        """The same tree again, for a macro that uses an argument twice."""
        return self.builder.copy(node)

    def literal(self, value: LiteralValue) -> Literal:
        """A constant."""
        return Literal(self.builder.number(), self.offset, value)

    def ident(self, name: str) -> Ident:
        """A name."""
        return Ident(self.builder.number(), self.offset, name)

    def result(self) -> Ident:
        """The name of what a comprehension has gathered so far."""
        return self.ident(ACCUMULATOR)

    def present(self, operand: Expr, field: str) -> Select:
        """Whether a field is there."""
        return Select(self.builder.number(), self.offset, operand, field, test_only=True)

    def list(self, *elements: Expr) -> ListExpr:
        """A list."""
        return ListExpr(self.builder.number(), self.offset, elements)

    def map(self) -> MapExpr:
        """An empty map."""
        return MapExpr(self.builder.number(), self.offset, ())

    def call(self, function: str, *arguments: Expr) -> Call:
        """A call of a function."""
        return Call(self.builder.number(), self.offset, function, arguments)

    def member(self, target: Expr, function: str, *arguments: Expr) -> Call:
        """A call of a function of a value."""
        return Call(self.builder.number(), self.offset, function, arguments, target)

    def fold(
        self,
        walked: Expr,
        variables: Sequence[str],
        *,
        initial: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
        accumulator: str = ACCUMULATOR,
    ) -> Comprehension:
        """A walk over a list or a map."""
        first, second = variables if len(variables) == 2 else (variables[0], "")
        number = self.builder.number()
        return Comprehension(
            number, self.offset, walked, first, second, accumulator, initial, condition, step, result
        )
