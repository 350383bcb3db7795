"""The end of a simulation: what still runs is written down as running, and all of it becomes the outcome."""

from __future__ import annotations

from collections.abc import Sequence

from allotment.simulation.jobs import Job
from allotment.simulation.machines import closed_nodes, gpus_by_kind
from allotment.simulation.outcome import End, Outcome, WorkEnd
from allotment.simulation.pods import Pods
from allotment.simulation.runs import Settled, so_far
from allotment.simulation.shared_claims import divided
from allotment.simulation.work import Work


def closed(pods: Pods, works: Sequence[Work], seed: int, until: float, notes: Sequence[str]) -> Outcome:
    """The outcome, as it is at the horizon.

    The cards of nodes on which no pod starts are in no count, but where something ran there already.
    """
    for job in pods.jobs.values():
        gang = pods.gangs.so_far(job, until)
        for run in job.runs.values():
            pages = gang if job.gang else so_far(pods.pages, run, until)
            pods.write(run, End.RUNNING, Settled(pages), until)
            gang = 0
    record = pods.record
    record.close(until)
    closed_and_idle = closed_nodes(pods.setting) - {span.node for span in record.spans}
    return Outcome(
        pods.setting.scheduler.value,
        seed,
        until,
        divided(record.spans, works),
        tuple(record.waits),
        tuple(record.decisions),
        tuple(_end_of(work, pods.jobs.get(work.name)) for work in works),
        gpus_by_kind(pods.setting, closed_and_idle),
        tuple(notes),
    )


def _end_of(work: Work, job: Job | None) -> WorkEnd:
    if job is None:
        return WorkEnd(work.name, work.team, max(work.arrival, 0.0), None, None, left=len(work.units))
    return WorkEnd(
        work.name,
        work.team,
        max(work.arrival, 0.0),
        job.started,
        job.finished,
        job.complete,
        job.failed,
        job.left,
        job.never,
    )
