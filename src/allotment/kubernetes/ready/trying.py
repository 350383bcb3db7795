"""Trials of what a server keeps and whom it asks, that leave nothing behind: by dry run.

A field whose gate is off is taken out of an object without a word, so what comes back tells whether the gate
is on. The same answers bear the server's time. Facts: ``dropDisabledFields`` of Kubernetes 1.34 to 1.37; a
dry run is stored nowhere and asks every admission plugin all the same. Kueue's webhook suspends each new Job
that names a queue; while its manager does not answer, the server refuses every Job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from allotment.devices.classes import GPU_CLASS
from allotment.devices.server import Gate
from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.follow.causes.creating import WEBHOOK
from allotment.kubernetes.follow.fields import at, is_true, items, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.kueue_jobs import QUEUE
from allotment.kubernetes.ready.seen import Webhook
from allotment.kubernetes.render.context import namespace_of
from allotment.platform.model import Team

NOWHERE: Final = "registry.invalid"
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


def tried_job(client: Client, teams: Sequence[Team], images: Sequence[str]) -> Webhook | None:
    """Whether Kueue's manager answers when a Job is made; None where the server's answer does not tell.

    ``images`` are the repositories that the cluster lets images come from.
    """
    for team in teams[:1]:
        image = f"{images[0].rstrip('/') if images else NOWHERE}/allotment-doctor@sha256:{'0' * 64}"
        try:
            answer = client.create(_job(namespace_of(team), team.name, image), manager=MANAGER, dry_run=True)
        except ApiError as error:
            down = WEBHOOK.search(error.message)
            return None if down is None else Webhook(down[1], answers=False)
        if is_true(answer, "spec", "suspend"):
            return Webhook()
    return None


def _job(namespace: str, queue: str, image: str) -> Object:
    container = {"name": "main", "image": image}
    return {
        "apiVersion": kinds.JOB.api_version,
        "kind": kinds.JOB.name,
        "metadata": {"name": "allotment-doctor", "namespace": namespace, "labels": {QUEUE: queue}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


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
