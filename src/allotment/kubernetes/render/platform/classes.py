"""A DeviceClass for each kind of card, so that what counts devices by class counts kinds of card.

The class of a kind says its product names, guarded, and the driver first. ``extendedResourceName`` lets pods
that count cards (``limits: {allotment/gpu-a100: 1}``) have one by the same class: on by default from
Kubernetes 1.36 on, and dropped without a word before. KAI counts only classes with ``gpu`` in their names, so
slices of cards have one of ours there, which no pod counts by (KAI 0.17 takes no slices for such pods).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from allotment.kubernetes.render.context import minor_of
from allotment.kubernetes.render.names import PREFIX, labels_of
from allotment.kubernetes.render.rendered import Note, Rendered
from allotment.needs.cards import COUNTED_SLICES, classes_for
from allotment.platform.model import Platform

EXTENDED_SINCE: Final = 36
WITH_KAI: Final = frozenset({"kai", "both"})


def counts_slices(platform: Platform) -> bool:
    """Whether slices have a class of ours: KAI does not count them by that of NVIDIA's driver."""
    return platform.scheduler in WITH_KAI and "mig" in platform.sharing


def class_objects(platform: Platform) -> Rendered:
    """The device classes of the platform's kinds of card."""
    named = minor_of(platform) >= EXTENDED_SINCE
    classes = [
        replace(
            each,
            extended_resource_name=f"{PREFIX}{each.name}" if named and each is not COUNTED_SLICES else None,
            metadata={"labels": labels_of()},
        )
        for each in classes_for(platform.cards, by_name=counts_slices(platform))
    ]
    return Rendered(tuple(each.to_dict() for each in classes), tuple(_notes(platform, named=named)))


def _notes(platform: Platform, *, named: bool) -> Iterator[Note]:
    if platform.cards and not named:
        words = "device classes have no extendedResourceName"
        version = platform.versions.kubernetes
        yield Note("cards", f"{words}: Kubernetes {version} drops it", "1.36 takes it by default")
    if platform.scheduler not in WITH_KAI:
        return
    if platform.scheduler == "kai" and platform.cards and named:
        version, name = platform.versions.kai, next(iter(platform.cards.values())).device_class
        words = f"KAI {version} counts claims of these classes, and no pods that ask for `{PREFIX}{name}`"
        yield Note("cards", words, "a resource has to end in `gpu` for it: let pods claim their cards")
    for name, card in platform.cards.items():
        if "gpu" not in card.device_class.lower():
            words = f"KAI does not count class {card.device_class}, which has no `gpu` in its name"
            yield Note(f"cards.{name}", words, "rename it, such as `gpu-a100-80`", "warning")
