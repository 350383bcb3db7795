"""The window controller in a cluster: a namespace of its own, what it may do, and its Deployment.

It may read what decides, and patch Jobs in the namespaces of teams, which is all that it writes beside its
Lease; it sees no Secret and no ConfigMap. Its pod is restricted, has a root that is read only, and an image
named by digest. There is one at a time, and the Lease holds between an old one and a new one. It has no port
and so no probe: a look that fails is said in its log and tried again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from allotment.errors import UsageError
from allotment.kubernetes.render.context import namespace_of, release_of
from allotment.kubernetes.render.names import ROOT
from allotment.kubernetes.render.rendered import Note, Object, Rendered
from allotment.platform.model import Platform

SYSTEM: Final = f"{ROOT}-system"
NAME: Final = f"{ROOT}-window"
GROWS_SINCE: Final = (0, 19)
"""The first release of Kueue that is known to start a Job again that has grown and was evicted."""
RBAC: Final = "rbac.authorization.k8s.io"
SCRATCH: Final = "/scratch"
READ: Final = ("get", "list", "watch")
READS: Final = (
    ("", ("nodes", "pods"), READ),
    ("batch", ("jobs",), READ),
    ("kueue.x-k8s.io", ("clusterqueues", "cohorts", "localqueues", "workloads"), READ),
    (
        "resource.k8s.io",
        ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
        READ,
    ),
)
PATCHES: Final = (("batch", ("jobs",), ("patch",)),)
LEASES: Final = (("coordination.k8s.io", ("leases",), ("create", "get", "update")),)
_PINNED: Final = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")
_APP: Final = {"app.kubernetes.io/name": NAME}
LABELS: Final = {**_APP, "app.kubernetes.io/part-of": ROOT}
"""Not those of a team's objects: nothing that looks after these takes the controller for one."""


def starts_again(kueue: str) -> bool:
    """Whether a release of Kueue starts a Job again that has grown and was evicted."""
    return release_of(kueue) >= GROWS_SINCE


def controller_objects(platform: Platform, image: str) -> Rendered:
    """All that the controller needs; UsageError for an image without a digest, and for KAI alone."""
    if _PINNED.fullmatch(image) is None:
        raise UsageError(
            f"the controller's image is not named by its digest: {image}",
            remedy="NAME@sha256:…, as `crane digest NAME` or the registry's page shows it",
        )
    if platform.scheduler == "kai":
        raise UsageError(
            "KAI moves windows itself, so there is nothing for a window controller to do",
            remedy="leave it out for this scheduler",
        )
    return Rendered((*_access(platform), _deployment(platform, image)), tuple(_notes(platform)))


def _access(platform: Platform) -> Iterator[Object]:
    restricted = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("audit", "enforce", "warn")}
    yield {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": SYSTEM, "labels": {**LABELS, **restricted}},
    }
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(SYSTEM)}
    yield _role("ClusterRole", None, READS)
    yield _binding("ClusterRoleBinding", "ClusterRole", None)
    yield _role("Role", SYSTEM, LEASES)
    yield _binding("RoleBinding", "Role", SYSTEM)
    for team in platform.teams.values():
        namespace = namespace_of(team)
        yield _role("Role", namespace, PATCHES)
        yield _binding("RoleBinding", "Role", namespace)


def _deployment(platform: Platform, image: str) -> Object:
    defaults = platform.defaults
    grow = "--grow" if starts_again(platform.versions.kueue) else "--no-grow"
    container: dict[str, Any] = {
        "name": "controller",
        "image": image,
        "command": ["allot", "operate"],
        "args": [f"--lease-namespace={SYSTEM}", f"--minimum-runtime={defaults.minimum_runtime}", grow],
        "env": [
            {"name": "ALLOT_LOG", "value": "json"},
            {"name": "HOME", "value": SCRATCH},
            {"name": "TMPDIR", "value": SCRATCH},
            {"name": "PYTHONUNBUFFERED", "value": "1"},
        ],
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "scratch", "mountPath": SCRATCH}],
        "workingDir": SCRATCH,
    }
    pod = {
        "serviceAccountName": NAME,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": 30,
        "containers": [container],
        "volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "16Mi"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(SYSTEM),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": _APP},
            "template": {"metadata": {"labels": dict(LABELS)}, "spec": pod},
        },
    }


def _notes(platform: Platform) -> Iterator[Note]:
    version = platform.versions.kueue
    if platform.scheduler in {"kueue", "both"} and not starts_again(version):
        words = f"under Kueue {version} it lets nothing grow: a Job that has grown and is evicted stays so"
        yield Note("the window controller", words, "run Kueue 0.19.6 or later", "warning")


def _metadata(namespace: str | None) -> dict[str, Any]:
    place = {} if namespace is None else {"namespace": namespace}
    return {"name": NAME, **place, "labels": dict(LABELS)}


def _role(
    kind: str, namespace: str | None, rules: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
) -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": _metadata(namespace),
        "rules": [
            {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
            for group, resources, verbs in rules
        ],
    }


def _binding(kind: str, role: str, namespace: str | None) -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": _metadata(namespace),
        "roleRef": {"apiGroup": RBAC, "kind": role, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": SYSTEM}],
    }
