"""A checked tree to closures: each node becomes a Python function that has its children at hand.

This is the quick way to an answer, without counting costs. What can be known before a device is met is
computed here: constants, patterns, quantities, and which form of a function is meant.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from allotment.devices.cel import devices, folds, logic, paths
from allotment.devices.cel import values as v
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.dispatch import CONVERSIONS, Callee, arguments_of, callee
from allotment.devices.cel.environment import Names
from allotment.devices.cel.library.operators import OPERATORS
from allotment.devices.cel.paths import Compute, Slots
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.regex import RegexError, compile_regex
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
    is_binding,
)
from allotment.devices.cel.values import MISSING, Value

_ORDERINGS: Final = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}
_FOLDED_EARLY: Final = CONVERSIONS | {"quantity", "semver", "isQuantity", "isSemver"}
_PATTERNS: Final = frozenset({"matches", "find", "findAll"})
_QUICK_TYPES: Final[Mapping[str, type]] = {
    kind.name: python for python, kind in v.RUNTIME_TYPES.items() if python not in (tuple, v.ComputedQuantity)
}


class Plan(NamedTuple):
    """A node's closure, and its value where that is known already."""

    compute: Compute
    constant: Value = MISSING

    @property
    def is_constant(self) -> bool:
        """Whether the value is known."""
        return self.constant is not MISSING


def constant(value: Value) -> Plan:
    """A known value."""
    return Plan(lambda _device, _slots: value, value)


class Closures:
    """Makes closures; ``slots`` counts the places that local names need."""

    def __init__(self, checked: Checked, names: Names) -> None:
        self.checked = checked
        self.names = names
        self.slots = 0
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
        reference = self.checked.references[node.id]
        if reference.type is not None:
            return constant(reference.type)
        return Plan(lambda device, _slots: device)

    def select(self, node: Select) -> Plan:
        """``operand.field`` or ``has(operand.field)``."""
        reference = self.checked.references.get(node.id)
        if reference is not None and reference.type is not None:
            return constant(reference.type)
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
        return Plan(_field(operand, field))

    def is_device(self, node: Expr) -> bool:
        """Whether a node is the variable ``device`` itself."""
        return (
            isinstance(node, Ident)
            and node.name == devices.NAME
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
        early = self.early(called, plans)
        if early is not None:
            return early
        return Plan(self.quick(called, plans) or _called(called.compute, plans))

    def early(self, called: Callee, plans: tuple[Plan, ...]) -> Plan | None:
        """What can be computed before a device is met; a constant that cannot be converted is refused."""
        if called.function in _PATTERNS and len(plans) > 1 and isinstance(plans[1].constant, str):
            _check_pattern(plans[1].constant)
        if called.function not in _FOLDED_EARLY or not plans or not all(plan.is_constant for plan in plans):
            return None
        try:
            return constant(called.compute(*(plan.constant for plan in plans)))
        except EvaluationError as error:
            if called.function in CONVERSIONS and len(plans) == 1:
                raise CompileError(f"program instantiation failed: {error.message}") from error
            return None

    def quick(self, called: Callee, plans: tuple[Plan, ...]) -> Compute | None:
        """A closure of its own for what selectors do most."""
        if called.function in _ORDERINGS:
            return _ordering(called.function, plans)
        if called.overload == "in_list" and plans[1].is_constant:
            return logic.one_of(plans[0].compute, plans[1].constant)
        if called.function == "matches" and isinstance(plans[1].constant, str):
            return _matching(plans[0].compute, plans[1].constant)
        if not called.exact and called.overload and not called.any_types:
            return self.after_a_look(called, plans)
        return None

    def after_a_look(self, called: Callee, plans: tuple[Plan, ...]) -> Compute | None:
        """A call on an attribute, whose type shows only when it is met, with constant arguments."""
        forms = self.names.functions(called.function) or ()
        form = next(form for form in forms if form.id == called.overload)
        kind = _QUICK_TYPES.get(form.arguments[0].name)
        rest = tuple(plan.constant for plan in plans[1:])
        fits = all(plan.is_constant for plan in plans[1:]) and all(
            map(v.matches_type, rest, form.arguments[1:])
        )
        if kind is None or not fits or form.compute is None or form.arguments[0].parameters:
            return None
        target, guarded, direct = plans[0].compute, called.compute, form.compute

        def compute(device: DeviceView, slots: Slots) -> Value:
            value = target(device, slots)
            return direct(value, *rest) if type(value) is kind else guarded(value, *rest)

        def with_one(device: DeviceView, slots: Slots) -> Value:
            value = target(device, slots)
            return direct(value, only) if type(value) is kind else guarded(value, only)

        def alone(device: DeviceView, slots: Slots) -> Value:
            value = target(device, slots)
            return direct(value) if type(value) is kind else guarded(value)

        only = rest[0] if len(rest) == 1 else None
        return alone if not rest else with_one if len(rest) == 1 else compute

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
        inner = self.domain(container)
        if inner is not None and not optional and isinstance(place.constant, str):
            return Plan(paths.entry(*inner, place.constant))
        if not optional and isinstance(place.constant, str):
            return Plan(_field(operand.compute, place.constant))
        one, other = operand.compute, place.compute
        return Plan(
            lambda device, slots: paths.selected(one(device, slots), other(device, slots), optional=optional)
        )

    def fallback(self, node: Call) -> Plan:
        """``or`` and ``orValue``."""
        one, other = map(self.compute, arguments_of(node, self.checked))
        return Plan(logic.fallback(one, other, unwrap=node.function == "orValue"))

    def list_expr(self, node: ListExpr) -> Plan:
        """A list."""
        plans = [self.plan(element) for element in node.elements]
        if not node.optional and all(plan.is_constant for plan in plans):
            return constant([plan.constant for plan in plans])
        parts = [plan.compute for plan in plans]
        if not node.optional:
            return Plan(lambda device, slots: [part(device, slots) for part in parts])
        marked = [(part, index in node.optional) for index, part in enumerate(parts)]
        return Plan(_list_with_optionals(marked))

    def map_expr(self, node: MapExpr) -> Plan:
        """A map."""
        entries = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        compute = _map([(key.compute, value.compute, optional) for key, value, optional in entries])
        if all(key.is_constant and value.is_constant and not optional for key, value, optional in entries):
            try:
                return constant({v.map_key(key.constant): value.constant for key, value, _ in entries})
            except EvaluationError:
                return Plan(compute)
        return Plan(compute)

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
        shape = _shape(node)
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


class _Shape(NamedTuple):
    kind: str
    parts: tuple[Expr, ...]


def _shape(node: Comprehension) -> _Shape | None:
    """Which macro a comprehension comes from, if it is one of those with closures of their own."""
    step = node.step
    if node.second_variable or not isinstance(step, Call) or not _is_result(node.result, node):
        return None
    if (
        step.function in ("_&&_", "_||_")
        and isinstance(node.initial, Literal)
        and _is_result(step.arguments[0], node)
    ):
        return _Shape(step.function, (step.arguments[1],))
    if not (isinstance(node.initial, ListExpr) and not node.initial.elements):
        return None
    added = _added(step, node)
    if added is not None:
        return _Shape("map", (added,))
    if step.function == "_?_:_" and _is_result(step.arguments[2], node):
        added = _added(step.arguments[1], node)
        if added is not None:
            return _Shape("filter", (step.arguments[0], added))
    return None


def _added(step: Expr, node: Comprehension) -> Expr | None:
    """The element that ``@result + [element]`` adds."""
    if not (isinstance(step, Call) and step.function == "_+_" and _is_result(step.arguments[0], node)):
        return None
    new = step.arguments[1]
    return (
        new.elements[0] if isinstance(new, ListExpr) and len(new.elements) == 1 and not new.optional else None
    )


def _is_result(node: Expr, comprehension: Comprehension) -> bool:
    return isinstance(node, Ident) and node.name == comprehension.accumulator


def _field(operand: Compute, field: str) -> Compute:
    message = f"no such key: {field}"

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = operand(device, slots)
        if type(value) is dict:
            try:
                return value[field]
            except KeyError:
                raise EvaluationError(message) from None
        return paths.selected(value, field)

    return compute


def _called(compute: Callable[..., Value], plans: tuple[Plan, ...]) -> Compute:
    """A call of a function; constants are handed over as they are."""
    if not plans:
        return lambda _device, _slots: compute()
    one = plans[0].compute
    if len(plans) == 1:
        return lambda device, slots: compute(one(device, slots))
    other = plans[1].compute
    if len(plans) == 2:
        if plans[1].is_constant:
            known = plans[1].constant
            return lambda device, slots: compute(one(device, slots), known)
        return lambda device, slots: compute(one(device, slots), other(device, slots))
    parts = [plan.compute for plan in plans]
    return lambda device, slots: compute(*[part(device, slots) for part in parts])


def _ordering(function: str, plans: tuple[Plan, ...]) -> Compute:
    """``<`` and its kin; quick with a constant behind it."""
    careful = OPERATORS[function]
    one, other = plans
    if other.is_constant:
        return logic.ordered_with(one.compute, other.constant, _ORDERINGS[function], careful)
    left, right = one.compute, other.compute
    return lambda device, slots: careful(left(device, slots), right(device, slots))


def _check_pattern(pattern: str) -> None:
    try:
        compile_regex(pattern)
    except RegexError as error:
        raise CompileError(f"program instantiation failed: {error}") from error


def _matching(text: Compute, pattern: str) -> Compute:
    matches = compile_regex(pattern).matches

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = text(device, slots)
        if type(value) is not str:
            raise no_such_overload()
        return matches(value)

    return compute


def _list_with_optionals(parts: list[tuple[Compute, bool]]) -> Compute:
    def compute(device: DeviceView, slots: Slots) -> Value:
        result = []
        for part, optional in parts:
            value = part(device, slots)
            if not optional:
                result.append(value)
            elif type(value) is not v.OptionalValue:
                raise EvaluationError(
                    f"cannot initialize optional list element from non-optional value {v.show(value)}"
                )
            elif value.present:
                result.append(value.value)
        return result

    return compute


def _map(entries: list[tuple[Compute, Compute, bool]]) -> Compute:
    def compute(device: DeviceView, slots: Slots) -> Value:
        result: dict[Any, Any] = {}
        for key, part, optional in entries:
            place = v.map_key(key(device, slots))
            value = part(device, slots)
            if not optional:
                result[place] = value
            elif type(value) is not v.OptionalValue:
                shown = f"'{v.show(v.key_value(place))}' from non-optional value {v.show(value)}"
                raise EvaluationError(f"cannot initialize optional entry {shown}")
            elif value.present:
                result[place] = value.value
            else:
                result.pop(place, None)
        return result

    return compute


_PLANS: Final[Mapping[type, Callable[[Closures, Any], Plan]]] = {
    Literal: Closures.literal,
    Ident: Closures.ident,
    Select: Closures.select,
    Call: Closures.call,
    ListExpr: Closures.list_expr,
    MapExpr: Closures.map_expr,
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
