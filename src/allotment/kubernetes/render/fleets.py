"""A fleet as objects: a Deployment whose pods each have a claim of their own.

Nothing on a cluster moves a fleet between its least and its most, so ``min`` copies run. A new copy starts
when an old one is gone (no surge), for there may be no further card.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allotment.kubernetes.render.campaigns import template_metadata
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.names import cut, labels_of
from allotment.kubernetes.render.need_objects import claim_labels, pod_need
from allotment.kubernetes.render.pipelines import no_image
from allotment.kubernetes.render.placing import Work, placing_for
from allotment.kubernetes.render.pods import Program, plain_variables, pod_spec, secret_variables
from allotment.kubernetes.render.rendered import Note, Rendered
from allotment.repository.model import Fleet


def fleet_objects(context: Context, fleet: Fleet) -> Rendered:
    """All objects of a fleet."""
    about = f"fleets/{fleet.name}"
    name = cut(fleet.name, 52)
    need = pod_need(context, name, about, fleet.gpu, claim_labels(fleet=fleet.name))
    copies = fleet.replicas.min
    work = Work(
        about,
        1,
        copies,
        fleet.priority,
        fleet.preemptible,
        fleet.topology,
        together=labels_of(fleet=fleet.name),
    )
    placing = placing_for(context, work)
    notes = [*need.notes, *placing.notes]
    if fleet.image is None:
        notes.append(no_image(about))
    if fleet.replicas.max > copies:
        words = f"it stays at {copies} replicas: nothing on the cluster moves it up to {fleet.replicas.max}"
        notes.append(Note(about, words, "raise `replicas.min`, or let an autoscaler of your own move it"))
    labels = labels_of(team=context.team.name, fleet=fleet.name)
    env: list[Mapping[str, Any]] = [
        {"name": "ALLOT_TEAM", "value": context.team.name},
        {"name": "ALLOT_FLEET", "value": fleet.name},
        {"name": "ALLOT_SIZE", "value": str(fleet.replicas.max)},
        {"name": "ALLOT_WORKDIR", "value": "/workdir"},
        *plain_variables(fleet.env),
        *secret_variables(fleet.env),
    ]
    program = Program(fleet.image, fleet.command, env)
    spec = pod_spec(context, program, need, fleet.resources, restart="Always")
    affinity = {**placing.spec.get("affinity", {}), **need.spec.get("affinity", {})}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": context.namespace,
        "labels": {**labels, **placing.labels},
    }
    if placing.annotations:
        metadata["annotations"] = dict(placing.annotations)
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": copies,
            "revisionHistoryLimit": 3,
            "selector": {"matchLabels": {"allotment/fleet": fleet.name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            "template": {
                "metadata": template_metadata(labels, need, placing),
                "spec": {**placing.spec, **spec, **({"affinity": affinity} if affinity else {})},
            },
        },
    }
    return Rendered((*need.objects, deployment), tuple(notes))
