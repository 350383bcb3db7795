"""Simulations at work, by CPU: many pods with the simplest scheduler, fewer with each whole one, a trace.

The rivals of the simplest scheduler are a bare loop over a heap of the same starts and ends, which decides
nothing, and one that goes through the same runs from second to second. Whole schedulers are held against the
seconds of CPU that they may take, and against half of the work: twice of it must not take much more than
twice the time.
"""

from __future__ import annotations

import resource
import time
from heapq import heappop, heappush
from math import inf

from allotment.scheduling.state.pod_groups import PodRequest
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Pace, Scheduler, Setting
from allotment.simulation.simulate import simulate
from allotment.simulation.traces.clusters import Demand, alike, even_shares, setting_of, sized
from allotment.simulation.traces.jobs import Job, JobEnd
from allotment.simulation.traces.works import Making, teams_of, works_of
from allotment.simulation.work import Ask, Kind, Unit, Work
from benchmarks.ratio import Ratio

NODES, CARDS = 1000, 8
PODS, FULL_PODS, TRACE_JOBS = 100_000, 10_000, 15_000
TEAMS = 4
SIMPLE_SECONDS, FULL_SECONDS, TRACE_SECONDS = 10.0, 60.0, 60.0
GIB = 1024
TWICE, TWICE_WHOLE = 2.2, 2.5
"""Whole schedulers also decide more often then, as there is somebody who waits for longer."""
CAMPAIGN, EVERY = 500, 20.0
"""Volumes of a campaign, and seconds between two of them: twice as many come as there is room for."""
BEST_OF, QUICK = 3, 10.0
COARSE = 10.0
"""Whole schedulers decide every so many seconds at most, for volumes that take a quarter of an hour."""
SHARES = even_shares([f"team-{number + 1}" for number in range(TEAMS)], NODES * CARDS)


def run() -> list[Ratio]:
    """Each of them against its rival, its seconds, and half of itself."""
    whole, outcome = _campaigns(Scheduler.SIMPLE, PODS)
    half, _ = _campaigns(Scheduler.SIMPLE, PODS // 2)
    bare, ticking = _bare(outcome), _ticking(outcome)
    found = [
        Ratio(
            f"{PODS:,} pods on {NODES:,} nodes of {CARDS}, simplest, beside a bare loop over a heap",
            whole / bare,
            60.0,
            f"{whole:.1f} s of CPU and {bare:.2f} s",
        ),
        Ratio(
            "the same beside a loop from second to second over all that runs",
            whole / ticking,
            1.5,
            f"{whole:.1f} s of CPU and {ticking:.0f} s",
        ),
        Ratio(f"the same, of {SIMPLE_SECONDS:g} s", whole / SIMPLE_SECONDS, 1.0, f"{whole:.1f} s of CPU"),
        Ratio("twice the pods beside the half of them", whole / half, TWICE, f"{whole:.1f} and {half:.1f} s"),
    ]
    for scheduler in (Scheduler.DEFAULT, Scheduler.KUEUE, Scheduler.KAI, Scheduler.BOTH):
        found += _whole(scheduler)
    found += [_at_its_pace(scheduler) for scheduler in (Scheduler.KAI, Scheduler.BOTH)]
    found.append(_trace(Scheduler.SIMPLE))
    found.append(_trace(Scheduler.DEFAULT))
    found += [_trace(each, coarse=1800.0) for each in (Scheduler.KUEUE, Scheduler.KAI, Scheduler.BOTH)]
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found.append(Ratio("memory of all of them, of 1 GiB", mib / GIB, 1.0, f"{mib:.0f} MiB"))
    return found


def _whole(scheduler: Scheduler) -> list[Ratio]:
    whole, outcome = _campaigns(scheduler, FULL_PODS)
    half, _ = _campaigns(scheduler, FULL_PODS // 2)
    ran = len({(span.work, span.index) for span in outcome.spans})
    return [
        Ratio(
            f"{FULL_PODS:,} pods with {scheduler}, of {FULL_SECONDS:g} s",
            whole / FULL_SECONDS,
            1.0,
            f"{whole:.1f} s of CPU, {ran:,} of them ran",
        ),
        Ratio(f"twice the pods with {scheduler}", whole / half, TWICE_WHOLE, f"{whole:.1f} and {half:.1f} s"),
    ]


def _at_its_pace(scheduler: Scheduler) -> Ratio:
    """The same pods where KAI decides every second, if there is anything to decide."""
    seconds, _ = _once(scheduler, FULL_PODS, coarse=0.0)
    return Ratio(
        f"{FULL_PODS:,} pods with {scheduler} at KAI's own pace, of {FULL_SECONDS:g} s",
        seconds / FULL_SECONDS,
        1.0,
        f"{seconds:.1f} s of CPU",
    )


def _campaigns(scheduler: Scheduler, pods: int) -> tuple[float, Outcome]:
    """CPU of campaigns of 500 volumes, which come one after the other: the least of a few runs."""
    runs = [_once(scheduler, pods)]
    while len(runs) < BEST_OF and sum(seconds for seconds, _ in runs) < QUICK:
        runs.append(_once(scheduler, pods))
    return min(runs, key=lambda run: run[0])


def _once(scheduler: Scheduler, pods: int, coarse: float = COARSE) -> tuple[float, Outcome]:
    works = [_campaign(number) for number in range(pods // CAMPAIGN)]
    pace = Pace(coarse=0.0 if scheduler is Scheduler.SIMPLE else coarse)
    return _played(setting_of(scheduler, alike(NODES, cards=CARDS), SHARES, pace), works)


def _campaign(number: int) -> Work:
    seconds = Draws(1).stream("pages", number)
    units = [Unit(f"v{index}", 10, seconds=seconds.lognormvariate(6.5, 1.0)) for index in range(CAMPAIGN)]
    ask = Ask(request=PodRequest(4000, 16 * 2**30, 1), charges={"nvidia.com/gpu": 1}, gpus=1.0)
    team = f"team-{number % TEAMS + 1}"
    name = f"c{number}"
    return Work(name, team, Kind.CAMPAIGN, ask, units, arrival=EVERY * number, most=200, max_seconds=inf)


def _trace(scheduler: Scheduler, coarse: float = 0.0) -> Ratio:
    """A made-up trace of weeks, as skewed as real ones: most jobs are short, and a few hold most cards."""
    stream = Draws(1).stream("trace")
    arrival, jobs = 0.0, []
    for number in range(TRACE_JOBS):
        arrival += stream.expovariate(1 / 300)
        pods, gpus = stream.choices([(1, 1), (1, 2), (1, 4), (1, 8), (2, 8)], [80, 3, 6, 10, 1])[0]
        seconds = min(stream.lognormvariate(5.7, 3.7), 30 * 86_400.0)
        end = JobEnd.FAILED if stream.random() < 0.3 else JobEnd.PASSED
        user = str(stream.randrange(130))
        jobs.append(Job(f"j{number}", arrival, user, pods=pods, gpus=gpus, seconds=seconds, end=end))
    nodes, making = sized(Demand.of(jobs), 1.0), Making()
    shares = even_shares(teams_of(jobs, making), sum(node.gpus for node in nodes))
    seconds, outcome = _played(
        setting_of(scheduler, nodes, shares, Pace(coarse=coarse)), works_of(jobs, making)
    )
    return Ratio(
        f"a trace of {TRACE_JOBS:,} jobs with {scheduler}, of {TRACE_SECONDS:g} s",
        seconds / TRACE_SECONDS,
        1.0,
        f"{seconds:.1f} s of CPU, {len(outcome.spans):,} runs on {len(nodes)} nodes",
    )


def _played(setting: Setting, works: list[Work] | tuple[Work, ...]) -> tuple[float, Outcome]:
    before = time.process_time()
    outcome = simulate(setting, works, RunTimes(), Draws(1), inf)
    return time.process_time() - before, outcome


def _bare(outcome: Outcome) -> float:
    """CPU of taking the same starts and ends through a heap."""
    before = time.process_time()
    heap: list[tuple[float, int]] = []
    for number, span in enumerate(outcome.spans):
        heappush(heap, (span.bound, number))
        heappush(heap, (span.ended, -number))
    while heap:
        heappop(heap)
    return time.process_time() - before


def _ticking(outcome: Outcome) -> float:
    """CPU of going through the same runs from second to second, asking each that runs whether it is over.

    A hundred seconds in the thick of it are gone through; all of them would take minutes and are reckoned.
    """
    middle = sorted(span.bound for span in outcome.spans)[len(outcome.spans) // 2]
    running = [span.ended for span in outcome.spans if span.bound <= middle < span.ended]
    ticks, over = 100, 0
    before = time.process_time()
    for tick in range(ticks):
        for ended in running:
            over += ended <= middle + tick
    each = (time.process_time() - before) / (ticks * len(running))
    return each * sum(span.ended - span.bound for span in outcome.spans)
