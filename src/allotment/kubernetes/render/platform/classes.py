"""A DeviceClass for each kind of card, so that what counts devices by class counts kinds of card.

The class of a kind says its product names, guarded, and the driver first. ``extendedResourceName`` lets pods
that count cards (``limits: {allotment/gpu-a100: 1}``) have one by the same class: on by default from
Kubernetes 1.36 on, and dropped without a word before. KAI counts only classes with ``gpu`` in their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from allotment.kubernetes.render.context import minor_of
from allotment.kubernetes.render.names import PREFIX, labels_of
from allotment.kubernetes.render.rendered import Note, Rendered
from allotment.needs.cards import classes_of
from allotment.platform.model import Platform

EXTENDED_SINCE: Final = 36


def class_objects(platform: Platform) -> Rendered:
    """The device classes of the platform's kinds of card."""
    named = minor_of(platform) >= EXTENDED_SINCE
    classes = [
        replace(
            each,
            extended_resource_name=f"{PREFIX}{each.name}" if named else None,
            metadata={"labels": labels_of()},
        )
        for each in classes_of(platform.cards)
    ]
    return Rendered(tuple(each.to_dict() for each in classes), tuple(_notes(platform, named=named)))


def _notes(platform: Platform, *, named: bool) -> Iterator[Note]:
    if platform.cards and not named:
        words = "device classes have no extendedResourceName"
        version = platform.versions.kubernetes
        yield Note("cards", f"{words}: Kubernetes {version} drops it", "1.36 takes it by default")
    if platform.scheduler not in {"kai", "both"}:
        return
    for name, card in platform.cards.items():
        if "gpu" not in card.device_class.lower():
            words = f"KAI does not count class {card.device_class}, which has no `gpu` in its name"
            yield Note(f"cards.{name}", words, "rename it, such as `gpu-a100-80`", "warning")
