"""The table of resources: group, version, names, schema, and how each differs from the common run.

``empty`` is what an object of the kind looks like before anybody has written to it: fields that Go always
writes are nobody's, though they are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

_CORE: Final = "io.k8s.api"
_POD: Final[Mapping[str, Any]] = {"containers": None}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True)
class Resource:
    """One resource of an API."""

    group: str
    version: str
    plural: str
    kind: str
    definition: str = ""
    is_namespaced: bool = True
    has_status: bool = False
    has_generation: bool = False
    answers_deleted: bool = False
    needs_version: bool = False
    is_put_new: bool = False
    empty: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)
    schema: Mapping[str, Any] | None = field(default=None, hash=False, compare=False)

    @property
    def api_version(self) -> str:
        """As objects have it: ``batch/v1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def shown(self) -> str:
        """As messages name the resource: ``jobs.batch``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def kind_shown(self) -> str:
        """As messages name the kind: ``Job.batch``."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others, whatever the version."""
        return self.group, self.plural


def _resource(
    group: str, version: str, plural: str, kind: str, *, package: str = "", empty: Any = _NOTHING, **rest: Any
) -> Resource:
    name = package or group.partition(".")[0] or "core"
    definition = f"{_CORE}.{name}.{version}.{kind}"
    return Resource(group, version, plural, kind, definition, empty=empty, **rest)


_CLAIM: Final[Mapping[str, Any]] = {"devices": {"requests": None}}
BUILT_IN: Final = (
    _resource("", "v1", "configmaps", "ConfigMap"),
    _resource("", "v1", "secrets", "Secret"),
    _resource("", "v1", "events", "Event", empty={"involvedObject": {}, "source": {}}),
    _resource("", "v1", "serviceaccounts", "ServiceAccount", answers_deleted=True),
    _resource(
        "", "v1", "namespaces", "Namespace", is_namespaced=False, has_status=True, answers_deleted=True,
        empty={"spec": {}, "status": {}},
    ),
    _resource(
        "", "v1", "nodes", "Node", is_namespaced=False, has_status=True,
        empty={"spec": {}, "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": {}}},
    ),
    _resource(
        "", "v1", "pods", "Pod", has_status=True, has_generation=True, answers_deleted=True,
        empty={"spec": _POD, "status": {}},
    ),
    _resource(
        "", "v1", "podtemplates", "PodTemplate", has_generation=True, answers_deleted=True,
        empty={"template": {"metadata": {}, "spec": _POD}},
    ),
    _resource(
        "", "v1", "services", "Service", has_status=True, answers_deleted=True,
        empty={"spec": {}, "status": {"loadBalancer": {}}},
    ),
    _resource(
        "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", has_status=True, answers_deleted=True,
        empty={"spec": {"resources": {}}, "status": {}},
    ),
    _resource(
        "", "v1", "resourcequotas", "ResourceQuota", has_status=True, answers_deleted=True,
        empty={"spec": {}, "status": {}},
    ),
    _resource("", "v1", "limitranges", "LimitRange", answers_deleted=True, empty={"spec": {"limits": None}}),
    _resource(
        "batch", "v1", "jobs", "Job", has_status=True, has_generation=True,
        empty={"spec": {"template": {"metadata": {}, "spec": _POD}}, "status": {}},
    ),
    _resource(
        "apps", "v1", "deployments", "Deployment", has_status=True, has_generation=True,
        empty={"spec": {"template": {"metadata": {}, "spec": _POD}, "strategy": {}}, "status": {}},
    ),
    _resource(
        "scheduling.k8s.io", "v1alpha2", "workloads", "Workload", package="scheduling", answers_deleted=True,
        empty={"spec": {"podGroupTemplates": None}},
    ),
    _resource(
        "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", package="scheduling", answers_deleted=True,
        has_status=True, empty={"spec": {"schedulingPolicy": {}}, "status": {}},
    ),
    _resource(
        "coordination.k8s.io", "v1", "leases", "Lease", needs_version=True, is_put_new=True,
        empty={"spec": {}},
    ),
    _resource(
        "resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", has_status=True, answers_deleted=True,
        empty={"spec": _CLAIM, "status": {}},
    ),
    _resource(
        "resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", answers_deleted=True,
        empty={"spec": {"metadata": {}, "spec": _CLAIM}},
    ),
    _resource(
        "resource.k8s.io", "v1", "deviceclasses", "DeviceClass", is_namespaced=False, answers_deleted=True,
        has_generation=True, empty={"spec": {}},
    ),
    _resource(
        "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", is_namespaced=False, answers_deleted=True,
        has_generation=True, empty={"spec": {}},
    ),
    _resource(
        "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", is_namespaced=False,
        has_generation=True, package="scheduling", empty={"value": 0},
    ),
    _resource("rbac.authorization.k8s.io", "v1", "roles", "Role", package="rbac", empty={"rules": None}),
    _resource(
        "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", package="rbac",
        empty={"roleRef": {}},
    ),
    _resource(
        "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", package="rbac", is_namespaced=False,
        empty={"rules": None},
    ),
    _resource(
        "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", package="rbac",
        is_namespaced=False, empty={"roleRef": {}},
    ),
    _resource(
        "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy",
        is_namespaced=False, has_status=True, has_generation=True, empty={"spec": {}, "status": {}},
        needs_version=True,
    ),
    _resource(
        "admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding", is_namespaced=False, has_generation=True, empty={"spec": {}},
    ),
    _resource(
        "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", has_generation=True, empty={"spec": {}}
    ),
    Resource(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        is_namespaced=False, has_status=True, has_generation=True, answers_deleted=True, needs_version=True,
    ),
)  # fmt: skip


def of_definition(crd: Mapping[str, Any]) -> tuple[Resource, ...]:
    """The resources that a CustomResourceDefinition makes, one a served version."""
    spec = crd["spec"]
    names = spec["names"]
    return tuple(
        Resource(
            spec["group"],
            version["name"],
            names["plural"],
            names["kind"],
            is_namespaced=spec.get("scope") == "Namespaced",
            has_status="status" in (version.get("subresources") or {}),
            has_generation=True,
            needs_version=True,
            schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
        )
        for version in spec.get("versions") or ()
        if version.get("served")
    )
