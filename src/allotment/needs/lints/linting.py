"""Every lint over a repository, as findings: needs on their platform, what runs them, and all together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from allotment.devices.world import World
from allotment.errors import Finding, Position
from allotment.needs.limits import faults_of
from allotment.needs.lints.looked import File, Looked
from allotment.needs.lints.on_all import ALL_LINTS
from allotment.needs.lints.on_campaigns import CAMPAIGN_LINTS
from allotment.needs.lints.on_kueue import KUEUE_LINTS
from allotment.needs.lints.on_measured import unknown_cards
from allotment.needs.lints.on_platforms import PLATFORM_LINTS, not_measured
from allotment.needs.lints.on_worlds import WORLD_LINTS
from allotment.platform.model import Platform
from allotment.repository.measured import MeasuredFile
from allotment.repository.model import Campaign, Pipeline, Repository

NOTHING_MEASURED = MeasuredFile()


def lint_findings(
    repository: Repository,
    platform: Platform,
    origin: str,
    measured: MeasuredFile = NOTHING_MEASURED,
    world: World | None = None,
) -> list[Finding]:
    """What there is to say beyond the faults of each need; ``origin`` is the platform's file.

    Needs that cannot be had at all are left out, for their faults are told already; but not what nobody has
    measured of them, which takes a run to mend.
    """
    files: list[File] = [
        *repository.pipelines.values(),
        *repository.fleets.values(),
        *repository.gangs.values(),
    ]
    running: dict[str, list[Campaign]] = {}
    for campaign in repository.campaigns.values():
        running.setdefault(campaign.pipeline, []).append(campaign)
    needing = [
        Looked(file, file.gpu, platform, tuple(_running(file, running)), measured)
        for file in files
        if file.gpu is not None
    ]
    version = platform.versions.kubernetes
    looked: list[Looked] = []
    findings = [*unknown_cards(measured)]
    for each in needing:
        if any(faults_of(each.need, platform.cards, version)):
            findings += map(each.finding, not_measured(each))
            continue
        looked.append(each)
        findings += _of_one(each, world)
    for lint in ALL_LINTS:
        findings += lint(platform, Position(origin), looked)
    return findings


def _running(file: File, campaigns: Mapping[str, Sequence[Campaign]]) -> Sequence[Campaign]:
    """The campaigns that run a file, which are of pipelines alone."""
    return campaigns.get(file.id, ()) if isinstance(file, Pipeline) else ()


def _of_one(looked: Looked, world: World | None) -> Iterator[Finding]:
    for platform_lint in (*PLATFORM_LINTS, *KUEUE_LINTS):
        yield from map(looked.finding, platform_lint(looked))
    for campaign_lint in CAMPAIGN_LINTS:
        yield from campaign_lint(looked)
    if world is not None:
        for world_lint in WORLD_LINTS:
            yield from map(looked.finding, world_lint(looked, world))
