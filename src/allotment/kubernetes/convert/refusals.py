"""Why a pod that counts cards stays as it is: a claim would mean something else.

Facts: NVIDIA's device plugin and GPU feature discovery (replicas), HAMi, KAI 0.17 (fractions by annotation;
no MIG through DRA), validation of extended resources in the API server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.devices.classes import MIG_CLASS
from allotment.kubernetes.convert.counted import SPOILERS, Counted, counted, looks_counted, whole_number
from allotment.kubernetes.convert.pods import PodPlace, mapping_of
from allotment.kubernetes.convert.selecting import asks_for_shared

FRACTIONS: Final = ("gpu-fraction", "gpu-memory")
KAI: Final = "kai-scheduler"


def resources_of(container: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a container says of each GPU resource, by ``limits`` and ``requests``."""
    found: dict[str, dict[str, Any]] = {}
    for part in ("limits", "requests"):
        for name, value in mapping_of(mapping_of(container.get("resources")).get(part)).items():
            if looks_counted(str(name)):
                found.setdefault(str(name), {})[part] = value
    return found


def pod_resources(place: PodPlace) -> dict[str, list[dict[str, Any]]]:
    """What all containers of a pod say of each GPU resource."""
    found: dict[str, list[dict[str, Any]]] = {}
    for _, container in place.containers():
        for name, said in resources_of(container).items():
            found.setdefault(name, []).append(said)
    return found


def fraction_words(place: PodPlace) -> str | None:
    """Why a pod stays that asks KAI for a part of a card by annotation; None for one that does not."""
    annotations = mapping_of(mapping_of(place.pod.get("metadata")).get("annotations"))
    asked = next((f"{key}: {annotations[key]}" for key in FRACTIONS if key in annotations), None)
    if asked is None:
        return None
    return (
        f"`{asked}` asks KAI for a part of a card, which other pods share: a claim of each pod's own shares "
        "nothing, and KAI places no parts of cards through claims. Ask for a MIG slice, or keep it"
    )


def refusals(place: PodPlace, kinds: Mapping[str, Counted]) -> Iterator[str]:
    """Every reason for which a pod that counts these stays as it is."""
    said = pod_resources(place)
    if spoiled := sorted(SPOILERS & said.keys()):
        yield (
            f"`{spoiled[0]}` makes a card that is counted a part of one: a claim would take the whole card. "
            "Ask for a MIG slice, or leave it to the device plugin"
        )
    if (words := fraction_words(place)) is not None:
        yield words
    if (shared := asks_for_shared(place)) is not None:
        yield (
            f"`{shared}` asks for cards that the device plugin gives out in replicas: one counted is a turn "
            "on a card, and a claim would take the whole card. To share one, pods name one ResourceClaim"
        )
    for name in kinds:
        yield from _wrong_counts(name, said[name])
    if place.spec.get("nodeName"):
        yield "`nodeName` passes the scheduler by, which is who gives devices to a claim"
    slices = any(each.device_class == MIG_CLASS for each in kinds.values())
    if slices and place.spec.get("schedulerName") == KAI:
        yield "KAI (up to 0.17) places no MIG slices through claims; counted ones it does"


def _wrong_counts(name: str, said: list[dict[str, Any]]) -> Iterator[str]:
    for each in said:
        numbers = {whole_number(value) for value in each.values()}
        if None in numbers:
            yield f"`{name}` is counted by something that is no whole number"
        elif "limits" not in each:
            yield f"`{name}` is requested without a limit, which the API server refuses"
        elif len(numbers) > 1:
            yield f"request and limit of `{name}` differ, which the API server refuses"


def kinds_of(place: PodPlace) -> dict[str, Counted]:
    """The resources of a pod that stand for devices, as such; those that nobody asks any of are left out."""
    found = {}
    for name, said in pod_resources(place).items():
        kind = counted(name)
        if kind is not None and any(whole_number(value) != 0 for each in said for value in each.values()):
            found[name] = kind
    return found
