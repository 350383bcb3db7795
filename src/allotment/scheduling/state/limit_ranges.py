"""What a namespace's LimitRanges make of a pod, and what they have against it.

Requests that are missing come from the ranges' defaults and from the limits; requests above limits, or
outside the ranges, make a workload inadmissible. The rules and words are those of ``AdjustResources``,
``ValidateResources`` and ``ValidateLimitRange`` in Kueue's ``pkg/workload`` and ``pkg/util/limitrange``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.quantities.kubernetes import Quantity
from allotment.scheduling.state.amounts import amounts_of
from allotment.scheduling.state.pod_requests import pod_requests

Raw = Mapping[str, Any]
Amounts = Mapping[str, str]

ABOVE_LIMIT: Final = "requests must not exceed its limits"
ABOVE_MAX: Final = "requests must not be above the limitRange max"
BELOW_MIN: Final = "requests must not be below the limitRange min"
RESOURCES: Final = "resources validation failed"
RANGES: Final = "resources didn't satisfy LimitRange constraints"
_KINDS: Final = ("initContainers", "containers")


@dataclass(frozen=True, slots=True)
class Range:
    """All ranges of a namespace for one type of thing, as one."""

    most: Amounts = field(default_factory=dict)
    least: Amounts = field(default_factory=dict)
    limits: Amounts = field(default_factory=dict)
    requests: Amounts = field(default_factory=dict)

    def joined(self, item: Raw) -> Range:
        """With one more range: the narrower bounds, the first defaults."""
        return Range(
            _joined(self.most, item.get("max") or {}, _smaller),
            _joined(self.least, item.get("min") or {}, _larger),
            {**(item.get("default") or {}), **self.limits},
            {**(item.get("defaultRequest") or {}), **self.requests},
        )


def ranges_of(limit_ranges: Iterable[Raw]) -> dict[str, Range]:
    """The ranges by type: ``Container`` and ``Pod``."""
    found: dict[str, Range] = {}
    for each in limit_ranges:
        for item in (each.get("spec") or {}).get("limits") or ():
            found[item["type"]] = found.get(item["type"], Range()).joined(item)
    return found


def _joined(left: Amounts, right: Amounts, choose: Callable[[str, str], str]) -> dict[str, str]:
    both = {name: choose(left[name], right[name]) for name in left if name in right}
    return {**right, **left, **both}


def _smaller(left: str, right: str) -> str:
    return min(left, right, key=Quantity.parse)


def _larger(left: str, right: str) -> str:
    return max(left, right, key=Quantity.parse)


def adjusted(template: Raw, ranges: Mapping[str, Range]) -> dict[str, Any]:
    """A pod's spec with the requests that it is charged for filled in."""
    whole = ranges.get("Container", Range())
    spec = dict(template)
    for kind in _KINDS:
        if kind in spec:
            spec[kind] = [_filled(container, whole) for container in spec[kind] or ()]
    if spec.get("resources"):
        spec = _filled(spec, ranges.get("Pod", Range()))
    return spec


def _filled(part: Raw, span: Range) -> dict[str, Any]:
    resources = part.get("resources") or {}
    limits = {**span.limits, **(resources.get("limits") or {})}
    requests = {**span.requests, **(resources.get("requests") or {})}
    requests = {**limits, **requests}
    kept = {"limits": limits} if limits else {}
    return {**part, "resources": {**resources, **kept, "requests": requests}}


def faults_of(pod_sets: Iterable[Raw], ranges: Mapping[str, Range]) -> tuple[str, ...]:
    """What makes a workload inadmissible, in one line; empty if nothing does."""
    specs = [(index, (each.get("template") or {}).get("spec") or {}) for index, each in enumerate(pod_sets)]
    for title, look in ((RESOURCES, _above_limits), (RANGES, lambda spec: _outside(spec, ranges))):
        told = [
            f"spec.podSets[{index}].template.spec{place}: Invalid value: {json.dumps(names)}: {why}"
            for index, spec in specs
            for place, names, why in look(spec)
        ]
        if told:
            return (f"{title}: {told[0] if len(told) == 1 else '[' + ', '.join(told) + ']'}",)
    return ()


Fault = tuple[str, list[str], str]


def _above_limits(spec: Raw) -> Iterator[Fault]:
    for place, resources in _parts(spec):
        names = _greater(resources.get("requests") or {}, resources.get("limits") or {})
        if names:
            yield place, names, ABOVE_LIMIT
    if spec.get("resources"):
        names = _greater(spec["resources"].get("requests") or {}, spec["resources"].get("limits") or {})
        if names:
            yield ".resources", names, ABOVE_LIMIT


def _outside(spec: Raw, ranges: Mapping[str, Range]) -> Iterator[Fault]:
    span = ranges.get("Container")
    for place, resources in _parts(spec) if span else ():
        requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
        yield from _beyond(
            place, _joined(requests, limits, _larger), _joined(requests, limits, _smaller), span
        )
    if "Pod" in ranges:
        total = {
            name: f"{amount}m" if name == "cpu" else str(amount)
            for name, amount in pod_requests(spec).items()
        }
        yield from _beyond("", total, total, ranges["Pod"])


def _beyond(place: str, largest: Amounts, smallest: Amounts, span: Range | None) -> Iterator[Fault]:
    if span is None:
        return
    above, below = _greater(largest, span.most), _greater(span.least, smallest)
    if above:
        yield place, above, ABOVE_MAX
    if below:
        yield place, below, BELOW_MIN


def _parts(spec: Raw) -> Iterator[tuple[str, Raw]]:
    for kind in _KINDS:
        for index, container in enumerate(spec.get(kind) or ()):
            yield f".{kind}[{index}]", container.get("resources") or {}


def _greater(left: Amounts, right: Amounts) -> list[str]:
    """The resources of which the left has more, where the right says any."""
    ours, theirs = amounts_of(left), amounts_of(right)
    return sorted(name for name, amount in ours.items() if name in theirs and amount > theirs[name])
