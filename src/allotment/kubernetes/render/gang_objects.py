"""The objects by which Kubernetes itself starts a gang together: three versions, which do not fit each other.

Facts: KEP-4671 and KEP-5832, gate GenericWorkload, off by default in all of them. 1.35: a Workload of
``scheduling.k8s.io/v1alpha1`` that the pod names; 1.36: a Workload and a PodGroup of v1alpha2, and the pod
names the PodGroup; 1.37: the same of v1beta1, with other fields. Older versions have nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.render.rendered import Object

GROUP: Final = "scheduling.k8s.io"
TEMPLATE: Final = "workers"


@dataclass(frozen=True, slots=True)
class GangObjects:
    """The objects of a gang, and what its pods say of them."""

    objects: tuple[Object, ...]
    spec: Mapping[str, Any]


Metadata = Mapping[str, Any]


def gang_objects(minor: int, metadata: Metadata, least: int) -> GangObjects | None:
    """The gang's objects for a version of Kubernetes; None for one that has none."""
    make = _BY_MINOR.get(min(minor, max(_BY_MINOR)))
    return None if make is None else make(metadata, least)


def _in_1_35(metadata: Metadata, least: int) -> GangObjects:
    groups = [{"name": TEMPLATE, "policy": {"gang": {"minCount": least}}}]
    workload = _object("v1alpha1", "Workload", metadata, _of_job(metadata, podGroups=groups))
    named = {"name": metadata["name"], "podGroup": TEMPLATE}
    return GangObjects((workload,), {"workloadRef": named})


def _in_1_36(metadata: Metadata, least: int) -> GangObjects:
    policy = {"gang": {"minCount": least}}
    templates = [{"name": TEMPLATE, "schedulingPolicy": policy}]
    workload = _object("v1alpha2", "Workload", metadata, _of_job(metadata, podGroupTemplates=templates))
    reference = {"workload": {"workloadName": metadata["name"], "podGroupTemplateName": TEMPLATE}}
    spec = {"podGroupTemplateRef": reference, "schedulingPolicy": policy, "disruptionMode": "PodGroup"}
    return GangObjects((workload, _object("v1alpha2", "PodGroup", metadata, spec)), _named(metadata))


def _in_1_37(metadata: Metadata, least: int) -> GangObjects:
    policy = {"gang": {"minCount": least}}
    templates = [{"name": TEMPLATE, "schedulingPolicy": policy}]
    workload = _object("v1beta1", "Workload", metadata, _of_job(metadata, podGroupTemplates=templates))
    reference = {"workloadName": metadata["name"], "templateName": TEMPLATE}
    spec = {"workloadRef": reference, "schedulingPolicy": policy, "disruptionMode": {"all": {}}}
    return GangObjects((workload, _object("v1beta1", "PodGroup", metadata, spec)), _named(metadata))


def _of_job(metadata: Metadata, **groups: list[dict[str, Any]]) -> Mapping[str, Any]:
    return {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": metadata["name"]}, **groups}


def _named(metadata: Metadata) -> Mapping[str, Any]:
    return {"schedulingGroup": {"podGroupName": metadata["name"]}}


def _object(version: str, kind: str, metadata: Metadata, spec: Mapping[str, Any]) -> Object:
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": dict(metadata), "spec": dict(spec)}


_BY_MINOR: Final[Mapping[int, Callable[[Metadata, int], GangObjects]]] = {
    35: _in_1_35,
    36: _in_1_36,
    37: _in_1_37,
}
