"""The kinds of objects that are written to a cluster and read from one: their paths in its API.

An API knows a resource by its plural and its group; an object says its kind and version. Facts: Kubernetes
1.34 to 1.37, Kueue 0.17 and later (``v1beta2``), KAI 0.10 and later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """A kind of object: as objects say it (``batch/v1``, ``Job``), and as paths do (``jobs``)."""

    api_version: str
    name: str
    plural: str
    is_namespaced: bool = True

    @property
    def group(self) -> str:
        """The API group; the core's is empty."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @property
    def shown(self) -> str:
        """As `kubectl` takes it: ``jobs.batch``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
        """The path of one object, or of all of a namespace or (without one) of the cluster."""
        root = "/apis/" if "/" in self.api_version else "/api/"
        within = f"/namespaces/{namespace}" if self.is_namespaced and namespace is not None else ""
        parts = [self.plural, *(part for part in (name, subresource) if part)]
        return f"{root}{self.api_version}{within}/{'/'.join(parts)}"


def _cluster(api_version: str, name: str, plural: str) -> Kind:
    return Kind(api_version, name, plural, is_namespaced=False)


CONFIG_MAP: Final = Kind("v1", "ConfigMap", "configmaps")
EVENT: Final = Kind("v1", "Event", "events")
NAMESPACE: Final = _cluster("v1", "Namespace", "namespaces")
NODE: Final = _cluster("v1", "Node", "nodes")
POD: Final = Kind("v1", "Pod", "pods")
SECRET: Final = Kind("v1", "Secret", "secrets")
SERVICE: Final = Kind("v1", "Service", "services")
SERVICE_ACCOUNT: Final = Kind("v1", "ServiceAccount", "serviceaccounts")
DEPLOYMENT: Final = Kind("apps/v1", "Deployment", "deployments")
JOB: Final = Kind("batch/v1", "Job", "jobs")
LEASE: Final = Kind("coordination.k8s.io/v1", "Lease", "leases")
CLAIM: Final = Kind("resource.k8s.io/v1", "ResourceClaim", "resourceclaims")
CLAIM_TEMPLATE: Final = Kind("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates")
DEVICE_CLASS: Final = _cluster("resource.k8s.io/v1", "DeviceClass", "deviceclasses")
SLICE: Final = _cluster("resource.k8s.io/v1", "ResourceSlice", "resourceslices")
TAINT_RULE: Final = _cluster("resource.k8s.io/v1alpha3", "DeviceTaintRule", "devicetaintrules")
RESOURCE_QUOTA: Final = Kind("v1", "ResourceQuota", "resourcequotas")
LIMIT_RANGE: Final = Kind("v1", "LimitRange", "limitranges")
PRIORITY_CLASS: Final = _cluster("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses")

_KUEUE: Final = "kueue.x-k8s.io/v1beta2"
CLUSTER_QUEUE: Final = _cluster(_KUEUE, "ClusterQueue", "clusterqueues")
COHORT: Final = _cluster(_KUEUE, "Cohort", "cohorts")
FLAVOR: Final = _cluster(_KUEUE, "ResourceFlavor", "resourceflavors")
LOCAL_QUEUE: Final = Kind(_KUEUE, "LocalQueue", "localqueues")
WORKLOAD: Final = Kind(_KUEUE, "Workload", "workloads")
KUEUE_TOPOLOGY: Final = _cluster(_KUEUE, "Topology", "topologies")
WORKLOAD_PRIORITY: Final = _cluster(_KUEUE, "WorkloadPriorityClass", "workloadpriorityclasses")

KAI_QUEUE: Final = _cluster("scheduling.run.ai/v2", "Queue", "queues")
KAI_POD_GROUP: Final = Kind("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups")
KAI_TOPOLOGY: Final = _cluster("kai.scheduler/v1alpha1", "Topology", "topologies")
KAI_SHARD: Final = _cluster("kai.scheduler/v1", "SchedulingShard", "schedulingshards")

GANG_WORKLOADS: Final = tuple(
    Kind(f"scheduling.k8s.io/{version}", "Workload", "workloads")
    for version in ("v1alpha1", "v1alpha2", "v1alpha3", "v1beta1")
)
GANG_POD_GROUPS: Final = tuple(
    Kind(f"scheduling.k8s.io/{version}", "PodGroup", "podgroups")
    for version in ("v1alpha2", "v1alpha3", "v1beta1")
)
ADMISSION_POLICY: Final = _cluster(
    "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies"
)
ADMISSION_BINDING: Final = _cluster(
    "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"
)
_RBAC: Final = "rbac.authorization.k8s.io/v1"
ROLE: Final = Kind(_RBAC, "Role", "roles")
ROLE_BINDING: Final = Kind(_RBAC, "RoleBinding", "rolebindings")
CLUSTER_ROLE: Final = _cluster(_RBAC, "ClusterRole", "clusterroles")
CLUSTER_ROLE_BINDING: Final = _cluster(_RBAC, "ClusterRoleBinding", "clusterrolebindings")

KINDS: Final = (
    CONFIG_MAP, EVENT, NAMESPACE, NODE, POD, SECRET, SERVICE, SERVICE_ACCOUNT, DEPLOYMENT, JOB, LEASE, CLAIM,
    CLAIM_TEMPLATE, DEVICE_CLASS, SLICE, TAINT_RULE, PRIORITY_CLASS, CLUSTER_QUEUE, COHORT, FLAVOR,
    LOCAL_QUEUE, WORKLOAD, KUEUE_TOPOLOGY, WORKLOAD_PRIORITY, KAI_QUEUE, KAI_POD_GROUP, KAI_TOPOLOGY,
    KAI_SHARD, RESOURCE_QUOTA, LIMIT_RANGE, *GANG_WORKLOADS, *GANG_POD_GROUPS, ADMISSION_POLICY,
    ADMISSION_BINDING, ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING,
)  # fmt: skip
_BY_SAID: Final = {(kind.api_version, kind.name): kind for kind in KINDS}


def kind_of(value: Object) -> Kind:
    """The kind that an object says it is; KeyError for one that this tool neither writes nor reads."""
    return _BY_SAID[value["apiVersion"], value["kind"]]
