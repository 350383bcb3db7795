"""A checked tree to closures: each node becomes a Python function that has its children at hand.

This is the quick way to an answer, without counting costs. What can be known before a device is met is
computed here: constants, patterns, quantities, and which form of a function is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.devices.cel import devices, folds, logic, paths
from allotment.devices.cel.calls import (
    Plan,
    check_key,
    constant,
    early,
    list_with_optionals,
    made_at_once,
    made_map,
    made_message,
    plain_call,
    quick,
    selection,
)
from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.checked import Checked, Reference
from allotment.devices.cel.dispatch import arguments_of, callee
from allotment.devices.cel.library.messages import UNDEFINED
from allotment.devices.cel.naming import STRICT_OPTIONALS, Names
from allotment.devices.cel.panics import may_panic
from allotment.devices.cel.paths import Compute
from allotment.devices.cel.shapes import known_shape
from allotment.devices.cel.source import CompileError
from allotment.devices.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    is_binding,
)


class Closures:
    """Makes closures; ``slots`` counts the places that local names need.

    ``strict``: by the letter of the specification. Kubernetes refuses a constant that cannot be converted at
    once, though the evaluation might never come to it, and takes keys of a map as they are.
    """

    def __init__(self, checked: Checked, names: Names, *, strict: bool = False) -> None:
        self.checked = checked
        self.names = names
        self.strict = strict
        self.slots = 0
        self.may_panic = False
        self.scopes: list[dict[str, Compute]] = []

    def plan(self, node: Expr) -> Plan:
        """The closure of a node, and its value where that is known."""
        return _PLANS[type(node)](self, node)

    def compute(self, node: Expr) -> Compute:
        """The closure of a node."""
        return self.plan(node).compute

    def slot(self) -> int:
        """A new place for a local name."""
        self.slots += 1
        return self.slots - 1

    def literal(self, node: Literal) -> Plan:
        """A constant."""
        return constant(node.value)

    def ident(self, node: Ident) -> Plan:
        """A local name, ``device``, or a type by name."""
        for scope in reversed(self.scopes):
            if node.name in scope:
                return Plan(scope[node.name])
        return self.named(self.checked.references[node.id])

    def named(self, reference: Reference) -> Plan:
        """A variable, or a type by name."""
        if reference.constant is not None:
            return constant(reference.constant)
        if reference.type is not None:
            return constant(type_value(reference.name, reference.type))
        return Plan(variable(reference.name, self.names))

    def select(self, node: Select) -> Plan:
        """``operand.field`` or ``has(operand.field)``."""
        reference = self.checked.references.get(node.id)
        if reference is not None:
            return self.named(reference)
        if self.is_device(node.operand):
            return constant(True) if node.test_only else Plan(paths.FIELDS[node.field])  # noqa: FBT003
        inner = self.domain(node.operand)
        if inner is not None:
            make = paths.has_entry if node.test_only else paths.entry
            return Plan(make(*inner, node.field))
        operand = self.compute(node.operand)
        field = node.field
        if node.test_only:
            return Plan(lambda device, slots: paths.is_present(operand(device, slots), field))
        return Plan(selection(operand, field))

    def is_device(self, node: Expr) -> bool:
        """Whether a node is the variable ``device`` itself."""
        return (
            isinstance(node, Ident)
            and node.name == devices.NAME
            and devices.STRUCT in self.names.structs
            and not any(node.name in scope for scope in self.scopes)
        )

    def domain(self, node: Expr) -> tuple[Compute, str] | None:
        """The field and the domain of ``device.attributes['domain']``."""
        if not (isinstance(node, Call) and node.function == "_[_]"):
            return None
        container, key = node.arguments
        if not (
            isinstance(container, Select) and not container.test_only and self.is_device(container.operand)
        ):
            return None
        field = paths.FIELDS[container.field]
        if (
            field in (paths.attributes, paths.capacity)
            and isinstance(key, Literal)
            and isinstance(key.value, str)
        ):
            return field, key.value
        return None

    def call(self, node: Call) -> Plan:
        """A call: of an operator with a closure of its own, or of a function."""
        special = _SPECIAL.get(self.checked.references[node.id].name)
        if special is not None:
            return special(self, node)
        called = callee(node, self.checked, self.names)
        plans = tuple(self.plan(argument) for argument in arguments_of(node, self.checked))
        known = early(called, plans, hasty=not self.strict)
        if known is not None:
            return known
        self.may_panic = self.may_panic or may_panic(called.overload)
        return Plan(quick(called, plans, self.names, strict=self.strict) or plain_call(called.compute, plans))

    def logical(self, node: Call) -> Plan:
        """``&&`` and ``||``."""
        one, other = map(self.compute, node.arguments)
        return Plan(logic.either(one, other, decides=node.function == "_||_"))

    def negation(self, node: Call) -> Plan:
        """``!``."""
        return Plan(logic.negated(self.compute(node.arguments[0])))

    def going_on(self, node: Call) -> Plan:
        """Whether a walk may go on."""
        return Plan(logic.not_strictly_false(self.compute(node.arguments[0])))

    def conditional(self, node: Call) -> Plan:
        """``?:``."""
        return Plan(logic.conditional(*map(self.compute, node.arguments)))

    def equality(self, node: Call) -> Plan:
        """``==`` and ``!=``."""
        one, other = map(self.plan, node.arguments)
        unequal = node.function == "_!=_"
        if other.is_constant:
            return Plan(logic.equal_to(one.compute, other.constant, unequal=unequal))
        left, right = one.compute, other.compute
        return Plan(logic.equal_values(left, right, unequal=unequal))

    def index(self, node: Call) -> Plan:
        """``[key]``, ``[?key]`` and ``.?field``."""
        container, key = node.arguments
        optional = node.function != "_[_]"
        found = None if optional else self.domain(node)
        if found is not None:
            return Plan(paths.domain(*found))
        operand, place = self.plan(container), self.plan(key)
        if place.is_constant and not self.strict:
            check_key(place.constant)
        inner = self.domain(container)
        if inner is not None and not optional and isinstance(place.constant, str):
            return Plan(paths.entry(*inner, place.constant))
        if not optional and isinstance(place.constant, str):
            return Plan(selection(operand.compute, place.constant))
        one, other = operand.compute, place.compute
        return Plan(
            lambda device, slots: paths.selected(one(device, slots), other(device, slots), optional=optional)
        )

    def fallback(self, node: Call) -> Plan:
        """``or`` and ``orValue``."""
        one, other = map(self.compute, arguments_of(node, self.checked))
        lenient = self.names.cel_go < STRICT_OPTIONALS
        return Plan(logic.fallback(one, other, unwrap=node.function == "orValue", lenient=lenient))

    def list_expr(self, node: ListExpr) -> Plan:
        """A list."""
        plans = [self.plan(element) for element in node.elements]
        if not node.optional and all(plan.is_constant for plan in plans):
            return constant([plan.constant for plan in plans])
        parts = [plan.compute for plan in plans]
        if not node.optional:
            return Plan(lambda device, slots: [part(device, slots) for part in parts])
        marked = [(part, index in node.optional) for index, part in enumerate(parts)]
        return Plan(list_with_optionals(marked))

    def map_expr(self, node: MapExpr) -> Plan:
        """A map."""
        entries = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        compute = made_map(
            [(key.compute, value.compute, optional) for key, value, optional in entries], strict=self.strict
        )
        if all(key.is_constant and value.is_constant and not optional for key, value, optional in entries):
            return made_at_once(compute)
        return Plan(compute)

    def struct(self, node: StructExpr) -> Plan:
        """A message."""
        parts = [(field.name, self.compute(field.value), field.optional) for field in node.fields]
        return Plan(made_message(self.checked.references[node.id].name, parts))

    def comprehension(self, node: Comprehension) -> Plan:
        """What a macro means."""
        if is_binding(node):
            return self.binding(node)
        walked = self.compute(node.range)
        quick = self.known_walk(node, walked)
        if quick is not None:
            return Plan(quick)
        initial = self.compute(node.initial)
        accumulator = self.slot()
        self.scopes.append({node.accumulator: folds.local(accumulator)})
        names = [name for name in (node.variable, node.second_variable) if name]
        variables = tuple(self.slot() for _ in names)
        self.scopes.append({name: folds.local(slot) for name, slot in zip(names, variables, strict=True)})
        condition, step = self.compute(node.condition), self.compute(node.step)
        self.scopes.pop()
        result = self.compute(node.result)
        self.scopes.pop()
        fold = folds.folded(
            walked, variables, accumulator, initial=initial, condition=condition, step=step, result=result
        )
        return Plan(fold)

    def known_walk(self, node: Comprehension, walked: Compute) -> Compute | None:
        """``all``, ``exists``, ``map`` and ``filter`` with one name, by the shape that their macros have."""
        shape = known_shape(node)
        if shape is None:
            return None
        slot = self.slot()
        self.scopes.append({node.variable: folds.local(slot)})
        parts = [self.compute(part) for part in shape.parts]
        self.scopes.pop()
        if shape.kind in ("_&&_", "_||_"):
            return folds.quantifier(walked, slot, parts[0], decides=shape.kind == "_||_")
        if shape.kind == "map":
            return folds.gathered(walked, slot, parts[0])
        return folds.filtered(walked, slot, *parts)

    def binding(self, node: Comprehension) -> Plan:
        """``cel.bind``."""
        initial = self.plan(node.initial)
        slot = self.slot()
        surely = initial.is_constant or self.domain(node.initial) is not None
        read = folds.local(slot) if surely else folds.lazy(slot, initial.compute)
        self.scopes.append({node.accumulator: read})
        result = self.compute(node.result)
        self.scopes.pop()
        if surely:
            return Plan(folds.bound_at_once(slot, initial.compute, result))
        return Plan(folds.bound(slot, result))


def type_value(name: str, named: CelType) -> CelType:
    """A type by its name, which must be a type for the evaluation as well."""
    if name in UNDEFINED or name == devices.STRUCT:
        raise CompileError(f"program instantiation failed: reference to undefined type: {name}")
    return named


def variable(name: str, names: Names) -> Compute:
    """What reads a variable: where there is ``device``, there is nothing else."""
    return paths.itself if devices.STRUCT in names.structs else paths.variable(name)


_PLANS: Final[Mapping[type, Callable[[Closures, Any], Plan]]] = {
    Literal: Closures.literal,
    Ident: Closures.ident,
    Select: Closures.select,
    Call: Closures.call,
    ListExpr: Closures.list_expr,
    MapExpr: Closures.map_expr,
    StructExpr: Closures.struct,
    Comprehension: Closures.comprehension,
}
_SPECIAL: Final[Mapping[str, Callable[[Closures, Call], Plan]]] = {
    "_&&_": Closures.logical,
    "_||_": Closures.logical,
    "!_": Closures.negation,
    "@not_strictly_false": Closures.going_on,
    "_?_:_": Closures.conditional,
    "_==_": Closures.equality,
    "_!=_": Closures.equality,
    "_[_]": Closures.index,
    "_[?_]": Closures.index,
    "_?._": Closures.index,
    "or": Closures.fallback,
    "orValue": Closures.fallback,
}
