"""Intervals of nine tenths against further draws, on Philly and Helios, schedulers side by side.

Self-consistency: the same simulator under other seeds and other run times, not a real cluster. 85 to 95 of
100 outcomes must lie in their intervals. The traces lie in the folder ALLOT_TRACES; without it this is left
out.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from allotment.planning.self_consistency import FORECASTS, SHARE, Figures, Held, figures_of, held
from allotment.planning.trace_scenes import Asked, variants_of
from allotment.simulation.many import Case, Task, played
from allotment.simulation.metrics import Ground, ground_of
from allotment.simulation.outcome import Outcome
from allotment.simulation.setting import Scheduler
from allotment.simulation.traces.named import read_trace
from allotment.simulation.traces.times import Redrawing
from allotment.simulation.work import Work
from benchmarks.ratio import Ratio

SIZES = {"philly": 0.8, "helios": 0.06}
"""The traces, and clusters so small for their first jobs that many of these wait."""
SCHEDULERS = (Scheduler.SIMPLE, Scheduler.DEFAULT, Scheduler.KUEUE, Scheduler.KAI, Scheduler.BOTH)
JOBS = int(os.environ.get("ALLOT_TRACE_JOBS", "200"))
OUTCOMES = 55
"""Further draws: many, for what begins late in one of them is late for all jobs behind it."""
UNTIL = 366 * 86_400.0


def run() -> list[Ratio]:
    """How far each scheduler's coverage on each trace is from nine tenths, of the five hundredths allowed."""
    folder = os.environ.get("ALLOT_TRACES", "")
    if not folder:
        print("left out: the folder of traces is given as ALLOT_TRACES")
        return []
    return [_ratio(name, scheduler, Path(folder)) for name in SIZES for scheduler in SCHEDULERS]


def _ratio(name: str, scheduler: Scheduler, folder: Path) -> Ratio:
    found = coverage(name, scheduler, folder, JOBS)
    inside, of = sum(each.inside for each in found), sum(each.outcomes for each in found)
    print(f"{name}, {scheduler}: {JOBS} jobs, {FORECASTS} forecasts, {OUTCOMES} further draws")
    for each in found:
        same = f", {each.same} figures always the same" if each.same else ""
        within = each.within / max(each.outcomes, 1)
        print(f"    {each.kind:28} {each.share:6.1%} ({within:.1%} with bounds) of {each.outcomes:,}{same}")
    return Ratio(
        f"self-consistency of 90 % intervals, {name} under {scheduler}",
        abs(inside / max(of, 1) - SHARE) / 0.05,
        1.0,
        f"{inside / max(of, 1):.1%} of {of:,} outcomes inside",
    )


def coverage(name: str, scheduler: Scheduler, folder: Path, jobs: int) -> list[Held]:
    """By kind of figure: how many of the further draws lie in the intervals of the first."""
    trace, asked = read_trace(name, folder), Asked(first=jobs, size=SIZES[name])
    (variant,) = variants_of(trace, asked, [scheduler])
    scene = variant.scene
    assert scene is not None
    figures = played(
        [Case(scene.setting, scene.works, scene.run_times, UNTIL)],
        [Task(0, seed) for seed in range(FORECASTS + OUTCOMES)],
        partial(_read, scene.works, ground_of(scene.setting)),
        play=Redrawing(asked.jobs(trace), asked.making),
    )
    return held(figures[:FORECASTS], figures[FORECASTS:])


def _read(works: tuple[Work, ...], ground: Ground, outcome: Outcome) -> Figures:
    return figures_of(outcome, works, ground)
