"""Tasks come one after the other and never end: how much of the cards is given out when they are all there.

A task for which there is no room is turned away. What is told is how much was given out, and how much of what
is idle is a fragment, each time the demand that has come passes another hundredth of all cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from allotment.simulation.draws import Draws
from allotment.simulation.filling.arriving import arrivals
from allotment.simulation.filling.fragments import Fragments
from allotment.simulation.filling.machines import Machine, Want
from allotment.simulation.filling.policies import Name, policy_of
from allotment.simulation.filling.ranking import NO_ROOM, Ranking, Ties, ranking_of
from allotment.simulation.traces.jobs import WHOLE, Job, TraceNode

DEMAND: Final = 1.3


@dataclass(frozen=True, slots=True)
class Point:
    """When so many hundredths of all cards were asked for: so many were given out, so many are fragments."""

    demand: int
    given: float
    fragments: float


@dataclass(frozen=True, slots=True)
class Filled:
    """What became of a filling: ``given`` hundredths of all cards in the end, and the way there."""

    policy: Name
    ties: Ties
    seed: int
    given: float
    placed: int
    turned_away: int
    points: tuple[Point, ...]


def fill(
    nodes: Sequence[TraceNode],
    jobs: Sequence[Job],
    policy: Name,
    *,
    ties: Ties = Ties.RANDOM,
    seed: int = 0,
    demand: float = DEMAND,
) -> Filled:
    """Fill the nodes with the jobs, in an order by chance, until so much is asked for.

    A policy that takes any node takes any of equals, whatever the tie rule.
    """
    draws = Draws(seed)
    machines = [Machine.of(node) for node in sorted(nodes, key=lambda node: node.name)]
    if ties is Ties.SHUFFLED:
        draws.stream("nodes").shuffle(machines)
    wants = [Want.of(job) for job in sorted(jobs, key=lambda job: job.name)]
    all_cards = sum(len(machine.gpus) for machine in machines) * WHOLE
    fragments = Fragments(wants)
    thinks = policy_of(policy, fragments, draws.stream("cards"))
    rule = Ties.RANDOM if policy is Name.RANDOM else ties
    order = arrivals(wants, demand * all_cards, draws.stream("arrivals"))
    by_chance = draws.stream("ties")
    rankings: dict[Want, Ranking] = {}
    changed: list[int] = list(range(len(machines)))
    asked = given = placed = 0
    points: list[Point] = []
    for want in order:
        ranking = rankings.get(want)
        if ranking is None:
            ranking = rankings[want] = ranking_of(rule, len(machines), by_chance)
        for number in set(changed[ranking.seen :]) if ranking.seen else changed[: len(machines)]:
            machine = machines[number]
            ranking.rate(number, thinks.score(machine, want) if machine.fits(want) else NO_ROOM)
        ranking.seen = len(changed)
        best = ranking.best()
        asked += want.total
        if best is not None:
            machines[best].put(want, thinks.cards(machines[best], want))
            changed.append(best)
            given += want.total
            placed += 1
        step = asked * 100 // all_cards
        if not points or step > points[-1].demand:
            lost = sum(map(fragments.of, machines))
            points.append(Point(step, 100 * given / all_cards, 100 * lost / all_cards))
    return Filled(policy, rule, seed, 100 * given / all_cards, placed, len(order) - placed, tuple(points))
