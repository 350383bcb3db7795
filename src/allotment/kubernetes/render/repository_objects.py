"""A team's repository as objects: pipelines that campaigns use, campaigns, fleets and gangs.

A suspended campaign without a Job is left out until its file says otherwise. One that has a Job is rendered
as any other: whoever applies pauses it, by a field that is not among those that are rendered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from allotment.kubernetes.render.campaigns import campaign_objects
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.fleets import fleet_objects
from allotment.kubernetes.render.gangs import gang_rendered
from allotment.kubernetes.render.pipelines import pipeline_objects
from allotment.kubernetes.render.rendered import Note, Rendered, together
from allotment.repository.model import Campaign, Repository

CLAIMS_SINCE: Final = 34


def repository_objects(
    context: Context,
    repository: Repository,
    used: Mapping[str, Sequence[int]],
    there: Collection[str] = (),
) -> Rendered:
    """Everything of a repository. ``used``: the parts of campaigns that are out; ``there``: their names."""
    found = [*_about(context)]
    campaigns = [each for each in repository.campaigns.values() if _is_rendered(each, there)]
    held = [each for each in repository.campaigns.values() if each not in campaigns]
    named = {campaign.pipeline for campaign in campaigns}
    if not repository.campaigns:
        named = set(repository.pipelines)
    found += [Rendered(notes=(_held(campaign),)) for campaign in held]
    found += [pipeline_objects(context, repository.pipelines[name]) for name in sorted(named)]
    for campaign in campaigns:
        pipeline = repository.pipelines[campaign.pipeline]
        found.append(campaign_objects(context, campaign, pipeline, used.get(campaign.name, ())))
    found += [fleet_objects(context, fleet) for fleet in repository.fleets.values()]
    found += [gang_rendered(context, gang) for gang in repository.gangs.values()]
    return together(found).sorted()


def _is_rendered(campaign: Campaign, there: Collection[str]) -> bool:
    return not campaign.suspend or campaign.name in there


def _held(campaign: Campaign) -> Note:
    words = "`suspend: true`: it is left out, as nothing of it is to start"
    return Note(f"campaigns/{campaign.name}", words, "it is created when its file says `suspend: false`")


def _about(context: Context) -> Iterator[Rendered]:
    """What holds for all of them."""
    if 0 < context.minor < CLAIMS_SINCE:
        words = f"Kubernetes {context.platform.versions.kubernetes} has no claims of resource.k8s.io/v1"
        remedy = f"1.{CLAIMS_SINCE} is the first that has"
        yield Rendered(notes=(Note("versions.kubernetes", words, remedy, "warning"),))
    if "://" not in context.platform.bucket:
        words = f"the bucket {context.platform.bucket} is a folder, which ends with each pod"
        note = Note("platform", words, "set `bucket: s3://…` in the platform's file")
        yield Rendered(notes=(note,))
