"""What is taken for so without anybody having measured it here: paces, chances, ways to share, gangs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from allotment.needs.cluster import for_cluster
from allotment.needs.ways import Way
from allotment.needs.ways.choosing import able, choice_of
from allotment.planning.scenes.values import Assumption, Choices, Maturity, Source
from allotment.platform.model import Platform
from allotment.platform.need import WHOLE
from allotment.repository.model import HasNeed, Repository
from allotment.simulation.setting import Chances, Pace, Scheduler
from allotment.simulation.work import Work

_ALPHA: Final = re.compile(r"\balpha\b", re.IGNORECASE)
_BETA: Final = re.compile(r"\bbeta\b|off by default", re.IGNORECASE)
_KUEUE: Final = frozenset({Scheduler.KUEUE, Scheduler.BOTH})
_KAI: Final = frozenset({Scheduler.KAI, Scheduler.BOTH})


def without_jobs(choices: Choices) -> Choices:
    """The choices where nothing is sent, and no Job controller makes pods: what is next begins at once."""
    return replace(choices, pace=replace(choices.pace, job_sync=0.0, sending=0.0))


def paces(choices: Choices, scheduler: Scheduler, works: Sequence[Work] = ()) -> Iterator[Assumption]:
    """How fast things go that are no pages; of images only where any of the works has one to pull."""
    pace, usual = choices.pace, Pace()

    def source(name: str, otherwise: Source) -> Source:
        return otherwise if getattr(pace, name) == getattr(usual, name) else Source.SET

    guess, told = Source.GUESS, Source.PUBLISHED
    if any(work.image for work in works):
        words = "pulling an image that a node lacks"
        yield Assumption(words, f"{pace.image_pull:g} s", source("image_pull", guess))
    yield Assumption("starting a pod", f"{pace.pod_start:g} s", source("pod_start", guess))
    if pace.job_sync:
        yield Assumption(
            "a Job's next pod, after one has ended",
            f"{pace.job_sync:g} s",
            source("job_sync", told),
            "the Job controller gathers what happens to pods for a second",
        )
    if pace.sending and sum(work.arrival > 0 for work in works):
        said = "by name, as `allot apply` sends them; as far apart as was seen with a real control plane"
        yield Assumption("works are sent one by one", f"{pace.sending:g} s", source("sending", guess), said)
    wrong = choices.chances
    chances = f"{wrong.unit_fails:.1%} of volumes, {wrong.node_lost_per_hour:g} nodes an hour"
    yield Assumption(
        "what goes wrong by itself",
        chances if wrong.unit_fails or wrong.node_lost_per_hour else "nothing",
        Source.DEFAULT if wrong == Chances() else Source.SET,
    )
    if scheduler in _KUEUE:
        said = "15,000 workloads in 351 s, its own performance test"
        yield Assumption(
            "Kueue's admissions", f"{pace.kueue_rate:g} a second", source("kueue_rate", told), said
        )
    if scheduler in _KAI:
        yield Assumption(
            "KAI's rounds", f"every {pace.kai_period:g} s", source("kai_period", told), "its default"
        )


def features(
    platform: Platform, repositories: Sequence[Repository], scheduler: Scheduler, choices: Choices
) -> Iterator[Assumption]:
    """What of a cluster is relied on, and how finished it is."""
    files: list[HasNeed] = []
    for repository in repositories:
        files += [*repository.pipelines.values(), *repository.fleets.values(), *repository.gangs.values()]
    for way in dict.fromkeys(way for file in files for way in _ways(platform, file)):
        if way.word != WHOLE:
            told = maturity_of(way.maturity)
            yield Assumption(way.title, "it is there and on", Source.DEFAULT, way.maturity, told)
    if scheduler in _KUEUE:
        said = "Kueue's ElasticJobsViaWorkloadSlices, beta and on since 0.19"
        runs = "runs" if choices.window else "does not run"
        yield Assumption("windows that grow", "as slices of a workload", Source.STATED, said, Maturity.BETA)
        yield Assumption("the window controller", f"it {runs}", Source.STATED, "`allot operate`")
    gangs = any(repository.gangs for repository in repositories)
    if gangs and scheduler in {Scheduler.DEFAULT, Scheduler.SIMPLE}:
        said = "the gate GenericWorkload is off by default: workers start one by one"
        yield Assumption("gangs", "not together", Source.DEFAULT, said, Maturity.ALPHA)


def maturity_of(text: str) -> Maturity:
    """How finished a feature is, by what is said of it."""
    if _ALPHA.search(text):
        return Maturity.ALPHA
    return Maturity.BETA if _BETA.search(text) else Maturity.STABLE


def _ways(platform: Platform, file: HasNeed) -> tuple[Way, ...]:
    need = None if file.gpu is None else for_cluster(file.gpu)[0]
    return () if need is None else choice_of(need, able(platform)).ways
