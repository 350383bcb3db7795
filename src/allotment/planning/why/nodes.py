"""Whether one node has enough devices that would do, and whether those have in common what they must.

Devices that would be enough on paper are no use to a pod when no single node has them: a claim gets all of
its devices on one node.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from allotment.devices.allocation.rules import attribute_of, concerns, value_of
from allotment.devices.claims import ClaimSpec, Constraint
from allotment.needs.clauses import Candidate
from allotment.needs.same import same_words
from allotment.planning.why.room import Room
from allotment.planning.why.sieve import sift
from allotment.planning.why.steps import Lost, Sifted, Stage, Step
from allotment.planning.why.values import cards_words, counted_words, named
from allotment.planning.why.whole_nodes import Rule, look_at_whole_nodes

_MOST_VALUES: Final = 4


def sift_all(room: Room, claim: ClaimSpec) -> list[Sifted]:
    """Every alternative of the claim, sifted."""
    found = [sift(room, request, sub) for request in claim.requests for sub in request.alternatives]
    for each in found:
        _look_at_nodes(room, claim, each)
    return found


def _look_at_nodes(room: Room, claim: ClaimSpec, found: Sifted) -> None:
    """Say of a sifted alternative where it stops: with nothing in use, and now."""
    if found.fault is not None:
        return
    found.stopped = next((step for step in until_use(found.steps) if not step.left), None)
    if found.stopped is not None:
        found.steps = found.steps[: found.steps.index(found.stopped) + 1]
        return
    own = [each for each in claim.constraints if _is_of_one(each, claim) and _concerns(each, found)]
    if found.takes_all:
        found.stopped, found.held_up = look_at_whole_nodes(room, found, list(map(_rule, own)))
        met = [*until_use(found.steps)]
        used = found.steps[len(met) :]
        first = found.stopped if used or found.held_up is None else None
        found.steps = [*met, *_there(first), *used, *_there(found.held_up)]
        return
    found.stopped = _stopped(room, found, own, found.would)
    if found.stopped is not None:
        found.steps = [*until_use(found.steps), found.stopped]
        return
    found.held_up = next((step for step in found.steps if not step.left), None)
    if found.held_up is None:
        found.held_up = _stopped(room, found, own, found.free)
        found.steps += [] if found.held_up is None else [found.held_up]


def _rule(constraint: Constraint) -> Rule:
    return Rule(
        constraint,
        lambda here: _has(constraint, here, len(here)),
        lambda here: values_beside(constraint, here),
    )


def _there(step: Step | None) -> Iterator[Step]:
    if step is not None:
        yield step


def until_use(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps that have nothing to do with what is in use."""
    for step in steps:
        if step.stage is Stage.USE or (step.stage is Stage.COUNTERS and step.words.startswith("have")):
            return
        yield step


def _stopped(
    room: Room, found: Sifted, constraints: Sequence[Constraint], devices: Sequence[Candidate]
) -> Step | None:
    """The step that leaves too few: one node, or what its devices have in common."""
    if found.needed < 2:
        return None
    by_node = room.by_node(devices)
    enough = {node: here for node, here in by_node.items() if len(here) >= found.needed}
    if not enough:
        words = f"are {found.needed} or more on one node"
        return Step(Stage.NODE, words, 0, tuple(_by_count(by_node)))
    for constraint in constraints:
        kept = {node: here for node, here in enough.items() if _has(constraint, here, found.needed)}
        if not kept:
            words = f"are {found.needed} or more on one node, {same_words(constraint)}"
            lost = tuple(_by_value(constraint, enough))
            return Step(Stage.CONSTRAINT, words, 0, lost, attribute_of(constraint) or "")
        enough = kept
    return None


def _by_count(by_node: dict[str, list[Candidate]]) -> Iterator[Lost]:
    alike: dict[int, list[str]] = defaultdict(list)
    for node, here in by_node.items():
        alike[len(here)].append(node)
    for count, nodes in sorted(alike.items(), reverse=True):
        each = f"{count:,} on {'each of ' if len(nodes) > 1 else ''}{named(nodes, 'nodes')}"
        cards = cards_words(device for node in nodes for device in by_node[node])
        yield Lost(count * len(nodes), cards, each, tuple(nodes))


def _by_value(constraint: Constraint, by_node: dict[str, list[Candidate]]) -> Iterator[Lost]:
    alike: dict[str, list[str]] = defaultdict(list)
    for node, here in by_node.items():
        alike[values_beside(constraint, here)].append(node)
    for words, nodes in alike.items():
        devices = [device for node in nodes for device in by_node[node]]
        why = f"{named(nodes, 'nodes')}: {words}"
        yield Lost(len(devices), cards_words(devices), why, tuple(nodes))


def values_beside(constraint: Constraint, devices: Sequence[Candidate]) -> str:
    """The values of the constraint's attribute that stand beside each other: ``2 x a, 2 x b``."""
    counts = Counter(_value_words(each) for each in _values(constraint, devices))
    if set(counts) == {_NONE}:
        return f"no {attribute_of(constraint)}"
    return counted_words(counts)


def _values(constraint: Constraint, devices: Iterable[Candidate]) -> Iterator[frozenset[object]]:
    attribute = attribute_of(constraint) or ""
    for each in devices:
        value = value_of(attribute, each.listed.id, each.device, lists=True)
        found = None if value is None else value[1]
        yield (
            frozenset((value[0], item) for item in found)
            if value and isinstance(found, frozenset)
            else frozenset()
        )


_NONE: Final = "without it"


def _value_words(values: frozenset[object]) -> str:
    texts = sorted(str(value[1]) for value in values if isinstance(value, tuple))
    return " and ".join(texts[:_MOST_VALUES]) or _NONE


def _has(constraint: Constraint, devices: Sequence[Candidate], needed: int) -> bool:
    values = list(_values(constraint, devices))
    if constraint.match_attribute is not None:
        return max(Counter(item for each in values for item in each).values(), default=0) >= needed
    return len({item for each in values for item in each}) >= needed


def _concerns(constraint: Constraint, found: Sifted) -> bool:
    return concerns(constraint, found.request.name, found.name)


def _is_of_one(constraint: Constraint, claim: ClaimSpec) -> bool:
    """Whether a constraint is on the devices of one request."""
    if not constraint.requests:
        return len(claim.requests) == 1
    return len({name.partition("/")[0] for name in constraint.requests}) == 1


def together_words(room: Room, claim: ClaimSpec, sifted: Sequence[Sifted], *, now: bool) -> str:
    """Why requests that would each be met are not met at once."""
    whole = {
        found.name: room.by_node(found.free if now else found.would) for found in sifted if not found.fault
    }
    enough = {found.name: found.needed for found in sifted}
    where = {
        name: [node for node, here in by_node.items() if len(here) >= enough[name]]
        for name, by_node in whole.items()
    }
    where = {name: nodes for name, nodes in where.items() if nodes}
    if len(where) > 1 and not set.intersection(*map(set, where.values())):
        each = "; ".join(f"`{name}` fits on {named(nodes, 'nodes')}" for name, nodes in where.items())
        return f"no single node has what all requests ask for: {each}"
    node = next((nodes[0] for nodes in where.values()), None)
    for constraint in claim.constraints:
        if node is None or _is_of_one(constraint, claim):
            continue
        values = {
            found.name: values_beside(constraint, whole[found.name].get(node, []))
            for found in sifted
            if found.name in where and _concerns(constraint, found)
        }
        if len(values) > 1:
            beside = "; ".join(f"`{name}` has {words}" for name, words in values.items())
            return f"the devices would have to be {same_words(constraint)}: on {node} {beside}"
    if len(sifted) == 1:
        many = "all" if sifted[0].takes_all else enough[sifted[0].name]
        return f"each would do alone, and not {many} at once: they share parts of a card"
    return "each request would be met alone, and not all of them at once: they want the same devices"
