"""The configuration's ``deviceClassMappings``: which resource a class is charged to, and by what measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A measure that devices of one driver publish: a counter or a capacity, and the devices that count."""

    resource: str
    driver: str
    name: str
    selector: str = ""


@dataclass(frozen=True, slots=True)
class ClassMapping:
    """What each class is charged to; the first mapping that names a class says its resource."""

    resources: Mapping[str, str] = field(default_factory=dict, hash=False)
    counters: Mapping[str, tuple[Source, ...]] = field(default_factory=dict, hash=False)
    capacities: Mapping[str, tuple[Source, ...]] = field(default_factory=dict, hash=False)


def read_mapping(raw: Iterable[Raw]) -> ClassMapping:
    """The mapping of the configuration's entries."""
    resources: dict[str, str] = {}
    counters: dict[str, tuple[Source, ...]] = {}
    capacities: dict[str, tuple[Source, ...]] = {}
    for entry in raw:
        for device_class in entry.get("deviceClassNames") or ():
            resources.setdefault(device_class, entry["name"])
            for source in entry.get("sources") or ():
                for kind, found in (("counter", counters), ("capacity", capacities)):
                    if source.get(kind):
                        known = found.get(device_class, ())
                        found[device_class] = (*known, _source(entry["name"], source[kind]))
    return ClassMapping(resources, counters, capacities)


def _source(resource: str, raw: Raw) -> Source:
    selector = ((raw.get("deviceSelector") or {}).get("cel") or {}).get("expression", "")
    return Source(resource, raw.get("driver", ""), raw.get("name", ""), selector)
