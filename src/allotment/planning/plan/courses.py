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
    run, and ``waits`` how long it waited, both only of what is planned.
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
    """One course: its seed, what became of each work, how many cards there are, and what there is to say."""

    seed: int
    works: Mapping[str, WorkCourse]
    gpus: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    nodes: Mapping[str, float] = field(default_factory=dict)


def course_of(outcome: Outcome, planned: Collection[str]) -> Course:
    """What a plan keeps of an outcome; ``nodes`` are those that planned works used, and for how long."""
    spans = defaultdict[str, list[Span]](list)
    waits = defaultdict[str, list[WaitSpan]](list)
    nodes = defaultdict[str, float](float)
    for span in outcome.spans:
        spans[span.work].append(span)
        if span.work in planned:
            nodes[span.node] += max(span.gpus, 1e-9) * (span.ended - span.bound) / 3600
    for wait in outcome.waits:
        waits[wait.work].append(wait)
    works = {
        end.work: _work(end, spans[end.work], waits[end.work], planned, in_full=end.work in planned)
        for end in outcome.ends
    }
    return Course(outcome.seed, works, outcome.gpus, outcome.notes, dict(nodes))


def _work(
    end: WorkEnd,
    spans: Collection[Span],
    waits: Collection[WaitSpan],
    planned: Collection[str],
    *,
    in_full: bool,
) -> WorkCourse:
    hours = defaultdict[str, float](float)
    for span in spans:
        hours[span.card] += span.gpus * (span.ended - span.bound) / 3600
    lost = [span for span in spans if span.end in TAKEN_BACK]
    reclaimed = [span for span in lost if span.end is End.RECLAIMED]
    taken = [span for span in reclaimed if span.by in planned]
    waited = defaultdict[tuple[str, str], float](float)
    for wait in waits if in_full else ():
        waited[wait.reason, wait.message] += wait.until - wait.since
    steps = [(moment, by) for span in spans for moment, by in ((span.bound, 1.0), (span.ended, -1.0))]
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
        steps=tuple(sorted(steps)) if in_full else (),
        waits=dict(waited),
    )
