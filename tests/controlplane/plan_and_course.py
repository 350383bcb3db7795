"""How far a plan and what then happened agree: order, cards and nodes, victims, and times.

Everything is held against the course that the plan shows, the draw that ends at the half, and times against
the whole of the draws. A run is known by its campaign, its volume and which attempt it is. Two that the
course has at one instant may come in either order.

Where a pod is agrees if it is on the node that the plan says, or follows on its card the very pod that the
plan has it follow, or has changed places with one that starts at the same instant: a Job's pods are made side
by side, and which is first is luck. A node that differs between draws is one that the scheduler chooses by
lot among equals: there any that a draw has will do, and these are counted apart. So it is with its card.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, NamedTuple

from allotment.simulation.outcome import End, Outcome, Span
from tests.controlplane.plans_that_are_run import Planned
from tests.controlplane.what_happened import Happened, Ran

INSTANT: Final = 1.0
"""Seconds. The Job controller looks at what has ended once a second, and so does Kueue at who waits."""


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """A campaign's volume, and which attempt."""

    work: str
    index: int
    attempt: int


class Count(NamedTuple):
    """So many of so many agree."""

    agree: int
    of: int

    @property
    def part(self) -> float:
        """As a part of all."""
        return self.agree / self.of if self.of else 1.0

    def __str__(self) -> str:
        return f"{self.agree}/{self.of}"


NOTHING: Final = Count(0, 0)


@dataclass(slots=True)
class Agreement:
    """Of one seed, or of all. ``differences`` are words for whoever looks into it."""

    runs: Count = NOTHING
    order: Count = NOTHING
    cards: Count = NOTHING
    nodes: Count = NOTHING
    by_lot: Count = NOTHING
    victims: Count = NOTHING
    left: Count = NOTHING
    starts: Count = NOTHING
    ends: Count = NOTHING
    campaigns: Count = NOTHING
    differences: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Mapping[str, Count]:
        """All figures by name."""
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS: Final = (
    "runs", "order", "cards", "nodes", "by_lot", "victims", "left", "starts", "ends", "campaigns",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sides:
    """What the plan shows and what happened, and the runs that are in ``both``."""

    both: Sequence[Run]
    plan: Mapping[Run, Span]
    real: Mapping[Run, Ran]


def compared(planned: Planned, happened: Happened, cards: Mapping[str, str]) -> Agreement:
    """The agreement of one seed; ``cards`` is which kind each node has."""
    found = Agreement()
    plan = _kept(planned.course)
    real = {Run(each.job, each.index, each.attempt): each for each in happened.runs if each.ended > 0}
    draws = [_kept(course) for course in planned.courses]
    both = [run for run in plan if run in real]
    sides = _Sides(both, plan, real)
    every = plan.keys() | real.keys()
    found.runs = Count(len(both), len(every))
    found.differences += [f"{_words(run)} is only in the plan" for run in sorted(plan.keys() - real.keys())]
    found.differences += [f"{_words(run)} only happened" for run in sorted(real.keys() - plan.keys())]
    _order(found, sides)
    _places(found, sides, draws, cards)
    _victims(found, planned, happened, sides)
    _times(found, both, real, draws)
    _campaigns(found, planned, happened, real)
    return found


def together(found: Iterable[Agreement]) -> Agreement:
    """All of them as one."""
    sums: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for each in found:
        for name, count in each.counts.items():
            sums[name] = (sums[name][0] + count.agree, sums[name][1] + count.of)
    whole = Agreement()
    for name in COLUMNS:
        setattr(whole, name, Count(*sums[name]))
    return whole


def _kept(course: Outcome) -> Mapping[Run, Span]:
    """Runs that did a page, or began one; those that were over at the snapshot are none."""
    found: dict[Run, Span] = {}
    tried: Counter[tuple[str, int]] = Counter()
    for each in sorted(course.spans, key=lambda span: span.bound):
        if each.ended > 0 and (each.pages or each.ready < each.ended):
            found[Run(each.work, each.index, tried[each.work, each.index])] = each
            tried[each.work, each.index] += 1
    return found


def _words(run: Run) -> str:
    return f"{run.work} volume {run.index}" + (f" attempt {run.attempt + 1}" if run.attempt else "")


def _order(found: Agreement, sides: _Sides) -> None:
    both, plan, real = sides.both, sides.plan, sides.real
    agree = of = 0
    for one, other in combinations(both, 2):
        gap, was = plan[other].ready - plan[one].ready, real[other].begun - real[one].begun
        of += 1
        if abs(gap) < INSTANT or (was if gap > 0 else -was) > -INSTANT:
            agree += 1
        else:
            found.differences.append(
                f"{_words(other)} is {gap:+.1f} s after {_words(one)} in the plan, and was {was:+.1f} s"
            )
    found.order = Count(agree, of)


def _places(
    found: Agreement, sides: _Sides, draws: Sequence[Mapping[Run, Span]], cards: Mapping[str, str]
) -> None:
    both, plan, real = sides.both, sides.plan, sides.real
    of_cards: list[bool] = []
    of_nodes: list[bool] = []
    by_lot: list[bool] = []
    followed = _followed([(run, each.devices, each.bound) for run, each in plan.items()])
    follows = _followed([(run, each.devices, each.begun) for run, each in real.items()])
    for run in both:
        node, was = plan[run].node, real[run].node
        possible = {each[run].node for each in draws if run in each}
        beside = [each for each in both if abs(plan[each].ready - plan[run].ready) < INSTANT]
        changed = any((plan[each].node, real[each].node) == (was, node) for each in beside)
        same = was in possible or changed or (followed[run] == follows[run] != {None})
        of_cards.append(cards[was] in {cards[each] for each in possible})
        (of_nodes if len(possible) == 1 else by_lot).append(same)
        if not same:
            found.differences.append(f"{_words(run)} is on {node} in the plan, and was on {was}")
    found.cards, found.nodes, found.by_lot = map(_counted, (of_cards, of_nodes, by_lot))


def _followed(runs: Iterable[tuple[Run, Sequence[str], float]]) -> Mapping[Run, set[Run | None]]:
    """Whom each run follows on its devices; nobody where it is the first."""
    last: dict[str, Run] = {}
    found: dict[Run, set[Run | None]] = {}
    for run, devices, _ in sorted(runs, key=lambda each: each[2]):
        found[run] = {last.get(device) for device in devices}
        last.update(dict.fromkeys(devices, run))
    return found


def _victims(found: Agreement, planned: Planned, happened: Happened, sides: _Sides) -> None:
    """Campaigns that Kueue evicts, each for whom and as often as it does; and volumes that left for it."""
    evicted = [each for each in planned.course.decisions if each.what == "evicted"]
    found.victims = _both(
        found,
        Counter(_eviction(each.work, each.by) for each in evicted),
        Counter(_eviction(work, by) for work, by in happened.evicted),
    )
    taken = {End.RECLAIMED, End.SHRUNK}
    found.left = _both(
        found,
        Counter(f"{_words(run)} leaves" for run, span in sides.plan.items() if span.end in taken),
        Counter(f"{_words(run)} leaves" for run, ran in sides.real.items() if ran.left),
    )


def _both(found: Agreement, said: Counter[str], were: Counter[str]) -> Count:
    only, missed = sorted((said - were).elements()), sorted((were - said).elements())
    found.differences += [f"{each} in the plan alone" for each in only]
    found.differences += [f"{each}, which is not in the plan" for each in missed]
    return Count((said & were).total(), (said | were).total())


def _eviction(work: str, by: str) -> str:
    return f"campaign {work} makes room for {by}"


def _times(
    found: Agreement, both: Sequence[Run], real: Mapping[Run, Ran], draws: Sequence[Mapping[Run, Span]]
) -> None:
    starts, ends = [], []
    for run in both:
        of = [each[run] for each in draws if run in each]
        if real[run].begun >= 0:
            starts.append(
                _within(found, f"{_words(run)} begins", real[run].begun, [each.ready for each in of])
            )
        ends.append(_within(found, f"{_words(run)} ends", real[run].ended, [each.ended for each in of]))
    found.starts, found.ends = _counted(starts), _counted(ends)


def _campaigns(found: Agreement, planned: Planned, happened: Happened, real: Mapping[Run, Ran]) -> None:
    """Start and end of each campaign that is planned, as the plan tells them."""
    held = []
    for work in planned.scene.planned:
        runs = [each for run, each in real.items() if run.work == work.name]
        ends = [each for course in planned.courses for each in course.ends if each.work == work.name]
        begun, ended = min(each.begun for each in runs), happened.ended[work.name]
        started = [each.started for each in ends if each.started is not None]
        finished = [each.finished for each in ends if each.finished is not None]
        if begun >= 0:
            held.append(_within(found, f"campaign {work.name} begins", begun, started))
        held.append(_within(found, f"campaign {work.name} ends", ended, finished))
    found.campaigns = _counted(held)


def _within(found: Agreement, what: str, at: float, drawn: Sequence[float]) -> bool:
    """Whether a time is one of those that were drawn, to the instant."""
    least, most = min(drawn), max(drawn)
    if least - INSTANT <= at <= most + INSTANT:
        return True
    found.differences.append(f"{what} at {at:.1f} s, and {least:.1f} to {most:.1f} s in the plan")
    return False


def _counted(held: Sequence[bool]) -> Count:
    return Count(sum(held), len(held))
