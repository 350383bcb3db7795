"""The most that an expression can cost, from its tree, its types, and the limits of a device's fields.

Follows cel-go's ``checker/cost.go``: sizes are followed through names, calls and walks; where nothing is
known of a size it may be anything, and so may the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.devices.cel.checked import Checked
from allotment.devices.cel.costs.call_costs import renamed
from allotment.devices.cel.costs.call_estimates import BY_OVERLOAD, KUBERNETES, Argument
from allotment.devices.cel.costs.forms import FORMS, Called
from allotment.devices.cel.costs.ranges import (
    EMPTY_UNION,
    LIST_COST,
    MAP_COST,
    NOTHING,
    ONE,
    STRING_FACTOR,
    STRUCT_COST,
    UNKNOWN,
    Estimate,
    Range,
    exactly,
)
from allotment.devices.cel.costs.sizes import Entries, declared_size, literal_size, scalar_size
from allotment.devices.cel.naming import NEWEST_CEL_GO
from allotment.devices.cel.syntax import (
    ACCUMULATOR,
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

Path = tuple[str, ...]


class _Local:
    """A name of a walk: where its value comes from, and what is known of its size."""

    __slots__ = ("entries", "path", "size")

    def __init__(self, path: Path, size: Range | None, entries: Entries | None = None) -> None:
        self.path = path
        self.size = size
        self.entries = entries


def estimate_cost(checked: Checked, cel_go: tuple[int, int] = NEWEST_CEL_GO) -> int:
    """The most that an expression can cost."""
    return _Estimator(checked, cel_go).cost(checked.tree).high


class _Estimator:
    """Walks a checked tree; sizes and paths are noted under the numbers of nodes."""

    def __init__(self, checked: Checked, cel_go: tuple[int, int]) -> None:
        self.cel_go = cel_go
        self.checked = checked
        self.paths: dict[int, Path] = {}
        self.sizes: dict[int, Range] = {}
        self.entries: dict[int, Entries] = {}
        self.locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expr) -> Range:
        return _COSTS[type(node)](self, node)

    def local(self, name: str) -> _Local | None:
        found = self.locals.get(name)
        return found[-1] if found else None

    def push(self, name: str, local: _Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def path(self, node: Expr) -> Path:
        if isinstance(node, Ident) and (local := self.local(node.name)):
            return local.path
        return self.paths.get(node.id, ())

    def size(self, node: Expr) -> Range | None:
        """The size of a node's value, where it is known."""
        known = self.sizes.get(node.id) or literal_size(node)
        if known is not None:
            return known
        declared = declared_size(self.path(node))
        if declared is not None:
            self.sizes[node.id] = declared
            return declared
        scalar = scalar_size(self.checked.type_of(node))
        if scalar is not None:
            return scalar
        local = self.local(node.name) if isinstance(node, Ident) else None
        return local.size if local else None

    def likely(self, node: Expr) -> Range:
        return self.size(node) or UNKNOWN

    def entry_sizes(self, node: Expr) -> Entries | None:
        found = self.entries.get(node.id)
        if found is None and isinstance(node, Ident) and (local := self.local(node.name)):
            return local.entries
        return found

    def set_size(self, node: Expr, size: Range | None) -> None:
        if size is not None:
            self.sizes[node.id] = size

    def set_entries(self, node: Expr, entries: Entries | None) -> None:
        if entries is not None:
            self.entries[node.id] = entries

    def literal(self, _node: Literal) -> Range:
        return NOTHING

    def ident(self, node: Ident) -> Range:
        local = self.local(node.name)
        self.paths[node.id] = local.path if local else (node.name,)
        return ONE

    def select(self, node: Select) -> Range:
        if node.id in self.checked.references:
            return ONE
        cost = self.cost(node.operand)
        if node.test_only:
            return cost
        if self.checked.type_of(node.operand).kind in ("map", "struct", "parameter"):
            cost = cost.plus(ONE)
        self.paths[node.id] = (*self.path(node.operand), node.field)
        return cost

    def argument(self, node: Expr) -> Argument:
        path = self.path(node)
        if path and path[0] in (ACCUMULATOR, "__result__"):
            path = ()
        element = declared_size((*path, "@items")) if path else None
        return Argument(node, self.checked.type_of(node), self.size(node), element)

    def call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.arguments[0]).plus(ONE)
            self.set_size(node, self.size(node.arguments[0]))
            self.set_entries(node, self.entry_sizes(node.arguments[0]))
            return cost
        costs = [self.cost(argument) for argument in node.arguments]
        arguments = [self.argument(argument) for argument in node.arguments]
        reference = self.checked.references.get(node.id)
        if reference is None or not reference.overloads:
            return NOTHING
        total = NOTHING
        target: Argument | None = None
        if node.target is not None and not reference.namespaced:
            total = self.cost(node.target)
            target = self.argument(node.target)
        called = Called(node, target, arguments, costs)
        cost = EMPTY_UNION
        size: Range | None = None
        for overload in reference.overloads:
            found = self.form(called, reference.name, overload)
            cost = cost.union(found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if overload in ("index_list", "index_map"):
                entries = self.entry_sizes(node.arguments[0])
                size = entries.value if entries else None
                step = "@items" if overload == "index_list" else "@values"
                self.paths[node.id] = (*self.path(node.arguments[0]), step)
            if size is None:
                size = self.size(node)
        self.set_size(node, size)
        return total.plus(cost)

    def form(self, called: Called, function: str, overload: str) -> Estimate:
        """What one form of a call costs, its arguments included."""
        for rules, key in ((BY_OVERLOAD, overload), (KUBERNETES, function)):
            rule = rules.get(key)
            found = rule(called.target, called.arguments, overload) if rule else None
            if found is not None:
                return Estimate(found.cost.plus(called.before), found.size)
        own = _OWN_FORMS.get(overload)
        if own is not None:
            return own(self, called)
        plain = FORMS.get(renamed(overload, self.cel_go))
        return called.at(ONE) if plain is None else plain(called)

    def made_list(self, node: ListExpr) -> Range:
        cost = NOTHING
        item = EMPTY_UNION if node.elements else NOTHING
        for element in node.elements:
            cost = cost.plus(self.cost(element))
            item = item.union(self.likely(element))
        self.entries[node.id] = Entries("list", ONE, item)
        return cost.plus(exactly(LIST_COST))

    def made_map(self, node: MapExpr) -> Range:
        cost = NOTHING
        key = value = EMPTY_UNION if node.entries else NOTHING
        for entry in node.entries:
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            key = key.union(self.likely(entry.key))
            value = value.union(self.likely(entry.value))
        self.entries[node.id] = Entries("map", key, value)
        return cost.plus(exactly(MAP_COST))

    def struct(self, node: StructExpr) -> Range:
        cost = exactly(STRUCT_COST)
        for entry in node.fields:
            cost = cost.plus(self.cost(entry.value))
        return cost

    def comprehension(self, node: Comprehension) -> Range:
        cost = self.cost(node.range).plus(self.cost(node.initial))
        initial = _Local(self.path(node.initial), self.size(node.initial), self.entry_sizes(node.initial))
        self.push(node.accumulator, initial)
        if is_binding(node):
            cost = cost.plus(self.cost(node.result))
            self.locals[node.accumulator].pop()
            self.set_size(node, self.size(node.result))
            self.set_entries(node, self.entry_sizes(node.result))
            return cost
        self.push_variables(node)
        each = self.cost(node.condition)
        each = each.plus(self.cost(node.step))
        for name in (node.variable, node.second_variable):
            if name:
                self.locals[name].pop()
        cost = cost.plus(self.cost(node.result))
        self.locals[node.accumulator].pop()
        count = self.likely(node.range)
        if isinstance(node.initial, Literal):
            self.set_size(node, self.size(node.initial))
        elif isinstance(node.initial, ListExpr | MapExpr):
            self.set_size(node, count)
            self.set_entries(node, self.entry_sizes(node.step))
        return cost.plus(count.times(each))

    def push_variables(self, node: Comprehension) -> None:
        """The names of a walk, with the sizes of what they will stand for."""
        entries = self.entry_sizes(node.range)
        path = self.path(node.range)
        kind = entries.kind if entries else self.checked.type_of(node.range).kind
        key = entries.key if entries else None
        value = entries.value if entries else None
        if node.second_variable:
            steps = ("@indices", "@items") if kind == "list" else ("@keys", "@values")
            self.push(node.variable, _Local((*path, steps[0]), key))
            self.push(node.second_variable, _Local((*path, steps[1]), value))
        elif kind == "list":
            self.push(node.variable, _Local((*path, "@items"), value))
        else:
            self.push(node.variable, _Local((*path, "@keys"), key))

    def either(self, called: Called) -> Estimate:
        """``&&`` and ``||`` may stop at the first side."""
        one, other = called.costs
        return Estimate(Range(one.low, one.plus(other).high))

    def conditional(self, called: Called) -> Estimate:
        _, yes, no = called.node.arguments
        one, other = self.entry_sizes(yes), self.entry_sizes(no)
        self.set_entries(called.node, one.union(other) if one and other else None)
        size = called.arguments[1].likely.union(called.arguments[2].likely)
        condition, yes_cost, no_cost = called.costs
        return Estimate(condition.plus(yes_cost.union(no_cost)), size)

    def added(self, called: Called) -> Estimate:
        """Texts and lists one behind the other."""
        size = called.first.plus(called.arguments[1].likely)
        one, other = (self.entry_sizes(argument) for argument in called.node.arguments)
        self.set_entries(called.node, one.union(other) if one and other else None)
        return called.at(size.scaled(STRING_FACTOR), size)

    def added_lists(self, called: Called) -> Estimate:
        return Estimate(called.before.plus(ONE), self.added(called).size)


_COSTS: Final[Mapping[type, Callable[[_Estimator, Any], Range]]] = {
    Literal: _Estimator.literal,
    Ident: _Estimator.ident,
    Select: _Estimator.select,
    Call: _Estimator.call,
    ListExpr: _Estimator.made_list,
    MapExpr: _Estimator.made_map,
    StructExpr: _Estimator.struct,
    Comprehension: _Estimator.comprehension,
}
_OWN_FORMS: Final[Mapping[str, Callable[[_Estimator, Called], Estimate]]] = {
    "logical_and": _Estimator.either,
    "logical_or": _Estimator.either,
    "conditional": _Estimator.conditional,
    "add_string": _Estimator.added,
    "add_bytes": _Estimator.added,
    "add_list": _Estimator.added_lists,
}
