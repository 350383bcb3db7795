"""What is not sent for the sake of its image: the registry was asked, and says that no worker can run in it.

What a registry does not say is a warning, and is sent: a cluster may have credentials that this user has not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from allotment.errors import Finding
from allotment.kubernetes.apply import Refusal
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.images import Fetch, State, Use
from allotment.kubernetes.images.looking import (
    OF_PLATFORM,
    Named,
    finding_of,
    images_of,
    looked_at,
    platforms_of,
    unseen,
)
from allotment.kubernetes.images.registry import Registries
from allotment.kubernetes.render.context import Context
from allotment.repository.model import Repository


def registries() -> Fetch:
    """Every registry, by what this user has for it."""
    return Registries(os.environ)


def unfit_images(
    loaded: Repository,
    context: Context,
    live: Snapshot,
    fetch: Fetch,
    warn: Callable[[Finding], None],
) -> Mapping[str, tuple[Refusal, ...]]:
    """Why campaigns, fleets and gangs are not sent, by name; what runs already is not asked for."""
    used = {f"pipelines/{each.pipeline}" for each in loaded.campaigns.values()}
    named = [
        each
        for each in images_of(loaded, context.platform, OF_PLATFORM)
        if each.about in used or not each.about.startswith("pipelines/")
    ]
    refused: dict[str, list[Refusal]] = {}
    for each, verdict in looked_at(unseen(named, live, context.namespace), fetch, platforms_of(live)):
        finding = finding_of(each, verdict)
        if verdict.state is State.UNTOLD:
            warn(finding)
            continue
        for group in _groups(each, named, loaded):
            refused.setdefault(group, []).append(Refusal(f"image {finding.message}", finding.hint))
    return {group: tuple(told) for group, told in refused.items()}


def _groups(named: Named, every: list[Named], loaded: Repository) -> Iterator[str]:
    """What an image is for: its fleet or gang, or the campaigns of its pipeline, or of all that it serves."""
    if not named.about.startswith("pipelines/") and named.about != OF_PLATFORM:
        yield named.about
        return
    brought = {each.about for each in every if each.use is Use.BROUGHT}
    served = brought if named.about == OF_PLATFORM else {named.about}
    for name, campaign in loaded.campaigns.items():
        if f"pipelines/{campaign.pipeline}" in served:
            yield f"campaigns/{name}"
