"""What `allot simulate` does with a trace: a comparison of schedulers, or a filling by placement policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from allotment.cli.writing import write_whole
from allotment.errors import UsageError
from allotment.planning.compare.comparing import Play, Told, compare
from allotment.planning.compare.comparison import Comparison
from allotment.planning.compare.rows import Kinds
from allotment.planning.trace_scenes import Asked, variants_of
from allotment.quantities import QuantityError
from allotment.quantities.duration import parse_duration
from allotment.simulation.as_events import events_of
from allotment.simulation.filling.fill import Filled, fill
from allotment.simulation.filling.policies import Name
from allotment.simulation.filling.ranking import Ties
from allotment.simulation.setting import Scheduler
from allotment.simulation.traces.jobs import Job, JobKind
from allotment.simulation.traces.named import Trace
from allotment.simulation.traces.own import lines_of
from allotment.simulation.traces.times import Redrawing
from allotment.simulation.traces.works import Making, team_of_job, works_of
from allotment.simulation.work import Kind

MOST_ROWS = 20
JOBS = ("job", "jobs")
MANY_PODS = ("job of several pods", "jobs of several pods")
SOME_EACH = ("job or campaign", "jobs and campaigns")
DAY = 86_400.0


def seconds_of(text: str, option: str, *, least: int = 1) -> float:
    """An option's value in seconds."""
    try:
        seconds = parse_duration(text)
    except QuantityError as error:
        raise UsageError(f"`{option} {text}`: {error}", remedy=f"write {option} 1h") from None
    if seconds < least:
        raise UsageError(f"`{option} {text}` is too short", remedy=f"write {option} 1h")
    return float(seconds)


def compared(
    trace: Trace, asked: Asked, schedulers: Sequence[Scheduler], play: Play, told: Told
) -> Comparison:
    """The trace under each scheduler; with several draws its jobs take other times in all but the first."""
    jobs = asked.jobs(trace)
    if not jobs:
        raise UsageError(f"the trace {trace.name} has no job whose run time is known")
    player = Redrawing(jobs, asked.making, play.seed)
    playing = Play(
        play.seed,
        play.draws,
        play.until,
        by_work=len(jobs) <= MOST_ROWS,
        kinds=kinds_of(jobs, asked.making),
        course=player,
        processes=play.processes,
    )
    return compare(variants_of(trace, asked, schedulers), playing, told)


def kinds_of(jobs: Sequence[Job], making: Making) -> Kinds:
    """What works are called that jobs of a trace became: jobs, unless the trace has campaigns of the team."""
    found: dict[tuple[str, Kind], tuple[str, str]] = {}
    campaigns = {team_of_job(job, making) for job in jobs if job.kind is JobKind.CAMPAIGN}
    for job in jobs:
        team = team_of_job(job, making)
        if job.kind is JobKind.JOB and job.pods > 1:
            found[team, Kind.GANG] = MANY_PODS
        elif job.kind is JobKind.JOB:
            found[team, Kind.CAMPAIGN] = SOME_EACH if team in campaigns else JOBS
    return found


def fillings_of(
    trace: Trace,
    asked: Asked,
    policies: Sequence[Name],
    ties: Sequence[Ties],
    *,
    seeds: Sequence[int],
    demand: float,
    told: Callable[[str, int, int], None],
) -> list[list[Filled]]:
    """Each policy under each tie rule, with all seeds."""
    nodes = asked.cluster(trace)
    jobs = trace.jobs[: asked.first or None]
    found = []
    for policy in policies:
        for rule in ties if policy is not Name.RANDOM else [Ties.RANDOM]:
            runs = []
            for seed in seeds:
                runs.append(fill(nodes, jobs, policy, ties=rule, seed=seed, demand=demand))
                told(f"{policy}, {rule}", len(runs), len(seeds))
            found.append(runs)
    return found


def write_events(found: Comparison, trace: Trace, asked: Asked, path: Path) -> None:
    """What happened in the first draw of the first column, an event a line."""
    outcome = next((column.course for column in found.played if column.course is not None), None)
    if outcome is not None:
        works = works_of(asked.jobs(trace), asked.making)
        write_lines(path, [event.to_line() for event in events_of(outcome, works)])


def write_jobs(trace: Trace, asked: Asked, path: Path) -> None:
    """The jobs in our own format."""
    write_lines(path, list(lines_of(asked.jobs(trace))))


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Put lines into a file."""
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())
