"""Whether the device classes that claims name are there, and what each of them finds among the devices.

A class that is not there, or of which no device is published, leaves pods waiting for ever; one of which a
selector cannot be evaluated on some device stops every pod that asks for it, on every node. Facts: NVIDIA's
driver installs its own classes; what a platform's kinds of card become is rendered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.devices.classes import COUNTED_MIG_CLASS, GPU_CLASS, MIG_CLASS, DeviceClass
from allotment.devices.selectors import SelectorError, evaluate
from allotment.devices.slices import Device
from allotment.devices.world import World
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.ready.seen import Seen, listed
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.render.platform.kueue import counted_classes

CHECK: Final = "kinds of card"
WITHOUT: Final = {
    GPU_CLASS: "see whether the driver's pods run",
    MIG_CLASS: "set slices up on some cards, or leave `mig` out of `sharing`",
}
INSTALL: Final = "install the driver with its device classes, or leave out what needs it"


def found_by_classes(seen: Seen) -> Iterator[Answer]:
    """What the classes that claims name find."""
    for each in render_platform(seen.platform).notes:
        if each.kind == "warning" and each.about.startswith("cards"):
            yield note(CHECK, each.text, each.remedy)
    if not seen.can_tell(kinds.DEVICE_CLASS):
        return
    world = world_of(seen.snapshot).world
    there = {each["metadata"]["name"] for each in seen.snapshot.of(kinds.DEVICE_CLASS)}
    well: list[str] = []
    for name in counted_classes(seen.platform):
        if name == COUNTED_MIG_CLASS:  # an object of the platform's, for the devices of NVIDIA's class
            continue
        if name not in there:
            yield from _missing(seen, name)
        elif name in world.classes and seen.can_tell(kinds.SLICE):
            faults = [*_faults(world, world.classes[name])]
            well += [] if faults else [name]
            yield from faults
    if well:
        yield fine(CHECK, f"there are devices of {listed(well)}")


def _missing(seen: Seen, name: str) -> Iterator[Answer]:
    """A class of a driver's; those of the platform are told as its other objects."""
    if name not in {card.device_class for card in seen.platform.cards.values()}:
        say = note if name == MIG_CLASS else problem
        yield say(CHECK, f"DeviceClass {name} is not there, which claims of ours name", INSTALL)


def _faults(world: World, device_class: DeviceClass) -> Iterator[Answer]:
    name = device_class.name
    try:
        found = next(_devices(world, device_class), None)
    except SelectorError as error:
        words = f"the selectors of DeviceClass {name} fail: {error}; every pod that asks for it stops at that"
        yield problem(CHECK, words, "guard the key: 'x' in device.attributes['domain']")
        return
    if found is None:
        words = f"no device that is published is of DeviceClass {name}: what asks for it waits"
        yield note(CHECK, words, WITHOUT.get(name, "take the kind out of `cards`, or bring such cards"))


def _devices(world: World, device_class: DeviceClass) -> Iterator[Device]:
    """The devices that a class finds."""
    for published in world.slices:
        for device in published.devices:
            if all(evaluate(each, published.driver, device) for each in device_class.selectors):
                yield device
