"""A gang as objects: an Indexed Job of all its workers, a Service by which they find each other, and what
makes them start together.

A worker's rank is its index. Kueue admits all of them or none by itself, KAI by an annotation, and the
default scheduler by the gang objects of its version, where they are switched on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from allotment.kubernetes.render.campaigns import DISRUPTED, template_metadata
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.gang_objects import GangObjects, gang_objects
from allotment.kubernetes.render.names import job_name, labels_of
from allotment.kubernetes.render.need_objects import claim_labels, pod_need
from allotment.kubernetes.render.pipelines import no_image
from allotment.kubernetes.render.placing import Placing, Work, lane_preemptible, placing_for
from allotment.kubernetes.render.pods import Program, plain_variables, pod_spec, secret_variables
from allotment.kubernetes.render.rendered import Note, Object, Rendered
from allotment.repository.model import Gang

INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
NO_GANG: Final = GangObjects((), {})


def gang_rendered(context: Context, gang: Gang) -> Rendered:
    """All objects of a gang."""
    about = f"gangs/{gang.name}"
    name = job_name(gang.name)
    need = pod_need(context, name, about, gang.gpu, claim_labels(gang=gang.name))
    work = Work(
        about,
        gang.min,
        gang.workers,
        gang.priority,
        gang.preemptible and lane_preemptible(context, gang.priority),
        gang.topology,
        gang=True,
        together=labels_of(gang=gang.name),
    )
    placing = placing_for(context, work)
    notes = [*need.notes, *placing.notes]
    if gang.image is None:
        notes.append(no_image(about))
    labels = labels_of(team=context.team.name, gang=gang.name)
    metadata = {"name": name, "namespace": context.namespace, "labels": labels}
    own = NO_GANG
    if context.gang_objects and context.scheduler == "default":
        found = gang_objects(context.minor, metadata, gang.min)
        if found is None:
            version = context.platform.versions.kubernetes
            notes.append(Note(about, f"Kubernetes {version} has no gang objects", "1.35 has them first"))
        own = found or own
    spec = pod_spec(context, _program(context, gang, name), need, gang.resources)
    affinity = {**placing.spec.get("affinity", {}), **need.spec.get("affinity", {})}
    template = {
        "metadata": template_metadata(labels, need, placing),
        "spec": {
            "subdomain": name,
            **placing.spec,
            **own.spec,
            **spec,
            **({"affinity": affinity} if affinity else {}),
        },
    }
    job = _job(context, gang, placing, metadata, template)
    return Rendered((*need.objects, _service(metadata), *own.objects, job), tuple(notes))


def _program(context: Context, gang: Gang, name: str) -> Program:
    env: list[Mapping[str, Any]] = [
        {"name": "ALLOT_TEAM", "value": context.team.name},
        {"name": "ALLOT_GANG", "value": gang.name},
        {"name": "ALLOT_RANK", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": INDEX}}},
        {"name": "ALLOT_SIZE", "value": str(gang.workers)},
        {"name": "ALLOT_FIRST_HOST", "value": f"{name}-0.{name}"},
        {"name": "ALLOT_WORKDIR", "value": "/workdir"},
        *plain_variables(gang.env),
        *secret_variables(gang.env),
    ]
    return Program(gang.image, gang.command, env)


def _job(
    context: Context, gang: Gang, placing: Placing, metadata: dict[str, Any], template: dict[str, Any]
) -> Object:
    own = {**metadata, "labels": {**metadata["labels"], **placing.labels}}
    if placing.annotations:
        own["annotations"] = dict(placing.annotations)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": own,
        "spec": {
            "completionMode": "Indexed",
            "completions": gang.workers,
            "parallelism": gang.workers,
            "backoffLimit": context.platform.defaults.retries,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {"rules": [DISRUPTED]},
            "ttlSecondsAfterFinished": context.platform.defaults.ttl_seconds_after_finished,
            **({"suspend": True} if placing.suspend else {}),
            "template": template,
        },
    }


def _service(metadata: dict[str, Any]) -> Object:
    """The names of the workers, also of those that are not ready yet."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": dict(metadata),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"batch.kubernetes.io/job-name": metadata["name"]},
        },
    }
