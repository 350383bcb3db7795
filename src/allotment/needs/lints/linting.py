"""Every lint over a repository, as findings: needs on their platform, what runs them, and all together."""

from __future__ import annotations

from collections.abc import Iterator

from allotment.devices.world import World
from allotment.errors import Finding, Position
from allotment.needs.limits import faults_of
from allotment.needs.lints.looked import File, Looked
from allotment.needs.lints.on_all import ALL_LINTS
from allotment.needs.lints.on_campaigns import CAMPAIGN_LINTS
from allotment.needs.lints.on_platforms import PLATFORM_LINTS
from allotment.needs.lints.on_worlds import WORLD_LINTS
from allotment.platform.model import Platform
from allotment.repository.measured import MeasuredFile
from allotment.repository.model import Pipeline, Repository

NOTHING_MEASURED = MeasuredFile()


def lint_findings(
    repository: Repository,
    platform: Platform,
    origin: str,
    measured: MeasuredFile = NOTHING_MEASURED,
    world: World | None = None,
) -> list[Finding]:
    """What there is to say beyond the faults of each need; ``origin`` is the platform's file.

    Needs that cannot be had at all are left out: their faults are told already.
    """
    files: list[File] = [
        *repository.pipelines.values(),
        *repository.fleets.values(),
        *repository.gangs.values(),
    ]
    looked = [found for file in files if (found := _look(file, repository, platform, measured)) is not None]
    findings = [finding for each in looked for finding in _of_one(each, world)]
    for lint in ALL_LINTS:
        findings += lint(platform, Position(origin), looked)
    return findings


def _look(file: File, repository: Repository, platform: Platform, measured: MeasuredFile) -> Looked | None:
    need = file.gpu
    if need is None or any(faults_of(need, platform.cards)):
        return None
    campaigns = tuple(
        each
        for each in repository.campaigns.values()
        if isinstance(file, Pipeline) and each.pipeline == file.id
    )
    return Looked(file, need, platform, campaigns, measured)


def _of_one(looked: Looked, world: World | None) -> Iterator[Finding]:
    for platform_lint in PLATFORM_LINTS:
        yield from map(looked.finding, platform_lint(looked))
    for campaign_lint in CAMPAIGN_LINTS:
        yield from campaign_lint(looked)
    for world_lint in WORLD_LINTS if world is not None else ():
        yield from map(looked.finding, world_lint(looked, world)) if world is not None else ()
