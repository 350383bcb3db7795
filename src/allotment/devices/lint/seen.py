"""What a lint looks at: a slice, where its parts stand in a file, and what its devices are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.devices.slices import AttributeValue, Device, ResourceSlice
from allotment.devices.versions import NESTED
from allotment.documents.checking import Place
from allotment.errors import Severity

MOST_EVIDENCE: Final = 8
_NVIDIA: Final = "gpu.nvidia.com"
_CARDS: Final = ("gpu.amd.com", "gpu.intel.com", "gaudi.intel.com")
_CARD_WORD: Final = re.compile(r"(^|[.-])gpu([.-]|$)")


@dataclass(frozen=True, slots=True)
class SeenSlice:
    """A slice as a file has it: ``raw`` is its spec, ``slice`` is None where that could not be read."""

    place: Place
    version: str
    raw: Mapping[str, Any]
    slice: ResourceSlice | None = None

    @property
    def spec(self) -> Place:
        """The place of its spec."""
        return self.place / "spec"

    def devices(self) -> Iterator[SeenDevice]:
        """Its devices, each with its place."""
        if self.slice is None:
            return
        for number, device in enumerate(self.slice.devices):
            outer = self.spec / "devices" / number
            yield SeenDevice(self.slice, device, outer, outer / "basic" if self.version == NESTED else outer)


@dataclass(frozen=True, slots=True)
class SeenDevice:
    """A device: ``place`` is its own, ``body`` that of what it says."""

    slice: ResourceSlice
    device: Device
    place: Place
    body: Place

    @property
    def name(self) -> str:
        """Its name."""
        return self.device.name

    @property
    def is_card(self) -> bool:
        """Whether it is a card, or a part of one, that models run on."""
        driver = self.slice.driver
        if driver == _NVIDIA:
            return self.attribute("type") in {"gpu", "mig"}
        return driver in _CARDS or _CARD_WORD.search(driver) is not None

    @property
    def is_part(self) -> bool:
        """Whether it is a part of a card that it names."""
        return any(key.rpartition("/")[2].lower().startswith("parent") for key in self.device.attributes)

    def attribute(self, key: str) -> AttributeValue | None:
        """An attribute of the driver's own, however its key is written."""
        own = self.device.attributes.get(key)
        return self.device.attributes.get(f"{self.slice.driver}/{key}") if own is None else own

    def keyed(self) -> Iterator[tuple[str, str, AttributeValue]]:
        """Its attributes: the full key, the key as it is written, and the value."""
        for key, value in self.device.attributes.items():
            yield key if "/" in key else f"{self.slice.driver}/{key}", key, value


@dataclass(frozen=True, slots=True)
class Sighting:
    """One device of which a rule holds: where exactly, and what was seen."""

    device: SeenDevice
    seen: str
    step: tuple[str | int, ...] = ()

    @property
    def place(self) -> Place:
        """The place of what was seen."""
        place = self.device.body if self.step else self.device.place
        for step in self.step:
            place /= step
        return place


@dataclass(frozen=True, slots=True)
class DeviceRule:
    """A rule on one device, told once a slice: ``words`` goes on after the names of the devices."""

    id: str
    severity: Severity
    words: str
    hint: str
    find: Any = field(repr=False)

    def tell(self, sightings: Sequence[Sighting]) -> None:
        """Record one finding for all of a slice's devices."""
        first = sightings[0]
        first.place.found(
            self.id,
            f"{subject([each.device.name for each in sightings])}: {self.words}",
            self.hint,
            severity=self.severity,
            evidence=evidence([f"{each.device.name}: {each.seen}" for each in sightings]),
        )


def subject(names: Sequence[str]) -> str:
    """``device `gpu-0` ``, or how many and the first of them."""
    unique = list(dict.fromkeys(names))
    if len(unique) == 1:
        return f"device `{unique[0]}`"
    shown = ", ".join(f"`{name}`" for name in unique[:3])
    return f"{len(unique)} devices ({shown}{', …' if len(unique) > 3 else ''})"


def evidence(lines: Sequence[str]) -> tuple[str, ...]:
    """What was seen, not very many lines of it."""
    if len(lines) <= MOST_EVIDENCE:
        return tuple(lines)
    return (*lines[: MOST_EVIDENCE - 1], f"… and {len(lines) - MOST_EVIDENCE + 1} more")


def value_words(value: AttributeValue) -> str:
    """An attribute's value with its type."""
    if isinstance(value, tuple):
        return f"a list: {', '.join(value_words(each) for each in value)}"
    kind = {bool: "bool", int: "int", str: "string"}.get(type(value), "version")
    return f'{kind} "{value}"' if kind in {"string", "version"} else f"{kind} {value}"
