"""Finding types and references, as cel-go's ``checker/checker.go`` does, with its messages.

The checker goes on after an error, with a type that fits everywhere, so that all that is wrong is said at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.cel_types import Bindings, CelType
from allotment.devices.cel.checked import Checked, Reference
from allotment.devices.cel.declarations import Overload
from allotment.devices.cel.naming import Names, dotted_name, parameters_of
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.source import Issue, Source
from allotment.devices.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Field,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    literal_text,
)

_LITERALS: Final[Mapping[type, CelType]] = {
    bool: t.BOOL,
    bytes: t.BYTES,
    float: t.DOUBLE,
    int: t.INT,
    type(None): t.NULL,
    str: t.STRING,
    UInt: t.UINT,
}
_LOGICAL: Final = frozenset({"_&&_", "_||_"})
_OPEN: Final = frozenset({"dyn", "error", "parameter"})


def check(tree: Expr, source: Source, names: Names, *, forgiving: bool = False) -> Checked:
    """The types and references of a tree; CompileError with everything that is wrong.

    ``forgiving``: nothing is refused, and whatever does not fit shows when it is evaluated.
    """
    checker = _Checker(names, forgiving=forgiving)
    checker.check(tree)
    if checker.issues:
        raise source.error(checker.issues)
    types = {
        number: checker.bindings.resolve(found, free_is_dyn=True) for number, found in checker.types.items()
    }
    return Checked(tree, types, checker.references)


class _Checker:
    """Walks a tree; ``scopes`` are the names of comprehensions, the innermost last."""

    def __init__(self, names: Names, *, forgiving: bool) -> None:
        self.names = names
        self.forgiving = forgiving
        self.bindings = Bindings()
        self.types: dict[int, CelType] = {}
        self.references: dict[int, Reference] = {}
        self.issues: list[Issue] = []
        self.scopes: list[dict[str, CelType]] = []
        self.free = 0

    def report(self, node: Expr | Field, message: str) -> None:
        if not self.forgiving:
            self.issues.append(Issue(node.offset, message))

    def undeclared(self, node: Expr, name: str) -> CelType:
        self.report(node, f"undeclared reference to '{name}' (in container '{self.names.container}')")
        self.references[node.id] = Reference(name)
        return t.ERROR

    def mismatch(self, node: Expr, expected: CelType, found: CelType) -> None:
        self.report(node, f"expected type '{t.format_type(expected)}' but found '{t.format_type(found)}'")

    def free_type(self) -> CelType:
        self.free += 1
        return t.parameter(f"_var{self.free - 1}")

    def check(self, node: Expr) -> CelType:
        """The type of a node, noted down."""
        found = _RULES[type(node)](self, node)
        self.types[node.id] = found
        return found

    def literal(self, node: Literal) -> CelType:
        return _LITERALS[type(node.value)]

    def local(self, name: str) -> CelType | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def resolve_name(self, node: Expr, name: str) -> CelType | None:
        """The type of a name, and the reference to what it names."""
        for candidate in self.names.candidates(name):
            variable = self.names.variables.get(candidate)
            if variable is not None:
                self.references[node.id] = Reference(candidate)
                return variable
            named = self.names.types.get(candidate)
            if named is not None:
                self.references[node.id] = Reference(candidate, named)
                return t.type_of(named)
            constant = self.names.constants.get(candidate)
            if constant is not None:
                self.references[node.id] = Reference(candidate, constant=constant)
                return t.INT
        return None

    def ident(self, node: Ident) -> CelType:
        local = self.local(node.name)
        if local is not None:
            self.references[node.id] = Reference(node.name)
            return local
        found = self.resolve_name(node, node.name)
        return self.undeclared(node, node.name) if found is None else found

    def select(self, node: Select) -> CelType:
        dotted = None if node.test_only else dotted_name(node)
        if dotted is not None and self.local(dotted.partition(".")[0]) is None:
            found = self.resolve_name(node, dotted)
            if found is not None:
                return found
        field = self.field(node, node.operand, node.field, optional=False)
        return t.BOOL if node.test_only else self.bindings.resolve(field)

    def field(self, node: Expr, operand: Expr, name: str, *, optional: bool) -> CelType:
        """The type of a field of a value."""
        target, was_optional = t.unwrapped(self.bindings.resolve(self.check(operand)))
        if target.kind == "map":
            found = target.parameters[1]
        elif target.kind == "struct":
            declared = self.names.field(target.name, name)
            if declared is None and self.names.has_fields(target.name):
                self.report(node, f"undefined field '{name}'")
            elif declared is None:
                self.report(node, f"unexpected failed resolution of '{target.name}'")
            found = declared or t.ERROR
        else:
            if target.kind == "parameter":
                self.bindings.assignable(t.DYN, target)
            elif not (t.is_dyn(target) or target.kind == "error"):
                self.report(node, f"type '{t.format_type(target)}' does not support field selection")
            found = t.DYN
        return t.optional_of(found) if was_optional or optional else found

    def call(self, node: Call) -> CelType:
        if node.function == "_?._":
            return self.optional_select(node)
        arguments = tuple(self.check(argument) for argument in node.arguments)
        if node.target is None:
            return self.function(node, node.function, arguments, is_member=False)
        prefix = dotted_name(node.target)
        known = None if prefix is None else self.names.functions(f"{prefix}.{node.function}")
        if known is not None:
            return self.resolve_call(node, *known, arguments, is_member=False, namespaced=True)
        return self.function(node, node.function, (self.check(node.target), *arguments), is_member=True)

    def function(self, node: Call, name: str, arguments: tuple[CelType, ...], *, is_member: bool) -> CelType:
        """A call of a function that is not named by a dotted name."""
        known = (name, self.names.overloads.get(name)) if is_member else self.names.functions(name)
        if known is None or known[1] is None:
            return self.undeclared(node, name)
        return self.resolve_call(node, known[0], known[1], arguments, is_member=is_member)

    def optional_select(self, node: Call) -> CelType:
        operand, field = node.arguments
        found = self.field(node, operand, literal_text(field) or "", optional=True)
        self.types[field.id] = t.STRING
        self.references[node.id] = Reference("_?._", overloads=("select_optional_field",))
        return self.bindings.resolve(found)

    def resolve_call(
        self,
        node: Call,
        name: str,
        overloads: tuple[Overload, ...],
        arguments: tuple[CelType, ...],
        *,
        is_member: bool,
        namespaced: bool = False,
    ) -> CelType:
        """The result of a call: of its one matching form, or ``dyn`` where several do not agree."""
        if name in _LOGICAL:
            return self.logical(node, name, overloads, arguments)
        result: CelType | None = None
        matching: list[str] = []
        for overload in overloads:
            if overload.is_member != is_member:
                continue
            wanted, outcome = self.instance(overload)
            if not self.bindings.all_assignable(arguments, wanted):
                continue
            matching.append(overload.id)
            found = self.bindings.resolve(outcome)
            if result is None:
                result = found
            elif not t.is_dyn(result) and t.unboxed(found) != t.unboxed(result):
                result = t.DYN
        if result is None:
            fitting = [each.id for each in overloads if each.is_member == is_member and each.takes(arguments)]
            self.references[node.id] = Reference(name, overloads=tuple(fitting), namespaced=namespaced)
            shown = tuple(self.bindings.resolve(argument, free_is_dyn=True) for argument in arguments)
            signature = t.format_signature(shown, is_member=is_member)
            self.report(node, f"found no matching overload for '{name}' applied to '{signature}'")
            return t.ERROR
        self.references[node.id] = Reference(name, overloads=tuple(matching), namespaced=namespaced)
        return result

    def logical(
        self, node: Call, name: str, overloads: tuple[Overload, ...], arguments: tuple[CelType, ...]
    ) -> CelType:
        wrong = False
        for argument, found in zip(node.arguments, arguments, strict=True):
            if not self.bindings.assignable(found, t.BOOL):
                self.mismatch(argument, t.BOOL, found)
                wrong = True
        self.references[node.id] = Reference(name, overloads=(overloads[0].id,))
        return t.ERROR if wrong else t.BOOL

    def instance(self, overload: Overload) -> tuple[tuple[CelType, ...], CelType]:
        """A form with type parameters of its own."""
        fresh = Bindings()
        for each in (*overload.arguments, overload.result):
            for parameter in parameters_of(each):
                if parameter not in fresh.found:
                    fresh.found[parameter] = self.free_type()
        if not fresh.found:
            return overload.arguments, overload.result
        return tuple(map(fresh.resolve, overload.arguments)), fresh.resolve(overload.result)

    def element(self, node: Expr, found: CelType, *, optional: bool) -> CelType:
        """The type that an element brings to its list or map; an optional one what it holds."""
        if not optional:
            return found
        inner, was_optional = t.unwrapped(found)
        if not was_optional and not t.is_dyn(inner):
            self.mismatch(node, t.optional_of(inner), inner)
        return inner

    def joined(self, before: CelType | None, found: CelType) -> CelType:
        """The type of elements of two types."""
        if before is None:
            return found
        return t.most_general(before, found) if self.bindings.assignable(before, found) else t.DYN

    def list_expr(self, node: ListExpr) -> CelType:
        joined: CelType | None = None
        for index, element in enumerate(node.elements):
            found = self.element(element, self.check(element), optional=index in node.optional)
            joined = self.joined(joined, found)
        return t.list_of(joined or self.free_type())

    def map_expr(self, node: MapExpr) -> CelType:
        keys: CelType | None = None
        values: CelType | None = None
        for entry in node.entries:
            keys = self.joined(keys, self.check(entry.key))
            values = self.joined(
                values, self.element(entry.value, self.check(entry.value), optional=entry.optional)
            )
        if keys is None or values is None:
            keys, values = self.free_type(), self.free_type()
        return t.map_of(keys, values)

    def struct(self, node: StructExpr) -> CelType:
        """A message: a type with fields, and values that fit them."""
        name = next((each for each in self.names.candidates(node.name) if each in self.names.types), None)
        if name is None:
            return self.undeclared(node, node.name)
        self.references[node.id] = Reference(name)
        made = self.names.types[name]
        if name not in self.names.structs:
            self.report(node, f"'{made.name}' is not a message type")
            made = t.ERROR
        for entry in node.fields:
            wanted = self.names.field(name, entry.name)
            if wanted is None:
                self.report(entry, f"undefined field '{entry.name}'")
            found = self.element(entry.value, self.check(entry.value), optional=entry.optional)
            if wanted is not None and not self.bindings.assignable(wanted, found):
                expected, given = t.format_type(wanted), t.format_type(found)
                what = f"expected type of field '{entry.name}' is '{expected}' but provided type is '{given}'"
                self.report(entry, what)
        return made

    def comprehension(self, node: Comprehension) -> CelType:
        self.check(node.range)
        accumulated = self.check(node.initial)
        walked = self.bindings.resolve(self.types[node.range.id])
        first, second = self.walked(node, walked)
        self.scopes.append({node.accumulator: accumulated})
        self.scopes.append(
            {node.variable: first, **({node.second_variable: second} if node.second_variable else {})}
        )
        self.check(node.condition)
        self.assert_type(node.condition, t.BOOL)
        self.check(node.step)
        self.assert_type(node.step, accumulated)
        self.scopes.pop()
        result = self.check(node.result)
        self.scopes.pop()
        return self.bindings.resolve(result)

    def walked(self, node: Comprehension, walked: CelType) -> tuple[CelType, CelType]:
        """The types of the names of a walk."""
        if walked.kind == "list":
            (element,) = walked.parameters
            return (t.INT, element) if node.second_variable else (element, element)
        if walked.kind == "map":
            return walked.parameters[0], walked.parameters[1]
        if walked.kind in _OPEN:
            self.bindings.assignable(t.DYN, walked)
            return t.DYN, t.DYN
        shown = t.format_type(walked)
        self.report(
            node.range,
            f"expression of type '{shown}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
        )
        return t.ERROR, t.ERROR

    def assert_type(self, node: Expr, wanted: CelType) -> None:
        found = self.types[node.id]
        if not self.bindings.assignable(wanted, found):
            self.mismatch(node, wanted, found)


_RULES: Final[Mapping[type, Callable[[_Checker, Any], CelType]]] = {
    Literal: _Checker.literal,
    Ident: _Checker.ident,
    Select: _Checker.select,
    Call: _Checker.call,
    ListExpr: _Checker.list_expr,
    MapExpr: _Checker.map_expr,
    StructExpr: _Checker.struct,
    Comprehension: _Checker.comprehension,
}
