"""New objects that a server takes only as another one stands: a PodGroup's Workload, a namespace.

From the admission plugins PodGroupWorkloadExists and NamespaceLifecycle of Kubernetes 1.36. The Workload has
to be kept: a dry-run of it leaves nothing to be found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import RequestError
from allotment.kubernetes.testing.resources import Resource
from allotment.kubernetes.testing.store import Key, Store

_GROUP: Final = "scheduling.k8s.io"


def check_looked_up(resource: Resource, namespace: str, value: Mapping[str, Any], store: Store) -> None:
    """Raise what a server answers where the object names another that is not there."""
    if (resource.group, resource.kind) != (_GROUP, "PodGroup"):
        return
    named = ((value.get("spec") or {}).get("podGroupTemplateRef") or {}).get("workload")
    if not named:
        return
    called, template = named.get("workloadName", ""), named.get("podGroupTemplateName", "")
    workload = store.get(Key((_GROUP, "workloads"), namespace, called))
    if workload is None:
        raise _rejected(resource, value, f'Workload "{called}" not found')
    templates = (workload.get("spec") or {}).get("podGroupTemplates") or ()
    if template not in {each.get("name") for each in templates}:
        raise _rejected(resource, value, f'PodGroupTemplate "{template}" not found in Workload "{called}"')


def check_namespace(resource: Resource, namespace: str, name: str, store: Store) -> None:
    """Raise what is answered to whoever creates anything in a namespace that is not there, or is going."""
    there = store.get(Key(("", "namespaces"), "", namespace))
    if there is None:
        about = {"name": namespace, "kind": "namespaces"}
        raise RequestError(404, "NotFound", f'namespaces "{namespace}" not found', about)
    if "deletionTimestamp" not in there["metadata"]:
        return
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    group = {"group": resource.group} if resource.group else {}
    told = {"name": name, **group, "kind": resource.plural, "causes": [cause]}
    raise RequestError(403, "Forbidden", f'{resource.shown} "{name}" is forbidden: {why}', told)


def _rejected(resource: Resource, value: Mapping[str, Any], why: str) -> RequestError:
    name = value["metadata"].get("name", "")
    text = f'{resource.plural}.{resource.group} "{name}" is forbidden: PodGroup rejected: {why}'
    about = {"name": name, "group": resource.group, "kind": resource.plural}
    return RequestError(403, "Forbidden", text, about)
