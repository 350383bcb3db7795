"""What an API server holds a change of an object to: what may not change, and the rest as in a new object.

From the ``Validate…Update`` functions of ``pkg/apis/resource/validation``: the spec of a claim and of a
template is fixed, a slice stays with its driver, its pool and its node, a class may change altogether.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.devices.validation import raw
from allotment.devices.validation.problems import Loc, Problem, invalid
from allotment.devices.validation.raw import Raw

FIXED: Final[Mapping[str, tuple[Loc, ...]]] = {
    "ResourceClaim": (("spec",),),
    "ResourceClaimTemplate": (("spec",),),
    "ResourceSlice": (("spec", "driver"), ("spec", "pool", "name"), ("spec", "nodeName")),
}
_IMMUTABLE: Final = "field is immutable"


def of_change(kind: str, before: Raw, after: Raw) -> Iterator[Problem]:
    """What of a change is not allowed; both objects have their defaults filled in."""
    for loc in FIXED.get(kind, ()):
        if _at(before, loc) != _at(after, loc):
            yield invalid(loc, _IMMUTABLE)


def of_status_change(before: Raw, after: Raw) -> Iterator[Problem]:
    """An allocation is written once: it may be taken away, and not changed."""
    old, new = (raw.part(raw.table(each, "status"), "allocation") for each in (before, after))
    if old is not None and new is not None and old != new:
        yield invalid(("status", "allocation"), _IMMUTABLE)


def _at(value: Any, loc: Loc) -> Any:
    for step in loc:
        value = value.get(step) if isinstance(value, dict) else None
    return value
