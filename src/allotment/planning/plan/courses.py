"""What a plan keeps of one simulated course: little, for there are many, and they come from elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.simulation.outcome import End, Outcome, Span, WaitSpan, WorkEnd

TAKEN_BACK: Final = frozenset({End.RECLAIMED, End.NODE_LOST, End.SHRUNK})


@dataclass(frozen=True, slots=True)
class WorkCourse:
    """What became of one work. ``hours`` are GPU-hours by kind of card.

    ``taken`` is how many of its pods were reclaimed for what is planned, ``pages_taken`` how many pages are
    done again for that; ``reclaimed`` and ``pages_lost`` count all that were. ``steps`` says how many pods
    run, and ``waits`` how long it waited, both only of what is planned; of other fleets, ``steps`` are of
    how many GPUs they have.
    """

    started: float | None = None
    finished: float | None = None
    failed: int = 0
    left: int = 0
    never: str = ""
    hours: Mapping[str, float] = field(default_factory=dict)
    reclaimed: int = 0
    pages_lost: int = 0
    taken: int = 0
    pages_taken: int = 0
    steps: tuple[tuple[float, float], ...] = ()
    waits: Mapping[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Course:
    """One course: its seed, what became of each work, how many cards there are, and what there is to say.

    ``nodes`` are those that planned works used, and for how many hours of them.
    """

    seed: int
    works: Mapping[str, WorkCourse]
    gpus: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    nodes: Mapping[str, float] = field(default_factory=dict)


def course_of(outcome: Outcome, planned: Collection[str], fleets: Collection[str] = ()) -> Course:
    """What a plan keeps of an outcome; ``fleets`` are those that are there beside what is planned."""
    spans = defaultdict[str, list[Span]](list)
    waits = defaultdict[str, list[WaitSpan]](list)
    nodes = defaultdict[str, float](float)
    for span in outcome.spans:
        spans[span.work].append(span)
        if span.work in planned:
            nodes[span.node] += max(span.gpus, 1e-9) * (span.ended - span.bound) / 3600
    for wait in outcome.waits:
        waits[wait.work].append(wait)
    works = {}
    for end in outcome.ends:
        own, kept = spans[end.work], end.work in planned
        steps = _steps(own, weighed=not kept) if kept or end.work in fleets else ()
        works[end.work] = _work(end, own, waits[end.work] if kept else (), planned, steps)
    return Course(outcome.seed, works, outcome.gpus, outcome.notes, dict(nodes))


def _steps(spans: Collection[Span], *, weighed: bool) -> tuple[tuple[float, float], ...]:
    """When pods begin and end, each as one, or as many as it has GPUs."""
    found = []
    for span in spans:
        size = span.gpus if weighed else 1.0
        found += [(span.bound, size), (span.ended, -size)]
    return tuple(sorted(found))


def _work(
    end: WorkEnd,
    spans: Collection[Span],
    waits: Collection[WaitSpan],
    planned: Collection[str],
    steps: tuple[tuple[float, float], ...],
) -> WorkCourse:
    hours = defaultdict[str, float](float)
    for span in spans:
        hours[span.card] += span.gpus * (span.ended - span.bound) / 3600
    lost = [span for span in spans if span.end in TAKEN_BACK]
    reclaimed = [span for span in lost if span.end is End.RECLAIMED]
    taken = [span for span in reclaimed if span.by in planned]
    waited = defaultdict[tuple[str, str], float](float)
    for wait in waits:
        waited[wait.reason, wait.message] += wait.until - wait.since
    return WorkCourse(
        started=end.started,
        finished=end.finished,
        failed=end.failed,
        left=end.left,
        never=end.never,
        hours={card: each for card, each in hours.items() if each > 0},
        reclaimed=len(reclaimed),
        pages_lost=sum(span.lost > 0 for span in lost),
        taken=len(taken),
        pages_taken=sum(span.lost > 0 for span in taken),
        steps=steps,
        waits=dict(waited),
    )
