"""``config:`` held against the ways that a need lists, and NVIDIA's parameters against NVIDIA's rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.needs.fault import Fault
from allotment.needs.rules import CONFIG_MISMATCH
from allotment.needs.ways.nvidia_config import GPU_CONFIG, LEAST_PINNED, MIG_CONFIG, parameter_faults
from allotment.platform.need import Need

WAY_OF_CONFIG: Final = {"mps": "mps", "time_slice": "time-slicing"}
_KIND_OF_WAY: Final = {"mig": MIG_CONFIG}
_BY_ANNOTATION: Final = "fraction"


def config_faults(need: Need) -> Iterator[Fault]:
    """Everything in the configuration that no driver would take for what is asked for."""
    for key, value in (need.config or {}).items():
        if key == "opaque":
            yield from _of_opaque(need, value["driver"], value["parameters"])
            continue
        way = WAY_OF_CONFIG[key]
        if way not in need.sharing:
            asked = " or ".join(f"`{word}`" for word in need.sharing)
            message = f"`{key}` is for `sharing: {way}`, and {asked} is asked for"
            yield Fault(
                ("config", key), CONFIG_MISMATCH, message, f"write `sharing: {way}`, or take `config` out"
            )
        if key == "mps" and 0 < value.get("pinned_memory", LEAST_PINNED) < LEAST_PINNED:
            message = "`pinned_memory` is less than 1Mi, which the driver refuses"
            yield Fault(
                ("config", "mps", "pinned_memory"), CONFIG_MISMATCH, message, "write an amount such as 4Gi"
            )


def _of_opaque(need: Need, driver: str, parameters: dict[str, object]) -> Iterator[Fault]:
    if _BY_ANNOTATION in need.sharing:
        message = "a fraction is no claim, and no driver is told anything for it"
        yield Fault(("config", "opaque"), CONFIG_MISMATCH, message, "take `config` out")
    if driver != NVIDIA_DRIVER:
        message = f"the parameters are for {driver}, and the devices are those of {NVIDIA_DRIVER}"
        yield Fault(
            ("config", "opaque", "driver"), CONFIG_MISMATCH, message, f"write `driver: {NVIDIA_DRIVER}`"
        )
        return
    kinds = dict.fromkeys(
        _KIND_OF_WAY.get(word, GPU_CONFIG) for word in need.sharing if word != _BY_ANNOTATION
    )
    if len(kinds) > 1:
        message = f"one configuration cannot be for slices and for cards: they take {' and '.join(kinds)}"
        yield Fault(
            ("config", "opaque"), CONFIG_MISMATCH, message, "keep one way, or write the other as a fallback"
        )
        return
    for kind in kinds:
        for message, hint in parameter_faults(parameters, kind):
            yield Fault(("config", "opaque", "parameters"), CONFIG_MISMATCH, message, hint)
