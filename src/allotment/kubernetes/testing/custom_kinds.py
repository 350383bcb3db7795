"""The kinds of Kueue and of KAI, without their schemas: any field is taken, and a list has one owner.

Names and versions are those of Kueue 0.17 and later and of KAI-Scheduler 0.10 and later. A test that needs
their schemas creates their CustomResourceDefinitions instead.
"""

from __future__ import annotations

from typing import Final

from allotment.kubernetes.testing.resources import Resource

_ANY: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _kind(group: str, version: str, plural: str, kind: str, *, is_namespaced: bool = False) -> Resource:
    return Resource(
        group,
        version,
        plural,
        kind,
        is_namespaced=is_namespaced,
        has_status=True,
        has_generation=True,
        needs_version=True,
        answers_deleted=False,
        schema=_ANY,
    )


_KUEUE: Final = "kueue.x-k8s.io"
KUEUE: Final = (
    _kind(_KUEUE, "v1beta2", "resourceflavors", "ResourceFlavor"),
    _kind(_KUEUE, "v1beta2", "clusterqueues", "ClusterQueue"),
    _kind(_KUEUE, "v1beta2", "cohorts", "Cohort"),
    _kind(_KUEUE, "v1beta2", "localqueues", "LocalQueue", is_namespaced=True),
    _kind(_KUEUE, "v1beta2", "workloads", "Workload", is_namespaced=True),
    _kind(_KUEUE, "v1beta2", "topologies", "Topology"),
    _kind(_KUEUE, "v1beta2", "admissionchecks", "AdmissionCheck"),
    _kind(_KUEUE, "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass"),
)
KAI: Final = (
    _kind("scheduling.run.ai", "v2", "queues", "Queue"),
    _kind("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", is_namespaced=True),
    _kind("scheduling.run.ai", "v1alpha2", "bindrequests", "BindRequest", is_namespaced=True),
    _kind("kai.scheduler", "v1alpha1", "topologies", "Topology"),
)
