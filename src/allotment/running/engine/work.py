"""What a campaign asks of this machine: its recipe, its claim, its indexes and its limits, as one frozen
value.

The engine works on these alone. Whether the repository can be run here at all is found out while they are
made: what only a cluster or a later version can do is refused with the place in the file, before anything
starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from allotment.devices.claims import ClaimSpec
from allotment.errors import Finding, FindingsError, Severity, UsageError, did_you_mean
from allotment.needs import claim_for, need_findings
from allotment.needs.ways.here import findings_here
from allotment.needs.ways.shares_here import ShareHere, asks_for_measured, shares_here
from allotment.platform.model import Platform, Team
from allotment.repository.measured import scan_measured
from allotment.repository.model import (
    Campaign,
    Pipeline,
    Repository,
    StepCall,
    Volume,
    Window,
)
from allotment.repository.recipe import recipe_digest
from allotment.repository.sources import source_data
from allotment.running.assignment import Limits, Network
from allotment.running.engine.network import network_of
from allotment.running.sources.source import NO_NETWORK


@dataclass(frozen=True)
class Work:
    """A campaign, ready to be run here. ``memory_bytes`` is set aside for each worker (0: not said).

    ``shares`` are the parts of cards that its claim's alternatives take, by the names of requests; ``lends``
    says that its volumes may be taken back for another team.
    """

    team: str
    campaign: str
    pipeline: str
    recipe: str
    image: str | None
    steps: tuple[StepCall, ...]
    environment: Mapping[str, str]
    claim: ClaimSpec
    cores: float | None
    memory_bytes: int
    window: Window
    lane: str
    lane_value: int
    suspended: bool
    volumes: Sequence[Volume]
    pack: int
    limits: Limits
    root: Path
    path: Path
    network: Network = NO_NETWORK
    pipeline_path: Path = Path()
    prepare: StepCall | None = None
    namespace: str = ""
    shares: Mapping[str, ShareHere] = field(default_factory=dict)
    lends: bool = True

    @property
    def count(self) -> int:
        """How many indexes there are."""
        return -(-len(self.volumes) // self.pack)

    @cached_property
    def folders(self) -> Mapping[str, str]:
        """The folder of each volume's pages, relative to the repository, where they are in one."""
        sources = ((volume.id, source_data(volume.source)) for volume in self.volumes)
        return {volume: source["folder"] for volume, source in sources if "folder" in source}

    def index_volumes(self, index: int) -> Sequence[Volume]:
        """The volumes of an index: one, or a pack of them."""
        return self.volumes[index * self.pack : (index + 1) * self.pack]


def works_for(
    repository: Repository, platform: Platform, team: Team, names: Iterable[str]
) -> tuple[Work, ...]:
    """The named campaigns as work for this machine.

    Raises UsageError for a name that is no campaign, FindingsError for what cannot be run here.
    """
    works, findings = [], []
    for name in dict.fromkeys(names):
        campaign = repository.campaigns.get(name)
        if campaign is None:
            hint = did_you_mean(name, repository.campaigns)
            raise UsageError(
                f"there is no campaign `{name}`", where=str(repository.root / "campaigns"), remedy=hint
            )
        pipeline = repository.pipelines[campaign.pipeline]
        about = [
            *need_findings(pipeline, platform.cards),
            *findings_here(pipeline),
            *_unmeasured(pipeline, platform, repository.root),
            *_not_here(pipeline),
        ]
        refused = [finding for finding in about if finding.severity is Severity.ERROR]
        findings += refused
        if not refused:
            works.append(work_for(campaign, pipeline, platform, team, repository.root))
    if findings:
        raise FindingsError(findings)
    return tuple(works)


def work_for(campaign: Campaign, pipeline: Pipeline, platform: Platform, team: Team, root: Path) -> Work:
    """One campaign as work for this machine."""
    defaults = platform.defaults
    resources = pipeline.resources
    recipe = recipe_digest(pipeline.image, pipeline.prepare, pipeline.steps)
    claim = claim_for(pipeline.gpu, resources, platform.cards)
    return Work(
        team=team.name,
        campaign=campaign.name,
        pipeline=pipeline.id,
        recipe=recipe,
        image=pipeline.image,
        steps=pipeline.steps,
        environment={
            variable.name: variable.value for variable in pipeline.env if variable.value is not None
        },
        claim=claim,
        shares=shares_here(pipeline.gpu, claim, _measured(pipeline, recipe, root)),
        cores=resources.cpu,
        memory_bytes=resources.memory or 0,
        window=campaign.window,
        lane=campaign.priority,
        lane_value=platform.lanes[campaign.priority].value,
        lends=platform.lanes[campaign.priority].preemptible,
        suspended=campaign.suspend,
        volumes=campaign.volumes,
        pack=campaign.pack,
        limits=Limits(
            max_seconds=pipeline.max_seconds,
            page_seconds=defaults.page_seconds,
            grace_seconds=defaults.grace_seconds,
            retries=defaults.retries,
            reclaims=defaults.reclaims,
            look_ahead=defaults.look_ahead,
        ),
        root=root.resolve(),
        path=campaign.path,
        network=network_of(platform),
        pipeline_path=pipeline.path,
        prepare=pipeline.prepare,
        namespace=team.namespace or team.name,
    )


def _unmeasured(pipeline: Pipeline, platform: Platform, root: Path) -> list[Finding]:
    """Why a part of a card cannot be given: nobody has measured what a worker uses, or it is too small."""
    if pipeline.gpu is None or not asks_for_measured([pipeline.gpu]):
        return []
    from allotment.needs.lints.looked import Looked
    from allotment.needs.lints.on_platforms import not_measured, share_below_peak

    looked = Looked(pipeline, pipeline.gpu, platform, measured=scan_measured(root)[0])
    return [looked.finding(fault) for lint in (not_measured, share_below_peak) for fault in lint(looked)]


def _measured(pipeline: Pipeline, recipe: str, root: Path) -> int | None:
    """What a worker of this recipe was measured to need of a card, on whichever it needs most."""
    if not asks_for_measured([pipeline.gpu]):
        return None
    found, _ = scan_measured(root)
    return max((each.room for each in found.of_recipe(pipeline.id, recipe)), default=None)


def _not_here(pipeline: Pipeline) -> list[Finding]:
    """What of a right pipeline this machine cannot run, each with its place."""
    findings = []
    if pipeline.runner == "image":
        findings.append(
            Finding(
                pipeline.position("steps"),
                "not-on-this-machine",
                f"pipeline `{pipeline.id}` brings steps that only its image knows",
                "use a step of this installation, or `module:function` for one of your own",
            )
        )
    return findings
