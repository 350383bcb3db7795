"""Node labels about NVIDIA's cards as conditions on a device.

A label tells of a node's cards as if they were alike; a selector looks at each card itself. Each label here
says something that the driver publishes as an attribute or as capacity. Every key is guarded: a
device without it must not make the selector an error. Facts: NVIDIA GPU feature discovery (product names with
dashes for spaces, memory in MiB, families in lower case); attributes of NVIDIA's DRA driver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from allotment.devices.catalogue import cards
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.kubernetes.convert.counted import profile_selector

PRODUCT: Final = "nvidia.com/gpu.product"
PRESENT: Final = "nvidia.com/gpu.present"
STRATEGY: Final = "nvidia.com/gpu.sharing-strategy"
REPLICAS: Final = "nvidia.com/gpu.replicas"
SHARED_PRODUCT: Final = "-SHARED"
_ATTRIBUTES: Final = f"device.attributes['{NVIDIA_DRIVER}']"
_MEMORY: Final = f"device.capacity['{NVIDIA_DRIVER}'].?memory.orValue(quantity('0'))"
_NAME: Final = f"{_ATTRIBUTES}.?productName.orValue('')"
_MIG_PRODUCT: Final = re.compile(r"(?P<card>.+)-MIG-(?P<profile>\d+g\.\d+gb(?:\.[a-z.]+)?)")
_FAMILIES: Final = {"ada-lovelace": "Ada Lovelace"}
_LABEL_VALUE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Wanted(NamedTuple):
    """What is asked of a label: ``In`` some values, ``NotIn``, ``Exists``, ``Gt`` or ``Lt`` a number."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


Says = Callable[[Wanted], str | None]


def selector(wanted: Wanted) -> str | None:
    """The condition on a device; None where the label says nothing that a device publishes.

    An empty text is a condition that every device of the class meets.
    """
    says = _LABELS.get(wanted.key)
    if says is None or any(not _LABEL_VALUE.fullmatch(value) for value in wanted.values):
        return None
    return says(wanted)


def is_about_cards(key: str) -> bool:
    """Whether a label is about cards and not about nodes, converted or not."""
    return key.startswith(("nvidia.com/", "amd.com/gpu", "gpu.intel.com/")) or "accelerator" in key


def is_shared(wanted: Wanted) -> bool:
    """Whether it asks for cards that a plugin gives out in replicas."""
    if wanted.key == PRODUCT:
        return any(value.endswith(SHARED_PRODUCT) for value in wanted.values)
    if wanted.key == STRATEGY:
        return wanted.operator == "In" and any(value != "none" for value in wanted.values)
    return wanted.key == REPLICAS and wanted.operator in {"In", "Gt"} and not {*wanted.values} <= {"0", "1"}


def mig_product(wanted: Wanted) -> str | None:
    """The profile where a product is a slice of a card, as the plugin's strategy ``single`` labels it."""
    found = [_MIG_PRODUCT.fullmatch(value) for value in wanted.values] if wanted.key == PRODUCT else []
    profiles = {match["profile"] for match in found if match is not None}
    return profiles.pop() if len(profiles) == 1 and all(found) else None


def _product(wanted: Wanted) -> str | None:
    if (profile := mig_product(wanted)) is not None and wanted.operator == "In":
        names = tuple(value.partition("-MIG-")[0] for value in wanted.values)
        named = _one_of(_NAME, [name for each in names for name in _names(each)], unknown=names)
        first, _, more = profile.partition("gb.")
        return f"{profile_selector(f'{first}gb+{more}' if more else profile)} && {named}"
    if wanted.operator not in {"In", "NotIn"} or any("-MIG-" in value for value in wanted.values):
        return None
    known = [name for value in wanted.values for name in _names(value)]
    unknown = tuple(value for value in wanted.values if not _names(value))
    said = _one_of(_NAME, known, unknown=unknown)
    return said if wanted.operator == "In" else f"!({said})"


def _names(label: str) -> tuple[str, ...]:
    """The product names of the catalogue that the label stands for."""
    return tuple(name for card in cards() for name in card.names.value if name.replace(" ", "-") == label)


def _one_of(key: str, values: Sequence[str], unknown: Sequence[str] = ()) -> str:
    parts = []
    if len(values) == 1:
        parts.append(f"{key} == '{values[0]}'")
    elif values:
        quoted = ", ".join(f"'{each}'" for each in values)
        parts.append(f"{key} in [{quoted}]")
    parts += [f"{key}.replace(' ', '-') == '{each}'" for each in unknown]
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"


def _family(wanted: Wanted) -> str | None:
    if wanted.operator not in {"In", "NotIn"}:
        return None
    key = f"{_ATTRIBUTES}.?architecture.orValue('')"
    said = _one_of(key, [_FAMILIES.get(value, value.capitalize()) for value in wanted.values])
    return said if wanted.operator == "In" else f"!({said})"


def _memory(wanted: Wanted) -> str | None:
    return _numbers(wanted, lambda sign, value: f"{_MEMORY}.compareTo(quantity('{value}Mi')) {sign} 0")


def _version(attribute: str, part: str) -> Says:
    key = f"{_ATTRIBUTES}.?{attribute}.orValue(semver('0.0.0')).{part}()"
    return lambda wanted: _numbers(wanted, lambda sign, value: f"{key} {sign} {value}")


def _numbers(wanted: Wanted, compare: Callable[[str, int], str]) -> str | None:
    if not wanted.values or not all(value.isascii() and value.isdigit() for value in wanted.values):
        return None
    numbers = [int(value) for value in wanted.values]
    match wanted.operator:
        case "In":
            parts = [compare("==", number) for number in numbers]
            return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"
        case "NotIn":
            return " && ".join(compare("!=", number) for number in numbers)
        case "Gt" if len(numbers) == 1:
            return compare(">", numbers[0])
        case "Lt" if len(numbers) == 1:
            return compare("<", numbers[0])
        case _:
            return None


def _present(wanted: Wanted) -> str | None:
    if wanted.operator == "Exists" or (wanted.operator == "In" and wanted.values == ("true",)):
        return ""
    return None


def _unshared(wanted: Wanted) -> str | None:
    return "" if wanted.operator == "In" and set(wanted.values) == {"none"} else None


_LABELS: Final[Mapping[str, Says]] = {
    PRODUCT: _product,
    PRESENT: _present,
    STRATEGY: _unshared,
    "nvidia.com/gpu.family": _family,
    "nvidia.com/gpu.memory": _memory,
    "nvidia.com/gpu.compute.major": _version("cudaComputeCapability", "major"),
    "nvidia.com/gpu.compute.minor": _version("cudaComputeCapability", "minor"),
    "nvidia.com/cuda.driver.major": _version("driverVersion", "major"),
    "nvidia.com/cuda.driver.minor": _version("driverVersion", "minor"),
    "nvidia.com/cuda.driver-version.major": _version("driverVersion", "major"),
    "nvidia.com/cuda.driver-version.minor": _version("driverVersion", "minor"),
    "nvidia.com/cuda.runtime.major": _version("cudaDriverVersion", "major"),
    "nvidia.com/cuda.runtime.minor": _version("cudaDriverVersion", "minor"),
    "nvidia.com/cuda.runtime-version.major": _version("cudaDriverVersion", "major"),
    "nvidia.com/cuda.runtime-version.minor": _version("cudaDriverVersion", "minor"),
}
