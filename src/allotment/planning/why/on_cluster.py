"""Why something on a cluster does not run: what its objects say, and what the allocator says of the devices.

Schedulers say of every claim that they cannot meet that they cannot meet it. Where that is all that is
known, the claim of its pods is held against the devices that are published and who has them, and the
cause is told in the one sentence: that none would ever do, or who has those that would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.devices.read_allocations import allocation_of
from allotment.devices.world import World
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.follow import Evidence, Followed, State, fields, parts_in
from allotment.kubernetes.follow.following import prepares
from allotment.kubernetes.follow.holders import pod_words
from allotment.kubernetes.follow.model import Cause
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.telling import sentence_of
from allotment.planning.why.guess import Other
from allotment.planning.why.room import Holding
from allotment.planning.why.why import State as Fit
from allotment.planning.why.why import Why, why

REFINED: Final = frozenset({"no-devices-free", "nothing-matches"})
"""Causes that say no more of devices than that there are none."""
TOGETHER: Final = frozenset({"gang"})
"""Causes that are told anew where not even an empty cluster would do."""


@dataclass(frozen=True, slots=True)
class ClusterWhy:
    """Both answers: ``told`` is None where no claim of it is known, or nothing waits for devices."""

    followed: Followed
    told: Why | None = None


def why_on_cluster(
    snapshot: Snapshot, world: World, found: Followed, *, others: Sequence[Other] = ()
) -> ClusterWhy:
    """What holds it up, with the devices; ``others`` are other ways to meet its need."""
    if found.state in {State.FINISHED, State.FAILED}:
        return ClusterWhy(found)
    parts = [part for part in parts_in(snapshot, found.namespace, found.name) if not prepares(part)]
    templates = {(each.namespace, each.name): each for each in world.templates}
    for part in reversed(parts):  # the newest part's, where they differ
        for name in part.templates:
            template = templates.get((found.namespace, name))
            if template is not None:
                holdings = holdings_in(snapshot, world)
                its = replace(world, tolerations=(*world.tolerations, *_tolerations(part)))
                told = why(template.spec, its, holdings, others=tuple(others), together=part.together)
                return ClusterWhy(_refined(found, told), told)
    return ClusterWhy(found)


def _tolerations(part: Part) -> Iterator[Mapping[str, Any]]:
    """What its pods tolerate, whoever put that into them."""
    yield from fields.items(part.owner, "spec", "template", "spec", "tolerations")
    for pod in part.pods:
        yield from fields.items(pod, "spec", "tolerations")


def with_devices(snapshot: Snapshot, found: Sequence[Followed]) -> tuple[Followed, ...]:
    """The same, with the cause in terms of devices where it was told in none."""
    asking = [each for each in found if any(one.kind in REFINED | TOGETHER for one in each.causes)]
    if not asking:
        return tuple(found)
    world = world_of(snapshot).world
    return tuple(why_on_cluster(snapshot, world, each).followed if each in asking else each for each in found)


def holdings_in(snapshot: Snapshot, world: World) -> tuple[Holding, ...]:
    """Who holds devices, by the volume or the pod that they are reserved for."""
    words = pod_words(snapshot)
    found = []
    for claim in world.claims:
        allocation = allocation_of(claim.status)
        if allocation is None or not allocation.results:
            continue
        who = [words.get((claim.namespace, user), f"pod {claim.namespace}/{user}") for user in claim.users]
        found.append(Holding(", ".join(who) or f"claim {claim.namespace}/{claim.name}", allocation))
    return tuple(found)


def _refined(found: Followed, told: Why) -> Followed:
    """The cause in terms of devices, where it was told in none."""
    never = told.state is Fit.NEVER
    kinds = REFINED | TOGETHER if never else REFINED
    causes = tuple(_cause(each, told) if each.kind in kinds else each for each in found.causes)
    if causes == found.causes:
        return _noted(found, told)
    state = found.state
    if state is not State.RUNNING and causes[0] is not found.causes[0]:
        state = causes[0].state
    sentence = sentence_of(state, found.kind, found.counts, causes, packed=found.is_packed)
    return replace(found, state=state, sentence=sentence, causes=causes)


def _noted(found: Followed, told: Why) -> Followed:
    """That a pod of it would fit, where it is said that none does."""
    if told.placed is None or not any(each.kind in REFINED for each in found.causes):
        return found
    note = f"by what is published, a pod of it would fit on {told.placed.node} now: its scheduler may be late"
    return replace(found, notes=(*found.notes, note))


def _cause(cause: Cause, told: Why) -> Cause:
    if told.state is Fit.FITS or told.cause is None:
        return cause
    never = told.state is Fit.NEVER
    words = told.cause.words
    first = next((change.words for change in told.changes), "")
    remedy = "nothing: it starts by itself once devices are free"
    if never:
        remedy = "no change of one thing or two makes it fit; ask whoever runs the cluster for other cards"
    if first:
        remedy = first if never else f"{remedy}; or {first}"
    shown = Evidence("the allocator, with the devices that are published", "claim", told.asks)
    return replace(
        cause,
        state=State.NEVER if never else cause.state,
        sentence=words,
        remedy=remedy,
        evidence=(*cause.evidence, shown),
    )
