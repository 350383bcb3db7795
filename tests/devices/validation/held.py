"""Plain objects to break a rule in, and what an API server says then."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from allotment.devices.validation import ANY_SERVER, Server, validate

Path = tuple[str | int, ...]
REQUEST = {"name": "a", "exactly": {"deviceClassName": "gpu.example.com"}}
ALTERNATIVES = {
    "name": "b",
    "firstAvailable": [
        {"name": "big", "deviceClassName": "gpu.example.com"},
        {"name": "small", "deviceClassName": "gpu.example.com"},
    ],
}
CLAIM = {
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "namespace": "n"},
    "spec": {"devices": {"requests": [REQUEST, ALTERNATIVES]}},
}
TEMPLATE = {**CLAIM, "kind": "ResourceClaimTemplate", "spec": {"spec": CLAIM["spec"]}}
CLASS = {"kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}}
DEVICE = {"name": "x", "attributes": {"model": {"string": "m"}}, "capacity": {"memory": {"value": "40Gi"}}}
SLICE = {
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [DEVICE],
    },
}
RULE = {
    "kind": "DeviceTaintRule",
    "metadata": {"name": "r"},
    "spec": {"deviceSelector": {"driver": "d.example"}, "taint": {"key": "k", "effect": "NoSchedule"}},
}


def put(base: Mapping[str, Any], *changes: tuple[str, Any]) -> dict[str, Any]:
    """The object with other values at dotted paths; None takes one out."""
    found: dict[str, Any] = copy.deepcopy(dict(base))
    for path, value in changes:
        steps: list[Any] = [int(step) if step.isdigit() else step for step in path.split(".")]
        around: Any = found
        for step in steps[:-1]:
            around = around[step] if isinstance(step, int) else around.setdefault(step, {})
        if value is None:
            around.pop(steps[-1], None)
        else:
            around[steps[-1]] = value
    return found


def told(value: Mapping[str, Any], server: Server = ANY_SERVER) -> list[str]:
    """Where something is wrong and of which kind, as ``path Kind``, each once."""
    problems = validate(value["kind"], value, server=server).problems
    short = {
        f"{each.path} {each.reason.removeprefix('FieldValue')}" for each in problems if not each.tolerated
    }
    return sorted(short)
