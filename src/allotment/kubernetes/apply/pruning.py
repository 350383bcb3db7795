"""What is live of ours and in the repository no more: left, and with ``--prune`` deleted.

Ours is what carries our label, this team's and this repository's, and that nothing else owns. A campaign goes
with its Jobs first, then its ConfigMaps, which hold what is remembered of them. Results are in the bucket and
are never touched. Recipes stay as long as a campaign of the repository names them, claim templates as long
as a Job or Deployment does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.kubernetes.apply.asked import claims_named
from allotment.kubernetes.apply.groups import REPOSITORY_LABEL, address, group_of, labels, team_of
from allotment.kubernetes.apply.outcome import Verb
from allotment.kubernetes.apply.steps import Apply, Delete, GroupPlan
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.kinds import WORKLOAD, Object
from allotment.kubernetes.render.context import Context
from allotment.repository.model import Repository

ORDER: Final = (
    "Job", "Deployment", "PodGroup", "Workload", "Service", "ResourceClaim", "ResourceClaimTemplate",
    "ConfigMap",
)  # fmt: skip
CLAIMS: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate"})


def prune_plans(
    context: Context,
    repository: Repository,
    live: Snapshot,
    plans: Sequence[GroupPlan],
    *,
    mark: str | None,
    prune: bool,
) -> Iterator[GroupPlan]:
    """What becomes of live groups that are not in the repository, and of claims that nothing names."""
    own = [each for each in live.objects if _is_ours(context, each, mark)]
    groups: dict[str, list[Object]] = {}
    for each in own:
        groups.setdefault(group_of(each), []).append(each)
    kept = _groups_of(repository)
    kept |= {
        f"pipelines/{labels(each).get('allotment/pipeline')}"
        for name, objects in groups.items()
        for each in objects
        if each["kind"] == "Job" and (name in kept or not prune)
    }
    for name in sorted(set(groups) - kept):
        yield _plan(name, groups[name], prune=prune)
    spared = [each for name, objects in groups.items() if name in kept for each in objects]
    unused = [*_unused_claims(spared, plans)]
    if prune and unused:
        yield _plan("claims that nothing names", unused, prune=True)


def _groups_of(repository: Repository) -> set[str]:
    folders = {
        "pipelines": repository.pipelines,
        "campaigns": repository.campaigns,
        "fleets": repository.fleets,
        "gangs": repository.gangs,
    }
    return {f"{folder}/{name}" for folder, found in folders.items() for name in found}


def _plan(name: str, objects: Sequence[Object], *, prune: bool) -> GroupPlan:
    ordered = sorted(objects, key=lambda each: (ORDER.index(each["kind"]), each["metadata"]["name"]))
    if prune:
        return GroupPlan(name, tuple(Delete(each, Verb.PRUNED) for each in ordered))
    said = "it is not in the repository; `allot apply --prune` deletes it, and never its results"
    return GroupPlan(name, said=(said,), left=tuple(ordered))


def _is_ours(context: Context, value: Object, mark: str | None) -> bool:
    metadata = value["metadata"]
    return (
        value["kind"] in ORDER
        and value["apiVersion"] != WORKLOAD.api_version
        and metadata.get("namespace") == context.namespace
        and team_of(value) == context.team.name
        and labels(value).get(REPOSITORY_LABEL) == mark
        and not metadata.get("ownerReferences")
        and not metadata.get("deletionTimestamp")
    )


def _unused_claims(objects: Sequence[Object], plans: Sequence[GroupPlan]) -> Iterator[Object]:
    named = {each for value in objects for each in claims_named(value)}
    steps = [step for plan in plans for step in plan.steps if isinstance(step, Apply)]
    named |= {address(step.value) for step in steps}
    for each in objects:
        if each["kind"] in CLAIMS and address(each) not in named:
            yield each
