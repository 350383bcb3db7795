"""What an outcome comes to in figures: waiting, finish, use of cards, fairness, what reclaims cost, money.

Only the record of the runs is read, never a scheduler, so that the same figures hold for each of them, and
for a trace. All of it is linear in the spans, but for putting times in order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from allotment.simulation.fairness import deserved_over_time, evenness
from allotment.simulation.machines import closed_nodes
from allotment.simulation.outcome import End, Outcome, Span, WorkEnd
from allotment.simulation.over_time import OverTime, summed
from allotment.simulation.quantiles import quantile
from allotment.simulation.setting import Setting, TeamShare
from allotment.simulation.work import Kind, Work

_GPU = "gpu"  # stands in the names of drivers and of counted resources of cards, and by it KAI counts them
_TAKEN_BACK = frozenset({End.RECLAIMED, End.NODE_LOST, End.SHRUNK})


@dataclass(frozen=True, slots=True)
class Ground:
    """What figures are measured against: the teams' shares, and the nodes that have cards."""

    teams: Mapping[str, TeamShare] = field(default_factory=dict, hash=False)
    nodes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long the works of a team and kind waited for their first pod, in seconds.

    One that never began counts with the time until the end; ``never`` says how many those are.
    """

    team: str
    kind: Kind
    works: int
    p50: float
    p90: float
    most: float
    never: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """GPU-seconds of a work on a kind of card, and what they cost (None: the card has no price)."""

    team: str
    work: str
    card: str
    seconds: float
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of one outcome; all over the time from 0 until ``over``, when the last of what ends ran.

    ``use`` is GPU-seconds given of those there are, ``served`` of those that were asked for and there are.
    ``free_nodes`` is how many nodes had no GPU in use, in the mean. ``fairness`` is None where no two teams
    ever asked at once. ``lost_pages`` were in work when their pod was taken away, ``lost`` are GPU-seconds
    that have to be spent again: those pages, starts and loads of models.
    """

    over: float
    makespan: float | None
    unfinished: int
    finishes: Mapping[str, float | None] = field(hash=False)
    waits: tuple[Waiting, ...]
    use: float
    served: float
    given: float
    available: float
    free_nodes: float
    fairness: float | None
    reclaims: int
    lost_pages: int
    lost: float
    spent: tuple[Spent, ...]
    in_use: OverTime
    nodes_free: OverTime
    asked: Mapping[str, OverTime] = field(hash=False)
    shares: Mapping[str, OverTime] = field(hash=False)
    deserved: Mapping[str, OverTime] = field(hash=False)

    @property
    def money(self) -> float | None:
        """What all of it cost, where every card that was used has a price."""
        prices = [each.money for each in self.spent]
        return None if None in prices else sum(price for price in prices if price is not None)


def ground_of(setting: Setting) -> Ground:
    """The teams of a setting, and its nodes with cards: one on which no pod starts is free for nobody."""
    state = setting.state
    nodes = {each.node for each in state.devices if _GPU in each.driver}
    if state.published is not None:
        slices = state.published.slices
        nodes |= {each.node_name for each in slices if each.node_name and _GPU in each.driver}
    nodes |= {
        name
        for name, node in state.nodes.items()
        if any(count for key, count in node.allocatable.items() if _GPU in key)
    }
    return Ground(setting.teams, frozenset(nodes) - closed_nodes(setting))


def measure(
    outcome: Outcome,
    works: Iterable[Work],
    ground: Ground,
    prices: Mapping[str, float] | None = None,
    over: float | None = None,
) -> Metrics:
    """The figures of an outcome of these works; ``prices`` are by kind of card and hour."""
    by_name = {work.name: work for work in works}
    end = _over(outcome, by_name) if over is None else over
    given = defaultdict[str, list[tuple[float, float]]](list)
    for span in outcome.spans:
        given[span.team] += [(span.bound, span.gpus), (span.ended, -span.gpus)]
    shares = {team: summed(changes) for team, changes in sorted(given.items())}
    capacity = float(sum(count for _, count in outcome.gpus))
    asked = _asked(outcome, by_name)
    rights = deserved_over_time(asked, ground.teams, capacity)
    in_use = summed(change for changes in given.values() for change in changes)
    asked_of_all = summed(change for each in asked.values() for change in _changes(each))
    wanted = OverTime(tuple((time, min(capacity, value)) for time, value in asked_of_all.points))
    nodes_free = _nodes_free(outcome.spans, ground.nodes)
    used, available, could = in_use.total(0.0, end), capacity * end, wanted.total(0.0, end)
    finishes = {each.work: each.finished for each in outcome.ends if _ends(by_name.get(each.work))}
    lasts = [time for time in finishes.values() if time is not None]
    return Metrics(
        over=end,
        makespan=max(lasts) if lasts and len(lasts) == len(finishes) else None,
        unfinished=len(finishes) - len(lasts),
        finishes=finishes,
        waits=_waits(outcome, by_name),
        use=_part(used, available),
        served=_part(used, could),
        given=used,
        available=available,
        free_nodes=nodes_free.mean(0.0, end),
        fairness=evenness(shares, asked, rights, end),
        reclaims=sum(span.end is End.RECLAIMED for span in outcome.spans),
        lost_pages=sum(span.lost > 0 for span in outcome.spans if span.end in _TAKEN_BACK),
        lost=sum(span.gpus * _again(span) for span in outcome.spans if span.end in _TAKEN_BACK),
        spent=_spent(outcome.spans, prices or {}, end),
        in_use=in_use,
        nodes_free=nodes_free,
        asked=asked,
        shares=shares,
        deserved=rights,
    )


def _ends(work: Work | None) -> bool:
    return work is not None and work.kind is not Kind.FLEET


def _over(outcome: Outcome, works: Mapping[str, Work]) -> float:
    """When the last of what ends was over, or did anything at all; the horizon where nothing does."""
    finished = [each.finished for each in outcome.ends if _ends(works.get(each.work))]
    lasts = [time for time in finished if time is not None]
    lasts += [span.ended for span in outcome.spans if _ends(works.get(span.work))]
    return max(lasts, default=outcome.until)


def _part(of: float, all_of_it: float) -> float:
    return min(1.0, max(0.0, of / all_of_it)) if all_of_it > 0 else 0.0


def _again(span: Span) -> float:
    return span.lost + max(0.0, min(span.ready, span.ended) - span.bound)


def _changes(steps: OverTime) -> Iterable[tuple[float, float]]:
    before = 0.0
    for time, value in steps.points:
        yield time, value - before
        before = value


def _nodes_free(spans: Sequence[Span], nodes: frozenset[str]) -> OverTime:
    changes = defaultdict[str, list[tuple[float, float]]](list)
    for span in spans:
        if span.node in nodes and span.gpus > 0:
            changes[span.node] += [(span.bound, 1.0), (span.ended, -1.0)]
    busy: list[tuple[float, float]] = []
    for each in changes.values():
        before = 0.0
        for time, value in summed(each).points:
            now = 1.0 if value > 0 else 0.0
            busy.append((time, before - now))
            before = now
    return summed(busy, float(len(nodes)))


def _asked(outcome: Outcome, works: Mapping[str, Work]) -> dict[str, OverTime]:
    """How many GPUs each team asks for over time: its works' windows, as long as so much of them is left."""
    over = defaultdict[str, dict[int, float]](dict)
    for span in outcome.spans:
        if span.end in {End.COMPLETE, End.FAILED}:
            over[span.work][span.index] = span.ended
    changes = defaultdict[str, list[tuple[float, float]]](list)
    for end in outcome.ends:
        work = works.get(end.work)
        if work is not None and work.ask.gpus > 0 and end.arrival <= outcome.until:
            changes[end.team] += _asked_by(work, end, sorted(over[end.work].values()), outcome.until)
    return {team: summed(each) for team, each in sorted(changes.items())}


def _asked_by(work: Work, end: WorkEnd, over: Sequence[float], until: float) -> Iterable[tuple[float, float]]:
    gpus, stop = work.ask.gpus, until if end.finished is None else end.finished
    if work.kind is not Kind.CAMPAIGN:
        return [(end.arrival, gpus * work.most), (stop, -gpus * work.most)]
    left = sum(not unit.pages or unit.done < unit.pages for unit in work.units)
    pods = math.ceil(left / max(1, work.pack))
    window = min(work.most, pods)
    changes = [(end.arrival, gpus * window)]
    for time in over[max(0, pods - work.most) :] if window else ():
        if time < stop:
            changes.append((time, -gpus))
            window -= 1
    return [*changes, (stop, -gpus * window)]


def _waits(outcome: Outcome, works: Mapping[str, Work]) -> tuple[Waiting, ...]:
    waited = defaultdict[tuple[str, Kind], list[float]](list)
    never: Counter[tuple[str, Kind]] = Counter()
    for end in outcome.ends:
        work = works.get(end.work)
        if work is None or end.arrival > outcome.until:
            continue
        key = (end.team, work.kind)
        waited[key].append((outcome.until if end.started is None else end.started) - end.arrival)
        never[key] += end.started is None
    return tuple(_waiting(key, each, never[key]) for key, each in sorted(waited.items()))


def _waiting(key: tuple[str, Kind], waited: Sequence[float], never: int) -> Waiting:
    p50, p90 = quantile(waited, 0.5) or 0.0, quantile(waited, 0.9) or 0.0
    return Waiting(*key, len(waited), p50, p90, max(waited), never)


def _spent(spans: Sequence[Span], prices: Mapping[str, float], until: float) -> tuple[Spent, ...]:
    seconds = defaultdict[tuple[str, str, str], float](float)
    for span in spans:
        if span.gpus > 0 and span.bound < until:
            key = (span.team, span.work, span.card)
            seconds[key] += span.gpus * (min(span.ended, until) - span.bound)
    return tuple(
        Spent(team, work, card, each, each / 3600 * prices[card] if card in prices else None)
        for (team, work, card), each in sorted(seconds.items())
    )
