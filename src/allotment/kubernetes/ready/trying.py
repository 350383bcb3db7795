"""Trials of what a server keeps, that leave nothing behind: claim templates by dry run.

A field whose gate is off is taken out of an object without a word, so what comes back tells whether the gate
is on. The same answers bear the server's time. Facts: ``dropDisabledFields`` of Kubernetes 1.34 to 1.37; a
dry run is stored nowhere and asks every admission plugin all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from allotment.devices.classes import GPU_CLASS
from allotment.devices.server import Gate
from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.follow.fields import at, items, text
from allotment.kubernetes.kinds import Object

MANAGER: Final = "allotment-doctor"

TRIALS: Final[Mapping[Gate, tuple[dict[str, Any], tuple[str, ...]]]] = {
    Gate.CONSUMABLE_CAPACITY: (
        {"exactly": {"deviceClassName": GPU_CLASS, "capacity": {"requests": {"memory": "1Gi"}}}},
        ("exactly", "capacity"),
    ),
    Gate.DEVICE_TAINTS: (
        {"exactly": {"deviceClassName": GPU_CLASS, "tolerations": [{"operator": "Exists"}]}},
        ("exactly", "tolerations"),
    ),
    Gate.PRIORITIZED_LIST: (
        {"firstAvailable": [{"name": "one", "deviceClassName": GPU_CLASS}]},
        ("firstAvailable",),
    ),
}
"""A request that uses a gate's field, and where the field is."""


def tried(
    client: Client, namespaces: Sequence[str], now: Callable[[], float]
) -> tuple[Mapping[Gate, bool], float | None]:
    """Which gates' fields the server keeps, and how far its clock is ahead of ours."""
    kept: dict[Gate, bool] = {}
    skew: float | None = None
    for namespace in namespaces[:1]:
        for gate, (request, place) in TRIALS.items():
            try:
                began = now()
                answer = client.create(_template(namespace, request), manager=MANAGER, dry_run=True)
            except ApiError as error:
                if error.status == 422 and gate is Gate.PRIORITIZED_LIST:
                    kept[gate] = False  # nothing is left of such a request
                continue
            (told,) = items(answer, "spec", "spec", "devices", "requests") or ({},)
            kept[gate] = bool(at(told, *place))
            skew = _skew(text(answer, "metadata", "creationTimestamp"), began, now())
    return kept, skew


def _skew(stamp: str, before: float, after: float) -> float | None:
    """How far a time, which has whole seconds, lies outside of when it must have been taken."""
    try:
        told = datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return None
    if told > after:
        return told - after
    return min(0.0, told + 1 - before)


def _template(namespace: str, request: Mapping[str, Any]) -> Object:
    return {
        "apiVersion": kinds.CLAIM_TEMPLATE.api_version,
        "kind": kinds.CLAIM_TEMPLATE.name,
        "metadata": {"name": "allotment-doctor", "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "trial", **request}]}}},
    }
