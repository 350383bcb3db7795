"""A trace as what is compared: a scene for each scheduler, of a cluster that is sized for its jobs.

A trace leaves much open that decides what comes of it: how large the cluster is, who shares it and how, what
a job keeps that is taken back. All of it is an input here, and said with the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.pictures.counts import counted
from allotment.planning.compare.comparing import Variant
from allotment.planning.scenes.values import Assumption, Scene, Source
from allotment.quantities import format_duration
from allotment.scheduling.kai import Action
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Pace, Scheduler, Setting
from allotment.simulation.traces.clusters import Demand, alike, even_shares, setting_of, sized
from allotment.simulation.traces.jobs import WHOLE, Job, JobKind, TraceNode
from allotment.simulation.traces.named import Trace
from allotment.simulation.traces.works import Making, decided_by, teams_of, works_of

DEPTH: Final = 2
TAKING: Final = (Action.RECLAIM, Action.PREEMPT, Action.CONSOLIDATION)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a trace.

    ``first`` jobs of it alone (0: all) come to so many ``nodes`` with as many ``cards`` each; 0 nodes: those
    that the trace lists, or ``size`` times what its jobs hold in the mean. ``limit`` is of each team, in
    parts of its quota. ``depth`` is how many jobs of a queue KAI looks at to take cards back for.
    """

    making: Making = field(default_factory=Making)
    first: int = 0
    nodes: int = 0
    cards: int = 8
    size: float = 1.0
    limit: float | None = None
    depth: int = DEPTH
    coarse: float = 0.0

    def jobs(self, trace: Trace) -> tuple[Job, ...]:
        """Those that are asked about, by arrival; without those of which nobody knows how long they ran."""
        known = (job for job in trace.jobs if job.seconds is not None or job.kind is JobKind.FLEET)
        return tuple(sorted(known, key=lambda job: job.arrival)[: self.first or None])

    def cluster(self, trace: Trace) -> tuple[TraceNode, ...]:
        """The nodes that they come to."""
        if self.nodes:
            return alike(self.nodes, cards=self.cards)
        return trace.nodes or sized(Demand.of(self.jobs(trace)), self.size, cards=self.cards)


def variants_of(trace: Trace, asked: Asked, schedulers: Sequence[Scheduler]) -> list[Variant]:
    """A column for each scheduler."""
    jobs, nodes = asked.jobs(trace), asked.cluster(trace)
    works = works_of(jobs, asked.making)
    teams = teams_of(jobs, asked.making)
    count = sum(node.gpus for node in nodes)
    shares = even_shares(teams, count)
    if asked.limit is not None:
        limit = asked.limit
        shares = {name: replace(share, limit=limit * (share.quota or 0.0)) for name, share in shares.items()}
    assumed = tuple(_assumed(trace, asked, jobs, nodes, len(teams)))
    found = []
    for scheduler in schedulers:
        setting = setting_of(scheduler, nodes, shares, Pace(coarse=asked.coarse))
        scene = Scene(
            _with_depth(setting, asked.depth),
            decided_by(works, scheduler),
            RunTimes(),
            (*assumed, *_assumed_of(scheduler, asked, jobs)),
            trace.notes,
            trace.name,
        )
        found.append(Variant(str(scheduler), str(scheduler), scene=scene))
    return found


def _with_depth(setting: Setting, depth: int) -> Setting:
    kai = replace(setting.kai, depth=dict.fromkeys(TAKING, depth)) if depth else setting.kai
    return replace(setting, kai=kai)


def _assumed(
    trace: Trace, asked: Asked, jobs: Sequence[Job], nodes: Sequence[TraceNode], teams: int
) -> Iterator[Assumption]:
    demand, cards = Demand.of(jobs), sum(node.gpus for node in nodes)
    listed = bool(trace.nodes) and not asked.nodes
    size = f"{counted(len(nodes), 'node')} with {counted(cards, 'card')}"
    said = f"the jobs would hold {demand.cards:,.0f} cards in the mean if none waited"
    said = f"--nodes; {said}" if asked.nodes else said
    yield Assumption("the cluster", size, Source.STATED if listed or asked.nodes else Source.GUESS, said)
    among = "1 team has all of it" if teams == 1 else f"{teams} teams with the same quota each"
    named = "the trace names the teams" if all(job.team for job in jobs) else "users are divided by name"
    yield Assumption("shares", among, Source.GUESS, f"{named}, and traces tell no quotas")
    if any(not job.pages for job in jobs):
        kept = f"what it had {format_duration(round(asked.making.checkpoint))} ago"
        yield Assumption("a job that is taken back keeps", kept, Source.GUESS, "traces do not tell")
    unknown = sum(job.seconds is None and job.kind is not JobKind.FLEET for job in trace.jobs)
    if unknown:
        yield Assumption(
            "left out", counted(unknown, "job"), Source.STATED, "the trace has no run time of them"
        )


def _assumed_of(scheduler: Scheduler, asked: Asked, jobs: Sequence[Job]) -> Iterator[Assumption]:
    if scheduler is Scheduler.KAI and asked.depth:
        depth = f"to take cards back for, KAI looks at {counted(asked.depth, 'job')} of a queue at most"
        yield Assumption("queueDepthPerAction", depth, Source.GUESS, "KAI's own default is all of them")
    if scheduler is Scheduler.DEFAULT and len({job.priority for job in jobs}) > 1:
        said = "as priority classes do unless they say `preemptionPolicy: Never`, which allotment's own do"
        yield Assumption("higher priorities", "take cards from lower ones", Source.DEFAULT, said)
    shared = any(job.gpus and job.share < WHOLE for job in jobs)
    if shared and scheduler is Scheduler.BOTH:
        value, said = (
            "placed by KAI, and in no quota",
            "Kueue counts no fractions, and KAI has no quotas beside it",
        )
        yield Assumption("parts of cards", value, Source.STATED, said)
    elif shared and scheduler is not Scheduler.KAI:
        yield Assumption("parts of cards", "a whole card each", Source.STATED, "only KAI knows fractions")
    if asked.coarse:
        pause = format_duration(round(asked.coarse))
        yield Assumption("rounds", f"one in {pause} at most", Source.GUESS, "--coarse")
