"""A work's index on its devices, as the assignment that its worker reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from allotment.buckets.opening import NO_OPTIONS, Options
from allotment.devices.card_shares import amounts_taken
from allotment.devices.claims import Allocation
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.repository.sources import source_data
from allotment.running.assignment import Assignment, StepSpec, VolumeSpec, WorkerSpec
from allotment.running.engine.work import Work

PROCESSOR_ATTRIBUTE = "cpuID"


def processors_of(world: World) -> Mapping[DeviceId, int]:
    """The logical processor behind each device that is one."""
    return {
        device_id: number
        for device_id, device in world.devices()
        if isinstance(number := device.attributes.get(PROCESSOR_ATTRIBUTE), int)
    }


def assignment_for(
    work: Work,
    index: int,
    volumes: Collection[str],
    allocation: Allocation,
    processors: Mapping[DeviceId, int],
    *,
    bucket: str,
    bucket_options: Options = NO_OPTIONS,
    log: str,
) -> Assignment:
    """What a worker is told that runs these volumes of one index in turn.

    A worker on processors is bound to them and uses as many threads; one on cards uses the cores that its
    pipeline asks for and is bound to none.
    """
    sources = {volume.id: source_data(volume.source) for volume in work.index_volumes(index)}
    cpus = tuple(sorted(processors[device] for device in allocation.ids if device in processors))
    prepare = work.prepare
    return Assignment(
        team=work.team,
        campaign=work.campaign,
        pipeline=work.pipeline,
        recipe=work.recipe,
        image=work.image,
        steps=tuple(StepSpec(call.step, call.settings) for call in work.steps),
        indexes=(tuple(VolumeSpec(volume, sources[volume]) for volume in volumes),),
        root=str(work.root),
        bucket=bucket,
        bucket_options=bucket_options,
        prepare=None if prepare is None else StepSpec(prepare.step, prepare.settings),
        limits=work.limits,
        network=work.network,
        worker=WorkerSpec(
            cpus=cpus or None,
            threads=len(cpus) or max(1, math.floor(work.cores or 1)),
            memory_limit=work.memory_bytes or None,
            devices=tuple(str(device) for device in allocation.ids),
            device_share=sum(amounts_taken(allocation).values()) or None,
            log=log,
        ),
    )
