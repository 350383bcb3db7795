"""Evaluation that counts what it costs, and stops at a limit.

Costs show how cel-go goes about it, so this goes about it in the same way: errors are values that travel on,
and both sides of a call are evaluated though the first has failed. It is several times slower than
``closures``, which is used where the limit is far off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from allotment.devices.cel import closures
from allotment.devices.cel import values as v
from allotment.devices.cel.checked import Checked, Reference
from allotment.devices.cel.costs.lookups import Count, Lookup, Step
from allotment.devices.cel.costs.ranges import LIST_COST, MAP_COST, STRUCT_COST
from allotment.devices.cel.costs.steps import (
    bound,
    counted_call,
    filled,
    folded,
    made,
    not_optional,
    read_lazily,
    read_slot,
    stops_at_errors,
)
from allotment.devices.cel.costs.tally import CostExceededError, Tally, failed
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.dispatch import CONVERSIONS, Callee, arguments_of, callee
from allotment.devices.cel.folds import attempt
from allotment.devices.cel.naming import STRICT_OPTIONALS, Names
from allotment.devices.cel.panics import PanicError
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.results import as_bool
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
from allotment.devices.cel.values import MISSING, Value

_PRIMITIVE: Final = frozenset({"bool", "double", "int", "string", "uint"})


@dataclass(frozen=True, slots=True)
class Counted:
    """What came of an evaluation, and what it cost."""

    value: Value
    cost: int

    def outcome(self) -> bool:
        """Whether the device passes; EvaluationError where it cannot be told."""
        if failed(self.value):
            raise EvaluationError(self.value.message)
        return as_bool(self.value)


class Counting:
    """An expression made ready to be counted, once somebody asks."""

    def __init__(self, checked: Checked, names: Names, limit: int) -> None:
        self.checked = checked
        self.names = names
        self.limit = limit

    @cached_property
    def _made(self) -> tuple[Count, int]:
        maker = _Counts(self.checked, self.names)
        return maker.count(self.checked.tree), maker.slots

    def evaluate(self, device: DeviceView) -> Counted:
        """Evaluates on a device."""
        count, slots = self._made
        tally = Tally(device, slots, self.limit)
        try:
            return Counted(count(tally), tally.cost)
        except PanicError as panic:
            return Counted(EvaluationError(panic.message), tally.cost)
        except CostExceededError:
            return Counted(EvaluationError("operation cancelled: actual cost limit exceeded"), tally.cost)


class _Counts:
    """Makes counting closures from nodes."""

    def __init__(self, checked: Checked, names: Names) -> None:
        self.checked = checked
        self.names = names
        self.slots = 0
        self.scopes: list[dict[str, Count]] = []
        self.constants = closures.Closures(checked, names)

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def count(self, node: Expr) -> Count:
        """The counting closure of a node."""
        known = self.constant(node)
        if known is not MISSING:
            return lambda _tally: known
        lookup = self.lookup(node)
        if lookup is not None:
            return lookup.watched
        return _COUNTS[type(node)](self, node)

    def constant(self, node: Expr) -> Value:  # noqa: PLR0911 - one line a kind of node
        """The value of what costs nothing: constants, lists and maps of them, and conversions of them."""
        match node:
            case Literal():
                return node.value
            case ListExpr() if not node.optional:
                parts = [self.constant(element) for element in node.elements]
                return MISSING if any(part is MISSING for part in parts) else parts
            case MapExpr() if not any(entry.optional for entry in node.entries):
                return self.constant_map(node)
            case Ident() | Select():
                reference = self.checked.references.get(node.id)
                return _named(reference) if reference else MISSING
            case Call() if node.function in CONVERSIONS and len(node.arguments) == 1 and node.target is None:
                if self.constant(node.arguments[0]) is MISSING:
                    return MISSING
                return self.constants.plan(node).constant
            case _:
                return MISSING

    def constant_map(self, node: MapExpr) -> Value:
        result: dict[Any, Any] = {}
        for entry in node.entries:
            key, value = self.constant(entry.key), self.constant(entry.value)
            if key is MISSING or value is MISSING:
                return MISSING
            try:
                result[v.map_key(key)] = value
            except EvaluationError:
                return MISSING
        return result

    def lookup(self, node: Expr) -> Lookup | None:
        """A node as a look-up, if it is one."""
        match node:
            case Ident():
                return Lookup(self.name(node))
            case Select() if node.id in self.checked.references:
                return Lookup(self.variable(node))
            case Select():
                field = node.field
                return self.based(node.operand).then(Step(lambda _tally: field, test_only=node.test_only))
            case Call(function="_[_]" | "_[?_]" | "_?._"):
                container, key = node.arguments
                return self.based(container).then(Step(self.key(key), optional=node.function != "_[_]"))
            case Call(function="_?_:_"):
                condition, yes, no = node.arguments
                return Lookup(condition=self.count(condition), branches=(self.branch(yes), self.branch(no)))
            case _:
                return None

    def based(self, node: Expr) -> Lookup:
        """A node as that from which a look-up starts."""
        lookup = None if self.constant(node) is not MISSING else self.lookup(node)
        return lookup or Lookup(self.count(node))

    branch = based

    def key(self, node: Expr) -> Count:
        """A node as the key of a step: a look-up is not an expression of its own then."""
        if self.constant(node) is MISSING and (lookup := self.lookup(node)) is not None:
            return lookup.resolve
        return self.count(node)

    def name(self, node: Ident) -> Count:
        for scope in reversed(self.scopes):
            if node.name in scope:
                return scope[node.name]
        return self.variable(node)

    def variable(self, node: Expr) -> Count:
        read = closures.variable(self.checked.references[node.id].name, self.names)
        return lambda tally: attempt(read, tally.device, [])

    def call(self, node: Call) -> Count:
        name = self.checked.references[node.id].name
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, node)
        called = callee(node, self.checked, self.names)
        nodes = arguments_of(node, self.checked)
        if called.overload == "in_list" and (quick := self.membership(nodes)) is not None:
            return quick
        ready = len(nodes) > 1 and self.constant(nodes[1]) is not MISSING
        stops = stops_at_errors(called, len(nodes), ready=ready)
        return counted_call(
            called, [self.count(argument) for argument in nodes], self.names.cel_go, stops=stops
        )

    def membership(self, nodes: tuple[Expr, ...]) -> Count | None:
        """``in`` with a list of constants, which is looked up for nothing."""
        values = self.constant(nodes[1])
        if values is MISSING or any(v.type_name(value) not in _PRIMITIVE for value in values):
            return None
        if not values:
            return lambda _tally: False
        item = self.count(nodes[0])

        def count(tally: Tally) -> Value:
            found = item(tally)
            return found if failed(found) else any(v.found_equal(found, value) for value in values)

        return count

    def logical(self, node: Call) -> Count:
        one, other = map(self.count, node.arguments)
        decides = node.function == "_||_"

        def count(tally: Tally) -> Value:
            problem: Value = None
            for part in (one, other):
                found = part(tally)
                if found is decides:
                    return decides
                if type(found) is not bool and problem is None:
                    problem = found if failed(found) else no_such_overload()
            return (not decides) if problem is None else problem

        return count

    def going_on(self, node: Call) -> Count:
        part = self.count(node.arguments[0])

        def count(tally: Tally) -> Value:
            found = part(tally)
            tally.add(1)
            return found is not False

        return count

    def equality(self, node: Call) -> Count:
        one, other = map(self.count, node.arguments)
        equal = node.function == "_==_"
        overload, compare = ("equals", v.equal) if equal else ("not_equals", v.unequal)
        called = Callee(node.function, overload, compare, exact=True, any_types=True)
        return counted_call(called, [one, other], self.names.cel_go, stops=False)

    def fallback(self, node: Call) -> Count:
        one, other = map(self.count, arguments_of(node, self.checked))
        unwrap = node.function == "orValue"
        lenient = self.names.cel_go < STRICT_OPTIONALS

        def count(tally: Tally) -> Value:
            found = one(tally)
            if failed(found):
                return found
            if type(found) is not v.OptionalValue:
                return found if lenient else no_such_overload()
            if not found.present:
                return other(tally)
            return found.value if unwrap else found

        return count

    def list_expr(self, node: ListExpr) -> Count:
        parts = [(self.count(element), index in node.optional) for index, element in enumerate(node.elements)]

        def count(tally: Tally) -> Value:
            result: Value = []
            for part, optional in parts:
                value = part(tally)
                if not failed(value) and optional:
                    if type(value) is v.OptionalValue and not value.present:
                        continue
                    value = value.value if type(value) is v.OptionalValue else not_optional(value)
                if failed(value):
                    result = value
                    break
                result.append(value)
            tally.add(LIST_COST)
            return result

        return count

    def map_expr(self, node: MapExpr) -> Count:
        parts = [(self.count(entry.key), self.count(entry.value), entry.optional) for entry in node.entries]

        def count(tally: Tally) -> Value:
            result = filled(parts, tally)
            tally.add(MAP_COST)
            return result

        return count

    def struct(self, node: StructExpr) -> Count:
        name = self.checked.references[node.id].name
        parts = [(field.name, self.count(field.value), field.optional) for field in node.fields]

        def count(tally: Tally) -> Value:
            result = made(name, parts, tally)
            tally.add(STRUCT_COST)
            return result

        return count

    def comprehension(self, node: Comprehension) -> Count:
        walked = None if is_binding(node) else self.count(node.range)
        initial = self.count(node.initial)
        accumulator = self.slot()
        self.scopes.append({node.accumulator: read_lazily(accumulator, initial)})
        if walked is None:
            result = self.count(node.result)
            self.scopes.pop()
            return bound(accumulator, result)
        names = [name for name in (node.variable, node.second_variable) if name]
        variables = [self.slot() for _ in names]
        self.scopes.append({name: read_slot(slot) for name, slot in zip(names, variables, strict=True)})
        condition, step = self.count(node.condition), self.count(node.step)
        self.scopes.pop()
        result = self.count(node.result)
        self.scopes.pop()
        return folded(walked, variables, accumulator, (condition, step, result))


def _named(reference: Reference) -> Value:
    """A type or a constant by its name."""
    if reference.constant is not None:
        return reference.constant
    return MISSING if reference.type is None else reference.type


_COUNTS: Final[Mapping[type, Callable[[_Counts, Any], Count]]] = {
    Call: _Counts.call,
    Comprehension: _Counts.comprehension,
    ListExpr: _Counts.list_expr,
    MapExpr: _Counts.map_expr,
    StructExpr: _Counts.struct,
}
_SPECIAL: Final[Mapping[str, Callable[[_Counts, Call], Count]]] = {
    "_&&_": _Counts.logical,
    "_||_": _Counts.logical,
    "@not_strictly_false": _Counts.going_on,
    "_==_": _Counts.equality,
    "_!=_": _Counts.equality,
    "or": _Counts.fallback,
    "orValue": _Counts.fallback,
}
