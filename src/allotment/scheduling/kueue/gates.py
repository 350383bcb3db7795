"""Which of Kueue's feature gates are on: those that change what is decided, by version.

The stages are those of ``pkg/features/kube_features.go``. A gate that is not named here is off or does not
matter to a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final


class Gate(StrEnum):
    """A gate by Kueue's name for it."""

    ADMISSION_FAIR_SHARING = "AdmissionFairSharing"
    ADMISSION_GATED = "AdmissionGatedBy"
    BALANCED = "TASBalancedPlacement"
    CONCURRENT = "ConcurrentAdmission"
    COUNTERS = "KueueDRAIntegrationPartitionableDevices"
    CAPACITY = "KueueDRAIntegrationConsumableCapacity"
    DRA = "KueueDRAIntegration"
    ELASTIC = "ElasticJobsViaWorkloadSlices"
    ELASTIC_PLACED = "ElasticJobsViaWorkloadSlicesWithTAS"
    EXTENDED = "KueueDRAIntegrationExtendedResource"
    BOOST = "PriorityBoost"
    FAIL_FAST = "TASFailedNodeReplacementFailFast"
    FLAVOR_FUNGIBILITY = "FlavorFungibility"
    HASHING = "SchedulingEquivalenceHashing"
    KEEP_PROGRESS = "FlavorFungibilityPreserveScanProgress"
    KEEP_PODS = "SkipReassignmentForPodOwnedWorkloads"
    MIXED = "TASProfileMixed"
    NON_BORROWING_FIRST = "FairSharingPrioritizeNonBorrowing"
    OBSERVABLE = "UnadmittedWorkloadsObservability"
    ORCHESTRATED = "MultiKueueOrchestratedPreemption"
    OVERLAP = "RecomputeAssignmentUponPreemptionTargetsOverlap"
    OVERLAPPING_FLAVORS = "TASHandleOverlappingFlavors"
    PARTIAL = "PartialAdmission"
    PREEMPTORS_FIRST = "PrioritizePreemptorWorkloads"
    PREFERRED_NODES = "TASRespectNodeAffinityPreferred"
    PRIORITIES = "PrioritySortingWithinCohort"
    QUOTA_CHECK = "QuotaCheckStrategy"
    RECLAIMABLE = "ReclaimablePods"
    REPLACE_PLACEMENT = "TASRecomputeAssignmentWithinSchedulingCycle"
    TOPOLOGY = "TopologyAwareScheduling"
    WITHIN_NOMINAL = "FairSharingPreemptWithinNominal"


OFF: Final = frozenset(
    {
        Gate.BALANCED,
        Gate.BOOST,
        Gate.CAPACITY,
        Gate.CONCURRENT,
        Gate.ELASTIC_PLACED,
        Gate.PREEMPTORS_FIRST,
        Gate.PREFERRED_NODES,
    }
)
SINCE_0_20: Final = frozenset({Gate.KEEP_PROGRESS, Gate.OVERLAP, Gate.ORCHESTRATED, Gate.KEEP_PODS})
VERSIONS: Final[Mapping[str, frozenset[Gate]]] = {
    "0.19": frozenset(Gate) - OFF - SINCE_0_20,
    "0.20": frozenset(Gate) - OFF,
}
LATEST: Final = "0.20"


def gates_of(version: str = LATEST, switched: Mapping[str, bool] | None = None) -> frozenset[Gate]:
    """The gates that are on in a version, with some switched by name; unknown names are passed by."""
    wanted = switched or {}
    known = {gate.value for gate in Gate}
    on = {Gate(name) for name, value in wanted.items() if value and name in known}
    off = {Gate(name) for name, value in wanted.items() if not value and name in known}
    return frozenset((VERSIONS[version] | on) - off)


def without(gates: Iterable[Gate], *off: Gate) -> frozenset[Gate]:
    """The gates less some."""
    return frozenset(gates) - frozenset(off)
