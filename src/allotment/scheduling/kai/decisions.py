"""What a cycle decides about pods and groups, in its order, with reasons in KAI's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.scheduling.kai.settings import Action


class Reason(StrEnum):
    """Why a group does not get what it waits for: the reasons of a PodGroup's scheduling condition."""

    OVER_LIMIT = "OverLimit"
    OVER_QUOTA = "NonPreemptibleOverQuota"
    DELAY = "PreemptionDelayNotElapsed"
    PODS = "PodSchedulingErrors"
    NO_QUEUE = "QueueDoesNotExist"
    NO_ROOM = "Not enough resources for the workload"


@dataclass(frozen=True, slots=True)
class Bound:
    """A pod gets a place now; with the shared GPUs and the devices of its claims, if it has such."""

    pod: str
    group: str
    node: str
    action: Action
    gpu_groups: tuple[str, ...] = ()
    claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Pipelined:
    """A pod is to get a place when others have left it; ``message`` as KAI tells it."""

    pod: str
    group: str
    node: str
    action: Action
    message: str
    gpu_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evicted:
    """A pod has to leave, for the group ``by`` or because its own group is too small."""

    pod: str
    group: str
    node: str
    action: Action
    message: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Waits:
    """A group was looked at and did not get everything it waits for."""

    group: str
    reason: Reason
    message: str


Decision = Bound | Pipelined | Evicted | Waits
