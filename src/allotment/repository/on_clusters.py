"""What a repository lacks that runs on one machine and is held against the platform of a cluster.

This machine does without an image, and has the repository's folders; a pod has neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from allotment.errors import Finding, Severity
from allotment.platform.model import Platform
from allotment.repository.model import Campaign, Fleet, FolderSource, Gang, Pipeline, Repository


def cluster_findings(repository: Repository, platform: Platform) -> Iterator[Finding]:
    """An error for what is to run without an image, a warning for pages that no pod can see."""
    if platform.engine != "kubernetes":
        return
    campaigns = repository.campaigns.values()
    used = {each.pipeline for each in campaigns}
    needing: list[Pipeline | Fleet | Gang] = [
        *(each for name, each in repository.pipelines.items() if name in used),
        *repository.fleets.values(),
        *repository.gangs.values(),
    ]
    for each in needing:
        if each.image is None:
            message = "no image is named, and a cluster has nothing to run without one"
            hint = "name one by its digest: `image: NAME@sha256:…`"
            yield Finding(each.position(), "no-image", message, hint)
    for campaign in campaigns:
        yield from _folders(campaign)


def _folders(campaign: Campaign) -> Iterator[Finding]:
    """One warning for a campaign, at the first of its volumes that lies in a folder."""
    found = [
        (place, each) for place, each in enumerate(campaign.volumes) if isinstance(each.source, FolderSource)
    ]
    if not found:
        return
    place, first = found[0]
    what = f"volume `{first.id}` lies" if len(found) == 1 else f"{len(found):,} volumes lie"
    yield Finding(
        campaign.position("volumes", place),
        "folder-not-in-pods",
        f"{what} in folders of the repository, and a pod has no repository",
        "put the pages into an object store, and write `folder: s3://…`",
        Severity.WARNING,
    )
