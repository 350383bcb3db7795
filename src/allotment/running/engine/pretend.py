"""Running on a world that is not here: devices in name only, in a ledger of their own.

It shows how campaigns would share a fleet's cards, with their real steps on this machine. Nothing is bound to
a device, and nothing that is really here is taken. A fleet that publishes no processors gets this machine's,
so that a pipeline without a need for cards runs beside those that have one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from allotment.devices.classes import CPU_CLASS
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.world import World
from allotment.running.engine.control import state_folder


def pretended_world(fleet: World, here: World) -> World:
    """The fleet, with processors to work on where it has none."""
    if any(published.driver == CPU_DRIVER for published in fleet.slices):
        return fleet
    ours = tuple(published for published in here.slices if published.driver == CPU_DRIVER)
    classes = {CPU_CLASS: here.classes[CPU_CLASS], **fleet.classes}
    return replace(fleet, slices=(*fleet.slices, *ours), classes=classes)


def pretended_ledger(world: World, environment: Mapping[str, str]) -> Path:
    """The ledger's folder of a world that is not here: one for each world, among this user's things."""
    folder = ledger_of(world, environment)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def ledger_of(world: World, environment: Mapping[str, str]) -> Path:
    """Where that folder is, whether it is there or not."""
    names = "\n".join(str(device_id) for device_id, _ in world.devices())
    return state_folder(environment) / "pretended" / hashlib.sha256(names.encode()).hexdigest()[:12]
