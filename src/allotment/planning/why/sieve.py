"""Where devices fall out, one request at a time: condition by condition, and with which values.

The class and the selectors come first, taken apart at their ``&&``; then capacity, taints and pools, and
whether a node reaches the device at all. What is left would do on paper. Then comes whether one node has
enough of them; and only then who holds them, and what is left of the counters that they share with others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from allotment.devices.allocation import Taken
from allotment.devices.allocation.amounts import demand_of
from allotment.devices.cel.parts import conditions
from allotment.devices.claims import ExactRequest, Request, SubRequest
from allotment.devices.classes import CPU_CLASS
from allotment.devices.inventory import State
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.selectors import Matcher, SelectorError
from allotment.needs.clauses import Candidate, Clause, Kind, clauses_of, failed_words
from allotment.needs.words import amount_words, request_words
from allotment.planning.why.counters import CounterLook
from allotment.planning.why.room import Room
from allotment.planning.why.steps import HAS_REST, HELD_BY, OF_CLAUSES, Condition, Lost, Sifted, Stage, Step
from allotment.planning.why.values import OTHERS, card_name, memory_words, named, said, values_words
from allotment.quantities import format_bytes

_STAGES: Final = {
    Kind.CLASS: Stage.CLASS,
    Kind.MEMORY: Stage.MEMORY,
    Kind.CARD: Stage.CARD,
    Kind.PART: Stage.PART,
    Kind.SELECT: Stage.SELECT,
    Kind.TAINT: Stage.TAINT,
    Kind.POOL: Stage.POOL,
    Kind.OPEN: Stage.OPEN,
    Kind.GATE: Stage.GATE,
}


def sift(room: Room, request: Request, sub: SubRequest) -> Sifted:
    """The alternative, as far as single devices decide it."""
    return _Sieve(room, Sifted(request, sub, request_words(sub.exactly))).sifted()


class _Sieve:
    """One alternative on its way through the funnel."""

    def __init__(self, room: Room, found: Sifted) -> None:
        self.room = room
        self.found = found
        self.exact = found.exact

    def sifted(self) -> Sifted:
        found, exact = self.found, self.exact
        processors = exact.device_class == CPU_CLASS
        left = [each for each in self.room.candidates if (each.driver == CPU_DRIVER) is processors]
        noun = "processor" if processors else "device"
        found.everything = found.before = left
        self._step(Stage.CLASS, noun if len(left) == 1 else f"{noun}s", len(left))
        if exact.device_class not in self.room.world.classes:
            found.fault = f"there is no device class `{exact.device_class}`"
            return found
        for clause in clauses_of(exact, self.room.world):
            if clause.kind is Kind.TAINT:
                found.every = left
            if clause.kind is Kind.CAPACITY:
                left = self._by_reason(Stage.CAPACITY, clause.words, left, self._lacks_capacity)
                continue
            try:
                left = self._by_clause(clause, left)
            except SelectorError as error:
                found.fault = str(error)
                return found
            if clause.kind is Kind.CLASS:
                found.of_class = left
        for stage, words, why in (
            (Stage.REACH, "are reached from a node that is known", self._out_of_reach),
            (Stage.COUNTERS, "fit into what their card shares out", CounterLook(self.room, Taken())),
        ):
            left = self._by_reason(stage, words, left, why)
        found.would = left
        left = self._by_reason(Stage.USE, "are not in use", left, self._in_use)
        counters = CounterLook(self.room, self.room.taken)
        found.free = self._by_reason(
            Stage.COUNTERS, "have enough left of what they share with others", left, counters
        )
        return found

    def _by_clause(self, clause: Clause, left: list[Candidate]) -> list[Candidate]:
        """What is left after a clause, a step for each of its conditions that refuses something."""
        stage, exact = _STAGES[clause.kind], self.exact
        parts = list(_conditions(clause, exact))
        self.found.conditions += parts if stage in {Stage.CLASS, *OF_CLAUSES} else []
        refused: dict[int, list[Candidate]] = defaultdict(list)
        kept = []
        for each in left:
            try:
                place = _refusing(clause, parts, each, self.room.matches)
            except SelectorError as error:
                where = f"{each.listed.id.device} of {each.listed.where}"
                words = failed_words(clause, each, error, self.room.matches)
                raise SelectorError(f"{words} (on {where})") from error
            if place is None:
                kept.append(each)
            else:
                refused[place].append(each)
        count = len(left)
        for place, part in enumerate(parts):
            lost = refused[place]
            count -= len(lost)
            said = stage in {Stage.MEMORY, Stage.CARD, Stage.SELECT} and bool(left)
            if lost or said:
                text = " && ".join(part.texts)
                self._step(stage, part.words, count, lost, why=_why_refused(part, self.room), text=text)
            if lost and not count and stage in OF_CLAUSES:
                self.found.before = [*lost, *kept]
        if stage is Stage.CLASS:
            self._step(stage, clause.words, count)
        return kept

    def _by_reason(
        self,
        stage: Stage,
        words: str,
        left: list[Candidate],
        why: Callable[[Candidate], str | None],
    ) -> list[Candidate]:
        """What is left of devices of which a reason may take some; no step where it takes none."""
        kept: list[Candidate] = []
        lost: list[tuple[Candidate, str]] = []
        for each in left:
            reason = why(each)
            if reason is None:
                kept.append(each)
            else:
                lost.append((each, reason))
        if lost:
            reasons = {each.listed.id: reason for each, reason in lost}
            gone = [each for each, _ in lost]
            self._step(stage, words, len(kept), gone, why=lambda each: reasons[each.listed.id])
        return kept

    def _step(
        self,
        stage: Stage,
        words: str,
        left: int,
        lost: Iterable[Candidate] = (),
        *,
        why: Callable[[Candidate], str] = lambda _: "",
        text: str = "",
    ) -> None:
        self.found.steps.append(Step(stage, words, left, grouped(lost, why), text))

    def _lacks_capacity(self, candidate: Candidate) -> str | None:
        asked, has = self.exact.capacity, candidate.device.capacity
        fractions = self.room.ground.features.fractional_capacity_range
        demand = demand_of(asked, has, fractions=fractions)
        if not asked or (demand is not None and demand.fits({}, {})):
            return None
        parts = (
            f"`{name}` is {has[name].value}, asked {amount_words(amount)}"
            if name in has
            else f"no capacity `{name}`"
            for name, amount in asked.items()
        )
        return ", ".join(parts)

    def _out_of_reach(self, candidate: Candidate) -> str | None:
        if self.room.reached(candidate.listed.id) is not None:
            return None
        return f"it is for {candidate.listed.where}"

    def _in_use(self, candidate: Candidate) -> str | None:
        device, taken = candidate.listed.id, self.room.taken
        who = named(self.room.holders(device), OTHERS)
        if self.exact.admin_access:
            return None
        if device in taken.devices:
            return f"{HELD_BY}{who}"
        if not candidate.device.allow_multiple_allocations:
            return None
        fractions = self.room.ground.features.fractional_capacity_range
        demand = demand_of(self.exact.capacity, candidate.device.capacity, fractions=fractions)
        if demand is None or demand.fits(taken.capacity_of(device), {}):
            return None
        held = taken.capacity_of(device)
        short = next(share for share in demand.shares if share.amount + held.get(share.name, 0) > share.value)
        left = max(0, short.value - held.get(short.name, 0)) / 10**9
        return f"{format_bytes(int(left))} of its `{short.name}` is left, and {who} {HAS_REST}"


def _conditions(clause: Clause, exact: ExactRequest) -> Iterator[Condition]:
    stage = _STAGES[clause.kind]
    if stage is Stage.CLASS or stage is Stage.SELECT:
        of = f" (class {exact.device_class})" if stage is Stage.CLASS else ""
        texts = [text for selector in clause.selectors for text in conditions(selector)]
        for text in texts:
            yield Condition(stage, f"pass `{text}`{of}", (text,), clause)
        if texts:
            return
    yield Condition(stage, clause.words, clause.selectors, clause)


def _refusing(
    clause: Clause, parts: Sequence[Condition], candidate: Candidate, matches: Matcher
) -> int | None:
    """Which of the conditions refuses the device; None for none of them. The whole clause decides."""
    if clause.holds(candidate, matches):
        return None
    if len(parts) > 1:
        for place, part in enumerate(parts):
            if not passes(part, candidate, matches, unknown=True):
                return place
    return len(parts) - 1


def passes(part: Condition, candidate: Candidate, matches: Matcher, *, unknown: bool = False) -> bool:
    """Whether the device passes the condition alone; ``unknown`` is the answer where it cannot be told."""
    try:
        return all(matches(text, candidate.driver, candidate.device) for text in part.texts)
    except SelectorError:
        return unknown


def _why_refused(part: Condition, room: Room) -> Callable[[Candidate], str]:
    def why(candidate: Candidate) -> str:
        if part.stage is Stage.MEMORY:
            return memory_words(candidate)
        if part.stage is Stage.POOL:
            return _pool_words(candidate, room)
        if part.stage is Stage.OPEN:
            return candidate.listed.closed
        if part.stage is Stage.TAINT:
            return taint_words(candidate)
        return values_words(part.texts, candidate)

    return why


def _pool_words(candidate: Candidate, room: Room) -> str:
    """Why the pool cannot be used; of one that is being updated, how much of it is there."""
    if candidate.listed.state is not State.INCOMPLETE:
        return candidate.listed.why
    key = candidate.driver, candidate.listed.id.pool
    pool = [each for each in room.world.slices if (each.driver, each.pool.name) == key]
    newest = max(each.pool.generation for each in pool)
    current = [each.pool.resource_slice_count for each in pool if each.pool.generation == newest]
    have = "is" if len(current) == 1 else "are"
    return f"{candidate.listed.why}, and {len(current):,} of {max(current):,} slices {have} there"


def taint_words(candidate: Candidate) -> str:
    """The taints that keep pods off."""
    blocking = [taint for taint in candidate.device.taints if taint.blocks]
    return ", ".join(
        f"{taint.key}{f'={said(taint.value)}' if taint.value else ''}:{taint.effect}" for taint in blocking
    )


def grouped(devices: Iterable[Candidate], why: Callable[[Candidate], str]) -> tuple[Lost, ...]:
    """The devices by card and reason, the most first."""
    counts: Counter[tuple[str, str]] = Counter()
    nodes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for each in devices:
        key = card_name(each.listed), why(each)
        counts[key] += 1
        nodes[key][each.listed.where] = None
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return tuple(Lost(count, card, reason, tuple(nodes[card, reason])) for (card, reason), count in ordered)
