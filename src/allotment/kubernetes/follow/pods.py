"""A pod as far as it has come: gated, waiting for a node, starting, running, stopping, ended, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.kinds import CLAIM, NODE, Object

INDEX: Final = "batch.kubernetes.io/job-completion-index"
UNSCHEDULED: Final = "PodScheduled"
DISRUPTED: Final = "DisruptionTarget"
ELASTIC_GATE: Final = "kueue.x-k8s.io/elastic-job"


class Phase(StrEnum):
    """How far a pod is."""

    GATED = "gated"
    PENDING = "pending"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    LOST = "lost"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a container ended, or keeps on ending."""

    code: int | None
    reason: str
    message: str


def phase_of(pod: Object, seen: Seen) -> Phase:
    """How far the pod is; one on a node that nobody hears of is lost."""
    said, node = fields.text(pod, "status", "phase"), node_of(pod)
    if said in _OVER:
        return _OVER[said]
    if node and (said == "Unknown" or node_is_lost(node, seen) is not None):
        return Phase.LOST
    if fields.is_ending(pod):
        return Phase.STOPPING
    if node:
        return Phase.RUNNING if said == "Running" else Phase.STARTING
    return Phase.GATED if gates(pod) else Phase.PENDING


_OVER: Final = {"Succeeded": Phase.SUCCEEDED, "Failed": Phase.FAILED}


def gates(pod: Object) -> tuple[str, ...]:
    """What keeps the scheduler from looking at the pod."""
    return tuple(
        filter(None, (fields.text(each, "name") for each in fields.items(pod, "spec", "schedulingGates")))
    )


def node_of(pod: Object) -> str:
    """Where the pod is, or will be."""
    return fields.text(pod, "spec", "nodeName")


def node_is_lost(name: str, seen: Seen) -> fields.Condition | None:
    """What the node's condition says where it is not ready; None where it is, or nothing is known of it."""
    node = seen.named(NODE, name)
    ready = None if node is None else fields.condition(node, "Ready")
    return ready if ready is not None and ready.status in {"False", "Unknown"} else None


def index_of(pod: Object) -> int | None:
    """The pod's index in its Job."""
    found = fields.number(pod, "metadata", "annotations", INDEX)
    return fields.number(pod, "metadata", "labels", INDEX) if found is None else found


def claims_of(pod: Object, seen: Seen) -> Iterator[Object]:
    """The claims of a pod that are there."""
    namespace = fields.namespace(pod)
    owned = seen.owned(CLAIM, fields.uid(pod))
    names = {fields.name(each) for each in owned}
    yield from owned
    for each in (
        *fields.items(pod, "status", "resourceClaimStatuses"),
        *fields.items(pod, "spec", "resourceClaims"),
    ):
        name = fields.text(each, "resourceClaimName")
        found = seen.named(CLAIM, name, namespace)
        if found is not None and name not in names:
            names.add(name)
            yield found


def devices_of(pod: Object, seen: Seen) -> tuple[str, ...]:
    """The devices that its claims have, as ``driver/pool/device``."""
    return tuple(device for claim in claims_of(pod, seen) for device in allocated(claim))


def allocated(claim: Object) -> tuple[str, ...]:
    """The devices that a claim has."""
    results = fields.items(claim, "status", "allocation", "devices", "results")
    return tuple("/".join(fields.text(each, key) for key in ("driver", "pool", "device")) for each in results)


def _statuses(pod: Object) -> tuple[Mapping[str, Any], ...]:
    return (
        *fields.items(pod, "status", "initContainerStatuses"),
        *fields.items(pod, "status", "containerStatuses"),
    )


def waiting_for(pod: Object) -> tuple[tuple[str, str], ...]:
    """Why its containers have not started: reasons and messages."""
    found = (fields.mapping(each, "state", "waiting") for each in _statuses(pod))
    return tuple((fields.text(each, "reason"), fields.text(each, "message")) for each in found if each)


def image_of(pod: Object) -> str:
    """The image of its first container."""
    return next((fields.text(each, "image") for each in fields.items(pod, "spec", "containers")), "")


def endings(pod: Object) -> tuple[Ending, ...]:
    """How its containers ended: those that have, and else the last time that they did."""
    found = []
    for status in _statuses(pod):
        ended = fields.mapping(status, "state", "terminated") or fields.mapping(
            status, "lastState", "terminated"
        )
        if ended:
            code = fields.number(ended, "exitCode")
            found.append(Ending(code, fields.text(ended, "reason"), fields.text(ended, "message")))
    return tuple(found)


def ends_of(pod: Object) -> Iterator[float]:
    """When its containers ended, of those that have."""
    for status in _statuses(pod):
        found = fields.moment(status, "state", "terminated", "finishedAt")
        if found is not None:
            yield found
