"""Jobs of a trace as work for a simulation: whose they are, what they ask for, what happens when one is cut.

A trace tells what a job did, not what it could do again. How it resumes is therefore an input: a job is taken
to keep what it had every ``checkpoint`` seconds, which is a page of it. What it asks for are counted cards. A
part of one is a fraction where KAI places, and a whole card elsewhere: the default scheduler gives out no
parts. Kueue counts no fractions, so that beside KAI no quota holds for them; rendered pods are no other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.simulation.machines import COUNTED
from allotment.simulation.setting import Scheduler
from allotment.simulation.traces.jobs import WHOLE, Job, JobEnd, JobKind
from allotment.simulation.work import Ask, Kind, Unit, Work

MODEL: Final = "nvidia.com/gpu.product"
HOUR: Final = 3600.0
ENDLESS: Final = 10**9
_MIB: Final = 1024**2
_KINDS: Final = {JobKind.CAMPAIGN: Kind.CAMPAIGN, JobKind.FLEET: Kind.FLEET}


@dataclass(frozen=True, slots=True)
class Making:
    """How jobs become work: among how many teams users are divided, and what a job that is cut keeps."""

    teams: int = 6
    checkpoint: float = HOUR


def team_of(user: str, teams: int) -> str:
    """The team of a user: the same for the same name, always, and about as many users in each."""
    digest = hashlib.blake2b(user.encode(), digest_size=8).digest()
    return f"team-{int.from_bytes(digest, 'big') % teams + 1}"


def team_of_job(job: Job, making: Making) -> str:
    """The team of a job: what the trace says, or that of its user."""
    return job.team or team_of(job.user, making.teams)


def teams_of(jobs: Iterable[Job], making: Making) -> tuple[str, ...]:
    """The teams that the jobs belong to."""
    return tuple(sorted({team_of_job(job, making) for job in jobs}))


def works_of(jobs: Iterable[Job], making: Making | None = None) -> tuple[Work, ...]:
    """The work, in the order of the jobs."""
    making = making or Making()
    asks: dict[tuple[object, ...], Ask] = {}
    return tuple(_work(job, making, asks) for job in jobs)


def decided_by(works: Iterable[Work], scheduler: Scheduler) -> tuple[Work, ...]:
    """The work as it asks for cards where this scheduler decides, in the same order."""
    works = tuple(works)
    if scheduler is Scheduler.KAI:
        return works
    asks: dict[int, Ask] = {}
    found = []
    for work in works:
        if work.ask.request.shared:
            asked = asks.setdefault(id(work.ask), _without_parts(work.ask, scheduler))
            found.append(replace(work, ask=asked))
        else:
            found.append(work)
    return tuple(found)


def _without_parts(ask: Ask, scheduler: Scheduler) -> Ask:
    """Whole cards; where KAI places beside Kueue, parts for which no quota holds."""
    if scheduler is Scheduler.BOTH:
        return replace(ask, charges={name: each for name, each in ask.charges.items() if name != COUNTED})
    request = replace(ask.request, gpus=ask.request.devices, fraction=0.0, devices=1)
    return replace(ask, request=request, gpus=float(request.gpus))


def _work(job: Job, making: Making, asks: dict[tuple[object, ...], Ask]) -> Work:
    wanted = job.gpus, job.share, job.models, job.cpu, job.memory
    ask = asks.get(wanted)
    if ask is None:
        ask = asks[wanted] = ask_of(job)
    kind = _KINDS.get(job.kind) or (Kind.GANG if job.pods > 1 else Kind.CAMPAIGN)
    whole = job.pods if kind is Kind.GANG else 1
    return Work(
        job.name,
        team_of_job(job, making),
        kind,
        ask,
        units=() if kind is Kind.FLEET else tuple(_units(job, making)),
        arrival=job.arrival,
        least=whole,
        most=job.pods,
        priority=job.priority,
        preemptible=job.preemptible,
        retries=0,
        reclaims=ENDLESS,
        max_seconds=math.inf,
    )


def _units(job: Job, making: Making) -> Iterable[Unit]:
    pages = job.pages or max(1, math.ceil((job.seconds or 0.0) / making.checkpoint))
    fails = job.end is JobEnd.FAILED
    for number in range(job.volumes):
        name = job.name if job.volumes == 1 else f"{job.name}-{number + 1}"
        yield Unit(name, pages, seconds=job.seconds, fails=fails)


def ask_of(job: Job) -> Ask:
    """What a pod of the job asks for."""
    part = job.share / WHOLE if job.gpus and job.share < WHOLE else 0.0
    cards = job.gpus * (part or 1.0)
    request = PodRequest(
        cpu=float(job.cpu),
        memory=float(job.memory * _MIB),
        gpus=0 if part else job.gpus,
        fraction=part,
        devices=job.gpus if part else 1,
    )
    one = {MODEL: job.models[0]} if len(job.models) == 1 else {}
    several = Requirement(MODEL, "In", job.models) if len(job.models) > 1 else None
    return Ask(
        request=request,
        charges={COUNTED: job.gpus} if job.gpus else {},
        gpus=cards,
        node_selector=one,
        affinity=NodeSelector((NodeSelectorTerm((several,)),)) if several else None,
    )
