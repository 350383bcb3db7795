"""Gang objects, which a server treats as no others: one needs another there, and not all of one is kept.

Facts, seen on real servers: Kubernetes 1.36 and 1.37 look a PodGroup's Workload up when the PodGroup is
created ("Workload … not found"), and a dry-run leaves no Workload to be found. ``disruptionMode`` of a new
PodGroup is ignored without a word where its gate is off, and forbidden to change in one that is there.
"""

from __future__ import annotations

from typing import Final

from allotment.kubernetes.apply.groups import address
from allotment.kubernetes.client import ApiError
from allotment.kubernetes.kinds import GANG_POD_GROUPS, GANG_WORKLOADS, Object, kind_of

_NOT_FOUND: Final = "not found"
_GATED: Final = "disruptionMode"


def needed_by(value: Object) -> tuple[str, str] | None:
    """The address of what has to be there before this object; None where nothing has."""
    kind = kind_of(value)
    if kind not in GANG_POD_GROUPS:
        return None
    spec = value.get("spec") or {}
    workload = (spec.get("podGroupTemplateRef") or {}).get("workload") or spec.get("workloadRef") or {}
    name = workload.get("workloadName")
    served = next(each for each in GANG_WORKLOADS if each.api_version == kind.api_version)
    return None if name is None else (served.shown, str(name))


def is_for_want_of(error: ApiError, value: Object, coming: frozenset[tuple[str, str]]) -> bool:
    """Whether a refusal says no more than that something is not there which is sent before this object."""
    needed = needed_by(value)
    return needed in coming and needed != address(value) and _NOT_FOUND in error.message


def as_kept(value: Object, live: Object | None) -> Object:
    """A gang object as it may be applied to the live one: with what was decided without us."""
    if live is None or kind_of(value) not in GANG_POD_GROUPS or _GATED not in value["spec"]:
        return value
    spec = {key: each for key, each in value["spec"].items() if key != _GATED}
    kept = {_GATED: live["spec"][_GATED]} if _GATED in live.get("spec", {}) else {}
    return {**value, "spec": {**spec, **kept}}
