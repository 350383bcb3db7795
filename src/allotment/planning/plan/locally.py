"""A plan for this machine, whose engine does what a cluster cannot: it falls back to processors.

A scene is rendered as for a cluster, where a fallback to processors is dropped. Where this machine has no
card, what can do without one is planned on the processors that there are. Its waits are told in words of a
machine, for whoever plans on a laptop has no nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.world import World
from allotment.planning.plan.plan import Waiting, WorkPlan
from allotment.platform.need import Need
from allotment.repository.model import Campaign, Pipeline, Repository

OF_CLUSTERS: Final = ("campaigns/", "fleets/", "gangs/", "pipelines/", "platform:")
"""How notes begin that say what a cluster cannot do, or would be given."""
_OF_NODES: Final = re.compile(r"\d+/\d+ nodes are available")
_OF_CORES: Final = "Insufficient cpu"
_OF_DEVICES: Final = "every device that would do is in use"


def as_run_here(
    repository: Repository, world: World, *, here: bool = True
) -> tuple[Repository, tuple[str, ...]]:
    """The repository as this machine's engine would run it, and what there is to say; elsewhere as it is."""
    if not here:
        return repository, ()
    processors = _processors(world)
    if any(device.driver != CPU_DRIVER for device, _ in world.devices()):
        return repository, ()
    without = {name: need for name, each in repository.pipelines.items() if (need := _without_card(each))}
    pipelines = {
        name: replace(each, gpu=without[name]) if name in without else each
        for name, each in repository.pipelines.items()
    }
    campaigns = {
        name: _waiting_for_less(each, pipelines[each.pipeline], processors)
        if each.pipeline in without
        else each
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


def waits_here(works: Sequence[WorkPlan], world: World) -> tuple[WorkPlan, ...]:
    """The works of a plan for this machine, with waits for room told in its own words."""
    processors = _processors(world)
    of_processors = f"every processor is taken: there {'is' if processors == 1 else 'are'} {processors:,}"

    def told(wait: Waiting) -> Waiting:
        if not _OF_NODES.match(wait.message):
            return wait
        words = of_processors if _OF_CORES in wait.message and processors else _OF_DEVICES
        return replace(wait, message=words)

    return tuple(replace(work, waits=tuple(map(told, work.waits))) for work in works)


def _without_card(pipeline: Pipeline) -> Need | None:
    if pipeline.gpu is None or pipeline.gpu.cpu is not None:
        return None
    return next((each for each in pipeline.gpu.fallback if each.cpu is not None), None)


def _waiting_for_less(campaign: Campaign, pipeline: Pipeline, processors: int) -> Campaign:
    """The campaign, which begins with as many as there is room for."""
    cores = pipeline.gpu.cpu if pipeline.gpu is not None and pipeline.gpu.cpu else 1
    least = max(1, min(campaign.window.min, processors // cores))
    return replace(campaign, window=replace(campaign.window, min=least))


def _processors(world: World) -> int:
    return sum(device.driver == CPU_DRIVER for device, _ in world.devices())
