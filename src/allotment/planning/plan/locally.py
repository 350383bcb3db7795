"""A plan for this machine, whose engine does what a cluster cannot: it falls back to processors.

A scene is rendered as for a cluster, where a fallback to processors is dropped. Where this machine has no
card, what can do without one is planned with the processors that there are, and no wider than they allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.world import World
from allotment.platform.need import Need
from allotment.repository.model import Campaign, Pipeline, Repository

OF_CLUSTERS: Final = ("campaigns/", "fleets/", "gangs/", "pipelines/", "platform:")
"""How notes begin that say what a cluster cannot do, or would be given."""


def as_run_here(
    repository: Repository, world: World, *, here: bool = True
) -> tuple[Repository, tuple[str, ...]]:
    """The repository as this machine's engine would run it, and what there is to say; elsewhere as it is."""
    if not here:
        return repository, ()
    processors = sum(device.driver == CPU_DRIVER for device, _ in world.devices())
    if any(device.driver != CPU_DRIVER for device, _ in world.devices()):
        return repository, ()
    without = {name: need for name, each in repository.pipelines.items() if (need := _without_card(each))}
    pipelines = {
        name: replace(each, gpu=without[name]) if name in without else each
        for name, each in repository.pipelines.items()
    }
    campaigns = {
        name: _narrowed(each, pipelines[each.pipeline], processors) if each.pipeline in without else each
        for name, each in repository.campaigns.items()
    }
    notes = [
        f"{name} runs on processors, for there is no card here"
        for name, each in repository.campaigns.items()
        if each.pipeline in without
    ]
    return replace(repository, pipelines=pipelines, campaigns=campaigns), tuple(notes)


def said_here(notes: Sequence[str]) -> Iterator[str]:
    """The notes without those that are about clusters."""
    return (note for note in notes if not note.startswith(OF_CLUSTERS))


def _without_card(pipeline: Pipeline) -> Need | None:
    if pipeline.gpu is None or pipeline.gpu.cpu is not None:
        return None
    return next((each for each in pipeline.gpu.fallback if each.cpu is not None), None)


def _narrowed(campaign: Campaign, pipeline: Pipeline, processors: int) -> Campaign:
    cores = pipeline.gpu.cpu if pipeline.gpu is not None and pipeline.gpu.cpu else 1
    most = max(1, min(campaign.window.max, processors // cores))
    return replace(campaign, window=replace(campaign.window, min=min(campaign.window.min, most), max=most))
