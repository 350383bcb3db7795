"""What objects say to those who place their pods: labels, annotations, priority, width.

One function a scheduler, in a table. Facts: Kueue 0.19 (label ``queue-name``, annotation ``elastic-job``,
which is immutable and stands for the slices that a window grows by; a topology that is asked for is refused
with it); KAI 0.17 (its queue is a label and never an annotation, ``batch-min-member`` on the Job is the gang
that starts together); the default scheduler knows a priority alone, and takes no devices for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.names import ROOT, lane_class
from allotment.kubernetes.render.rendered import Note
from allotment.needs.ways.fraction import SCHEDULER
from allotment.repository.model import Topology

QUEUE_NAME: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS: Final = "kueue.x-k8s.io/priority-class"
ELASTIC: Final = "kueue.x-k8s.io/elastic-job"
MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"
IN_STEP: Final = "kueue.x-k8s.io/job-completions-equal-parallelism"
KAI_QUEUE: Final = "kai.scheduler/queue"
KAI_PREEMPTIBLE: Final = "kai.scheduler/preemptibility"
KAI_TOPOLOGY: Final = "kai.scheduler/topology"
MIN_MEMBER: Final = "kai.scheduler/batch-min-member"


@dataclass(frozen=True, slots=True)
class Work:
    """What has pods, as a scheduler sees it: at least ``least`` and at most ``most`` of them at once.

    ``elastic`` work has a window that moves, a ``gang`` starts together; ``together`` are the labels of its
    pods.
    """

    about: str
    least: int
    most: int
    lane: str
    preemptible: bool
    topology: Topology | None = None
    elastic: bool = False
    gang: bool = False
    together: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placing:
    """What the Job (or Deployment) and its pods say, how wide a new one is, and what was given up."""

    width: int
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    suspend: bool = False
    notes: tuple[Note, ...] = ()


def placing_for(context: Context, work: Work) -> Placing:
    """What the platform's scheduler is told."""
    return PLACERS[context.scheduler](context, work)


def _by_default(context: Context, work: Work) -> Placing:
    notes: list[Note] = []
    spec: dict[str, Any] = {"priorityClassName": lane_class(work.lane)}
    version = context.platform.versions.kubernetes
    if not work.gang and work.elastic and work.least > 1:
        text = f"a window of at least {work.least} is a wish: the default scheduler places each pod by itself"
        notes.append(Note(work.about, text, "KAI and Kueue start that many together"))
    if work.gang and not context.gang_objects:
        notes.append(
            Note(
                work.about,
                "its workers do not start together: the default scheduler places each by itself, and some "
                "may wait while others hold their devices",
                f"Kubernetes {version} has gangs behind the gate GenericWorkload, off by default: "
                "`--gang-objects` renders them",
            )
        )
    if work.topology is not None:
        spec["affinity"], said = _affinity(context, work)
        notes += said
    return Placing(work.most, spec=spec, notes=tuple(notes))


def _by_kueue(context: Context, work: Work) -> Placing:
    notes = list(_kueue_notes(context, work))
    return Placing(
        work.least if work.elastic else work.most,
        labels={QUEUE_NAME: context.queue, PRIORITY_CLASS: lane_class(work.lane)},
        annotations=_kueue_annotations(work),
        suspend=True,
        notes=tuple(notes),
    )


def _kueue_annotations(work: Work) -> dict[str, str]:
    if work.elastic:
        return {ELASTIC: "true"}
    if not (work.gang and work.least < work.most):
        return {}
    return {MIN_PARALLELISM: str(work.least), IN_STEP: "true"}


def _kueue_notes(context: Context, work: Work) -> list[Note]:
    version = context.platform.versions.kueue
    notes = []
    if work.topology is not None and not context.with_kai:
        notes.append(
            Note(
                work.about,
                f"`topology: {{{work.topology.rule}: {work.topology.level}}}` is given up: Kueue {version} "
                "places by what pods request, sees no claimed devices, and refuses a layout for windows "
                "that grow",
                "ElasticJobsViaWorkloadSlicesWithTAS (alpha) and KueueDRADeviceFeasibility (alpha in 0.20) "
                "would; KAI keeps it today",
            )
        )
    if not work.preemptible:
        notes.append(
            Note(
                work.about,
                f"`preemptible: false` is given up: Kueue {version} has no workload that may not be evicted",
                "no version could; a priority above all others keeps it from preemption in its own queue, "
                "and a quota that covers it from reclaim",
            )
        )
    return notes


def _by_kai(context: Context, work: Work) -> Placing:
    annotations = {}
    notes = []
    if work.least > 1:
        annotations[MIN_MEMBER] = str(work.least)
    if work.least > 1 and work.elastic:
        words = (
            f"KAI starts {work.least} of its pods together or none: once fewer volumes are left, one that "
            "is evicted waits until somebody lowers the number"
        )
        remedy = f"`kubectl annotate --overwrite job NAME {MIN_MEMBER}=1`, or a window of at least 1"
        notes.append(Note(work.about, words, remedy))
    return Placing(
        work.most,
        labels=_kai_labels(context, work),
        annotations={**annotations, **_kai_topology(context, work)},
        pod_labels=_kai_labels(context, work),
        spec={"schedulerName": SCHEDULER, "priorityClassName": lane_class(work.lane)},
        notes=tuple(notes),
    )


def _by_both(context: Context, work: Work) -> Placing:
    """Kueue admits and evicts; KAI places, and takes nothing from anybody: two would undo each other.

    What Kueue lets in together KAI has to start together too: pod by pod, a gang that has no room for all of
    its workers would hold devices for ever.
    """
    kueue = _by_kueue(context, work)
    together = {MIN_MEMBER: str(work.least)} if work.gang and work.least > 1 else {}
    kai = {KAI_QUEUE: context.queue, KAI_PREEMPTIBLE: "non-preemptible"}
    return Placing(
        kueue.width,
        labels={**kueue.labels, **kai},
        annotations={**kueue.annotations, **together, **_kai_topology(context, work)},
        pod_labels=kai,
        spec={"schedulerName": SCHEDULER, "priorityClassName": lane_class(work.lane)},
        suspend=True,
        notes=kueue.notes,
    )


def _kai_labels(context: Context, work: Work) -> dict[str, str]:
    preemptible = "preemptible" if work.preemptible else "non-preemptible"
    return {KAI_QUEUE: context.queue, KAI_PREEMPTIBLE: preemptible}


def _kai_topology(context: Context, work: Work) -> dict[str, str]:
    if work.topology is None:
        return {}
    rule = "required" if work.topology.rule == "require" else "preferred"
    label = label_of(context, work.topology.level)
    return {KAI_TOPOLOGY: ROOT, f"kai.scheduler/topology-{rule}-placement": label}


def label_of(context: Context, level: str) -> str:
    """The node label of a level of the platform's layout."""
    return next((each.label for each in context.platform.topology if each.name == level), level)


def _affinity(context: Context, work: Work) -> tuple[dict[str, Any], list[Note]]:
    """Pods together by affinity to each other, which is the most that the default scheduler does."""
    topology = work.topology
    level = "" if topology is None else topology.level
    term = {
        "labelSelector": {"matchLabels": dict(work.together)},
        "topologyKey": label_of(context, level),
    }
    if topology is not None and topology.rule == "require":
        affinity: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        note = Note(
            work.about,
            f"`topology: {{require: {level}}}`: the first pod chooses the {level}, and the others wait for "
            "it even where another has room for all",
            "KAI chooses for all of them at once; Kubernetes' own TopologyAwareWorkloadScheduling is alpha",
        )
        return {"podAffinity": affinity}, [note]
    weighed = {"weight": 100, "podAffinityTerm": term}
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [weighed]}}, []


def lane_preemptible(context: Context, lane: str) -> bool:
    """Whether devices may be taken from work of a lane."""
    return context.platform.lanes[lane].preemptible


PLACERS: Final[Mapping[str, Callable[[Context, Work], Placing]]] = {
    "default": _by_default,
    "kueue": _by_kueue,
    "kai": _by_kai,
    "both": _by_both,
}
