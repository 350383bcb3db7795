"""What an API server fills in where an object says nothing.

From ``pkg/apis/resource/v1/defaults.go``: the mode and count of a request, the operator of a toleration. When
a taint was added is a matter of the clock, and stays open here.
"""

from __future__ import annotations

import copy
from typing import Any

from allotment.devices.validation import raw
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.requests import EXACT_COUNT


def with_defaults(kind: str, value: Raw) -> dict[str, Any]:
    """The object with the defaults filled in, in the form of ``v1``."""
    filled: dict[str, Any] = copy.deepcopy(dict(value))
    spec = raw.table(filled, "spec")
    if kind == "ResourceClaimTemplate":
        spec = raw.table(spec, "spec")
    if kind.startswith("ResourceClaim"):
        for request in raw.listed(raw.table(spec, "devices"), "requests") or ():
            _fill_request(request)
    return filled


def _fill_request(request: Any) -> None:
    if not isinstance(request, dict):
        return
    for exact in (request.get("exactly"), *(raw.listed(request, "firstAvailable") or ())):
        if isinstance(exact, dict):
            _fill_exact(exact)


def _fill_exact(exact: dict[str, Any]) -> None:
    exact["allocationMode"] = exact.get("allocationMode") or EXACT_COUNT
    if exact["allocationMode"] == EXACT_COUNT:
        exact["count"] = exact.get("count") or 1
    for toleration in raw.listed(exact, "tolerations") or ():
        if isinstance(toleration, dict):
            toleration["operator"] = toleration.get("operator") or "Equal"
