"""Needs that nothing in a world can meet, as findings: the nearest device, and the value that would fit."""

from __future__ import annotations

from dataclasses import replace

from allotment.devices.closed_nodes import as_if_well
from allotment.devices.world import World
from allotment.errors import Finding
from allotment.needs.cards import NO_KINDS, Kinds, classes_for
from allotment.needs.claim import claim_for
from allotment.needs.cluster import for_cluster
from allotment.needs.fit import explain
from allotment.needs.fit_words import never_words
from allotment.needs.limits import faults_of
from allotment.needs.rules import NEVER_FITS
from allotment.needs.ways.choosing import ANYTHING, Able
from allotment.repository.model import HasNeed


def fit_findings(
    pipeline: HasNeed,
    world: World,
    kinds: Kinds = NO_KINDS,
    *,
    where: str = "here",
    on_cluster: bool = True,
    able: Able = ANYTHING,
) -> list[Finding]:
    """An error when nothing in the world will ever do; nothing for a need that makes no claim.

    A node that is cordoned or not ready comes back, one without a Node object does not.

    ``where`` is what to call the world, such as "in the described fleet"; ``able`` what those who place pods
    in it can do. What a cluster is sent asks for the platform's classes of cards, so they are asked for here
    too, as the world has them; what it has not of them is taken as it should be.
    """
    need = pipeline.gpu
    if need is not None and any(faults_of(need, kinds)):
        return []
    if on_cluster:
        need, _ = for_cluster(need)
        if need is None:
            return []
        own = {each.name: each for each in classes_for(kinds, by_name=able.by_name)}
        world = replace(world, classes={**own, **world.classes})
    claim = claim_for(need, pipeline.resources, kinds, by_class=on_cluster, able=able)
    found = explain(claim, as_if_well(world))
    if found.fits_ever:
        return []
    message, hint = never_words(found, where)
    key = ("gpu",) if pipeline.gpu is not None else ("resources",)
    memory = need is not None and need.memory is not None and "`memory:" in hint
    return [Finding(pipeline.position(*key, *(("memory",) if memory else ())), NEVER_FITS, message, hint)]
