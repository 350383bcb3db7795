"""What a cycle decides about a workload, with its reason and message in Kueue's words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.scheduling.state.workloads import Admission


class Reason(StrEnum):
    """Why a workload has no quota: the reasons of the condition QuotaReserved."""

    NONE = ""
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    EXCEEDS_MAX = "ExceedsMaxQuota"
    WAITING = "WaitingForQuota"
    PLACEMENT = "TopologyPlacementFailed"
    PREEMPTED = "WaitingForPreemptedWorkloads"
    MISCONFIGURED = "Misconfigured"
    SUSPENDED = "Suspended"
    PENDING = "PendingEvaluation"
    PODS_READY = "WaitingForPodsReady"
    GATED = "AdmissionGated"


SEVERITY: Final = {
    Reason.PLACEMENT: 1,
    Reason.WAITING: 2,
    Reason.EXCEEDS_MAX: 3,
    Reason.NO_MATCHING_FLAVOR: 4,
}


def severity(reason: Reason) -> int:
    """How little can be done about it; nothing for what is not about fitting."""
    return SEVERITY.get(reason, 0)


def more_severe(left: Reason, right: Reason) -> Reason:
    """The worse of two reasons."""
    return left if severity(left) >= severity(right) else right


class Requeue(StrEnum):
    """Why a workload goes back in line: it decides whether it may try again at once."""

    GENERIC = ""
    AFTER_NOMINATION = "FailedAfterNomination"
    NAMESPACE = "NamespaceMismatch"
    GATED = "PreemptionGated"
    PREEMPTION = "PendingPreemption"
    MIGRATION = "PendingMigration"
    PREEMPTION_FAILED = "PreemptionFailed"
    NO_FIT = "NoFit"
    NO_CANDIDATES = "PreemptionNoCandidates"


class Why(StrEnum):
    """Why a workload is preempted: the reasons of the condition Preempted."""

    OWN_QUEUE = "InClusterQueue"
    RECLAIM = "InCohortReclamation"
    FAIR = "InCohortFairSharing"
    WHILE_BORROWING = "InCohortReclaimWhileBorrowing"


WHY_WORDS: Final = {
    Why.OWN_QUEUE: "prioritization in the ClusterQueue",
    Why.RECLAIM: "reclamation within the cohort",
    Why.FAIR: "Fair Sharing within the cohort",
    Why.WHILE_BORROWING: "reclamation within the cohort while borrowing",
}


@dataclass(frozen=True, slots=True)
class Admitted:
    """Quota is reserved; ``complete`` says that no admission check is still to be waited for."""

    workload: str
    admission: Admission
    complete: bool = True
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Evicted:
    """A workload has to go: for ``by``, or because a node under it failed."""

    workload: str
    reason: str
    message: str
    cause: Why | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Waits:
    """A workload was looked at and gets nothing now."""

    workload: str
    reason: Reason
    message: str
    requeue: Requeue


@dataclass(frozen=True, slots=True)
class Kept:
    """A workload that has quota was looked at for a second time and stays as it is for now."""

    workload: str
    message: str


Decision = Admitted | Evicted | Waits | Kept
