"""The device that comes nearest to a request that none meets, what it is short of, and what would fit.

Nearest is who fails the fewest clauses, then who is least short of memory. What would fit is only offered
where one clause stands in the way and another value of it is met by this very device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.devices.card_shares import MEMORY
from allotment.devices.claims import ExactRequest
from allotment.devices.classes import GPU_CLASS
from allotment.devices.inventory import Listed
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.selectors import Matcher, SelectorError
from allotment.needs.clauses import Candidate, Clause, Kind, offers
from allotment.needs.memory import in_words
from allotment.needs.ways.whole import NOT_SHARED
from allotment.platform.need import MemoryRange
from allotment.quantities import GI, format_gi, parse_bytes

LEAST_SHOWN: Final = -(-GI // 100)
"""An amount that is still something when it is written in Gi."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value of a key of ``gpu:`` that the nearest device meets, and how many devices would do then."""

    key: str
    value: str
    would: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest device, in words where it is and what it is, and what it is short of."""

    id: str
    where: str
    card: str
    kind: str
    memory: int | None
    short: tuple[str, ...]
    suggestion: Suggestion | None = None


def nearest_of(
    exact: ExactRequest,
    clauses: Sequence[Clause],
    devices: Sequence[Candidate],
    left: Sequence[Candidate],
    matches: Matcher,
) -> Nearest | None:
    """The nearest of these devices to the request; ``left`` are those that pass every clause alone."""
    if left:
        return _too_few(exact, left)
    failing = {place: _failed(each, clauses, matches) for place, each in enumerate(devices)}
    of_class = [place for place, failed in failing.items() if not any(c.kind is Kind.CLASS for c in failed)]
    places = of_class or list(failing)
    if not places:
        return None
    best = min(places, key=lambda place: (*_distance(devices[place], failing[place]), place))
    short = failing[best]
    suggestion = None
    if len(short) == 1:
        suggestion = _suggested(short[0], devices[best], _others_pass(devices, failing, short[0]))
    return _nearest(
        devices[best].listed, tuple(_short_words(devices[best], each) for each in short), suggestion
    )


def _failed(candidate: Candidate, clauses: Sequence[Clause], matches: Matcher) -> tuple[Clause, ...]:
    """The clauses that the device fails; those of a request mean nothing to another driver's device."""
    failed: list[Clause] = []
    for clause in clauses:
        try:
            if not clause.holds(candidate, matches):
                failed.append(clause)
        except SelectorError:
            failed.append(clause)
        if failed and failed[0].kind is Kind.CLASS and candidate.driver != NVIDIA_DRIVER:
            break
    return tuple(failed)


def _distance(candidate: Candidate, failed: Sequence[Clause]) -> tuple[bool, int, int]:
    memory = candidate.listed.memory or 0
    short = sum(_short_of(clause.memory, memory) for clause in failed)
    return candidate.driver != NVIDIA_DRIVER, len(failed), short if short else -memory


def _short_of(bounds: MemoryRange, memory: int) -> int:
    least = max(bounds.at_least or 0, bounds.more_than or 0)
    over = 0 if bounds.at_most is None else memory - bounds.at_most
    return max(least - memory, over, 0)


def _others_pass(
    devices: Sequence[Candidate], failing: dict[int, tuple[Clause, ...]], short: Clause
) -> list[Candidate]:
    """The devices that pass everything but perhaps this clause."""
    return [devices[place] for place, failed in failing.items() if set(failed) <= {short}]


def _suggested(clause: Clause, nearest: Candidate, others: Sequence[Candidate]) -> Suggestion | None:
    if clause.kind is Kind.MEMORY and (memory := nearest.listed.memory or 0) >= LEAST_SHOWN:
        return _of_memory(clause.memory, memory, others)
    if clause.kind is Kind.CAPACITY and clause.tolerated is not None:
        return _of_share(clause.tolerated, nearest, others)
    if clause.kind is Kind.CARD and (name := _catalogue_id(nearest.listed.card)):
        return Suggestion("card", name, sum(each.listed.card == nearest.listed.card for each in others))
    return None


def _of_memory(bounds: MemoryRange, memory: int, others: Sequence[Candidate]) -> Suggestion:
    """Memory that the device has: the lower bound rounded down, the upper one up."""
    least = max(bounds.at_least or 0, bounds.more_than or 0)
    if memory <= least:
        low = in_gi(memory)
        value = low if bounds.at_most is None else f"{low}..{in_gi(bounds.at_most)}"
        floor, ceiling = parse_bytes(low), bounds.at_most
    else:
        ceiling = -(-memory // GI) * GI
        low = in_gi(least or memory)
        value, floor = f"{low}..{in_gi(ceiling)}", least
    sizes = [each.listed.memory or 0 for each in others]
    return Suggestion(
        "memory", value, sum(size >= floor and (ceiling is None or size <= ceiling) for size in sizes)
    )


def _of_share(exact: ExactRequest, nearest: Candidate, others: Sequence[Candidate]) -> Suggestion | None:
    """All of what the nearest device has of its memory, in whole GiB."""
    if set(exact.capacity) != {MEMORY} or MEMORY not in nearest.device.capacity:
        return None
    most = nearest.listed.memory or 0
    if most < GI:
        return None
    value = f"{most // GI}Gi"
    changed = replace(exact, capacity={MEMORY: value})
    would = sum(offers(each.device, changed) for each in others)
    return Suggestion("share", value, would) if would else None


def in_gi(amount: int) -> str:
    """A bound as it would be written: whole where it is whole."""
    return f"{amount // GI}Gi" if amount % GI == 0 else format_gi(amount)


def _short_words(candidate: Candidate, clause: Clause) -> str:
    return _SHORT[clause.kind](candidate, clause)


def _short_of_memory(candidate: Candidate, clause: Clause) -> str:
    memory = candidate.listed.memory
    if memory is None:
        return "it does not tell its memory"
    if memory == 0:
        return "it reports a memory of 0, which means that nobody knows"
    asked = clause.words.removeprefix("have ").removesuffix(" of memory")
    return f"it has {in_words(memory)} of memory, and {asked} is asked for"


def _taint_words(candidate: Candidate, _: Clause) -> str:
    taints = ", ".join(taint.key for taint in candidate.device.taints if taint.blocks)
    return f"it is tainted ({taints})"


_WHOLE_CARDS: Final = "are whole NVIDIA cards"


def _capacity_words(candidate: Candidate, clause: Clause) -> str:
    asked = {} if clause.tolerated is None else clause.tolerated.capacity
    has = candidate.device.capacity
    return " and ".join(
        f"its `{name}` is {has[name].value}, and {amount} of it is claimed"
        if name in has
        else f"it has no capacity `{name}`"
        for name, amount in asked.items()
    )


def _class_words(candidate: Candidate, clause: Clause) -> str:
    kind = candidate.listed.kind
    if kind == "whole" and candidate.driver == NVIDIA_DRIVER and clause.words == _WHOLE_CARDS:
        selectors = " && ".join(clause.selectors)
        return f"it is a whole NVIDIA card, and the device class `{GPU_CLASS}` refuses it: `{selectors}`"
    what = f"a partition ({kind})" if kind.startswith("MIG") else _KINDS.get(kind, f"a {kind}")
    whose = "" if candidate.driver == NVIDIA_DRIVER else f" of {candidate.driver}"
    return f"it is {what}{whose}, and {clause.words.removeprefix('are ')} are asked for"


_KINDS: Mapping[str, str] = {"whole": "a whole card", "passthrough": "passed on to virtual machines"}
_SHORT: Mapping[Kind, Callable[[Candidate, Clause], str]] = {
    Kind.MEMORY: _short_of_memory,
    Kind.CARD: lambda _, clause: f"it is no {clause.words.removeprefix('are ')}",
    Kind.CLASS: _class_words,
    Kind.PART: lambda _, clause: (
        "it is given out in shares, and never whole"
        if NOT_SHARED in clause.selectors
        else "it is a whole card under the name of a slice"
    ),
    Kind.TAINT: _taint_words,
    Kind.POOL: lambda each, _: each.listed.why,
    Kind.OPEN: lambda each, _: each.listed.closed,
    Kind.CAPACITY: _capacity_words,
    Kind.GATE: lambda _, clause: f"it is {clause.words.removeprefix('are not ')}",
    Kind.SELECT: lambda _, clause: f"it does not {clause.words}",
}


def _too_few(exact: ExactRequest, left: Sequence[Candidate]) -> Nearest:
    """Devices would do, and no node has enough of them, or enough that are alike."""
    where, most = Counter(each.listed.where for each in left).most_common(1)[0]
    first = next(each.listed for each in left if each.listed.where == where)
    short = f"{where} has {most} that would do, and {exact.count} on one node are asked for"
    if most >= exact.count:
        return _nearest(
            first, (f"{where} has {most} that would do, and no {exact.count} of them are alike",), None
        )
    would = sum(count for count in Counter(each.listed.where for each in left).values() if count >= most)
    return _nearest(first, (short,), Suggestion("count", str(most), would))


def _nearest(listed: Listed, short: tuple[str, ...], suggestion: Suggestion | None) -> Nearest:
    return Nearest(str(listed.id), listed.where, listed.card, listed.kind, listed.memory, short, suggestion)


def _catalogue_id(product_name: str) -> str | None:
    from allotment.devices.catalogue import by_product_name

    card = by_product_name(product_name)
    return None if card is None else card.id
