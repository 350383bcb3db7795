"""Priority lanes as classes: of pods for the default scheduler and KAI, of workloads for Kueue.

A WorkloadPriorityClass orders and preempts in Kueue and leaves the pods' own priority alone, so that two
schedulers do not both preempt.
"""

from __future__ import annotations

from allotment.kubernetes.render.names import labels_of, lane_class
from allotment.kubernetes.render.rendered import Note, Object, Rendered
from allotment.platform.model import Platform

KUEUE: frozenset[str] = frozenset({"kueue", "both"})


def lane_objects(platform: Platform) -> Rendered:
    """A class for each lane."""
    objects: list[Object] = []
    notes: list[Note] = []
    for name, lane in platform.lanes.items():
        metadata = {"name": lane_class(name), "labels": labels_of(lane=name)}
        if platform.scheduler in KUEUE:
            objects.append(
                {
                    "apiVersion": "kueue.x-k8s.io/v1beta2",
                    "kind": "WorkloadPriorityClass",
                    "metadata": metadata,
                    "value": lane.value,
                    "description": f"Lane {name}.",
                }
            )
        if platform.scheduler in {"default", "kai", "both"}:
            own = lane.value if platform.scheduler != "both" else 0
            objects.append(
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": metadata,
                    "value": own,
                    "globalDefault": False,
                    "preemptionPolicy": "PreemptLowerPriority" if platform.scheduler == "kai" else "Never",
                    "description": f"Lane {name}.",
                }
            )
        if not lane.preemptible and platform.scheduler in KUEUE:
            words = f"Kueue {platform.versions.kueue} has no workloads that may not be evicted"
            notes.append(Note(f"lane {name}", words, "no version could; KAI holds `preemptible: false`"))
    return Rendered(tuple(objects), tuple(notes))
