"""What the platform's own admission policy asks of an object in a team's namespace, beside its claims.

Manifests that were written for another cluster name no queue of a team and often name images by tag. Both
are refused there (`render.platform.admission`), which is better read before than from a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.convert.pods import PodPlace, mapping_of
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.placing import KAI_QUEUE, QUEUE_NAME
from allotment.kubernetes.render.platform.admission import DIGEST, WITH_KAI, WITH_KUEUE
from allotment.needs.ways.fraction import SCHEDULER as KAI
from allotment.platform.model import Platform

_LABELLED: Final = frozenset({"Pod", "Job", "Deployment"})
_CRON_JOB: Final = "CronJob"


def in_team(place: PodPlace, platform: Platform) -> Iterator[str]:
    """What an object that gets devices lacks in the namespace that it names."""
    named = str(place.metadata.get("namespace") or "")
    team = next((each.name for each in platform.teams.values() if namespace_of(each) == named), None)
    if not named or team is None:
        return
    for key, holders in _needed(place, platform):
        if any(key not in mapping_of(labels) for _, labels in holders):
            where = " and ".join(name for name, _ in holders)
            yield (
                f"namespace `{named}` is team {team}'s: what gets devices there needs the label "
                f"`{key}: {team}` (in {where}), and is refused without"
            )
    if platform.scheduler in WITH_KAI and place.spec.get("schedulerName") != KAI:
        yield f"namespace `{named}` is team {team}'s: what gets devices there needs `schedulerName: {KAI}`"
    images = [str(container.get("image") or "") for _, container in place.containers()]
    if by_tag := [image for image in images if not re.search(DIGEST, image)]:
        yield (
            f"namespace `{named}` is team {team}'s: images are named there by digest (NAME@sha256:…), and "
            f"`{by_tag[0]}` is not"
        )


def _needed(place: PodPlace, platform: Platform) -> Iterator[tuple[str, tuple[tuple[str, object], ...]]]:
    """Each label that is needed, and where it is to stand: the place in words, and the labels there."""
    pod = mapping_of(place.pod.get("metadata")).get("labels")
    pods = (".".join((*map(str, place.pod_path), "metadata.labels")), pod)
    own = ("metadata.labels", place.metadata.get("labels"))
    if place.kind == _CRON_JOB:
        job = mapping_of(mapping_of(place.value.get("spec")).get("jobTemplate"))
        own = ("spec.jobTemplate.metadata.labels", mapping_of(job.get("metadata")).get("labels"))
    with_own = place.kind in {*_LABELLED, _CRON_JOB}
    if platform.scheduler in WITH_KUEUE:
        yield QUEUE_NAME, (own if with_own else pods,)
    if platform.scheduler in WITH_KAI:
        yield KAI_QUEUE, (own, pods) if with_own and place.pod_path else (pods,)
