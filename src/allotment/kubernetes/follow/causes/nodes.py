"""Nodes that are gone, and devices and pods that were taken off them.

Facts: a pod that is disrupted has the condition ``DisruptionTarget`` with a reason; on a node that nobody
hears of, a pod stays as it was until it is taken off after some minutes (``DeletionByTaintManager``), and
the Job starts no other for its index before it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR, is_are, listed
from allotment.kubernetes.follow.model import Cause, Evidence, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import DISRUPTED, Phase, index_of, node_is_lost, node_of, phase_of
from allotment.kubernetes.kinds import NODE, Object
from allotment.pictures.counts import counted

_DISRUPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "DeletionByTaintManager": (
        "the node was not to be reached any more",
        "nothing: they start again elsewhere",
    ),
    "DeletionByDeviceTaintManager": (
        "the device was marked as not to be used (a taint)",
        f"nothing: they start again on other devices; ask {ADMINISTRATOR} about the device",
    ),
    "EvictionByEvictionAPI": ("the node is being emptied", "nothing: they start again elsewhere"),
    "PreemptionByScheduler": ("a pod of higher priority took the place", "nothing: they wait for room"),
    "PreemptionByKueue": ("Kueue took the place for others", "nothing: they wait for room"),
    "TerminationByKubelet": (
        "the node ran short of memory or disk, or was shut down",
        "nothing if it is seldom; else ask for more `memory` or `workdir` in `resources:`",
    ),
    "DeletionByPodGC": ("the node no longer exists", "nothing: they start again elsewhere"),
}


def lost(part: Part) -> Iterator[Cause]:
    """Pods on nodes of which nobody hears."""
    pods = part.in_phase(Phase.LOST)
    if not pods:
        return
    nodes = tuple(dict.fromkeys(node_of(pod) for pod in pods))
    volumes = listed([part.pod_called(pod) for pod in pods])
    one = len(nodes) == 1
    words = f"the node {nodes[0]} does not answer" if one else f"the nodes {listed(nodes)} do not answer"
    words += f", and {volumes} {is_are(len(pods))} held up there"
    remedy = (
        f"nothing if {'it comes' if one else 'they come'} back; the pods are moved after some "
        "minutes, once the node "
        f"counts as gone. If it stays away, ask {ADMINISTRATOR} to remove the node"
    )
    shown: list[Evidence] = []
    for name in nodes[:3]:
        found, node = node_is_lost(name, part.seen), part.seen.named(NODE, name)
        if found is not None and node is not None:
            shown.append(evidence(node, "status.conditions[Ready]", found.words))
    shown += [evidence(pods[0], "status.phase", fields.text(pods[0], "status", "phase") or "not told")]
    yield Cause("lost-node", State.WAITING, words, remedy, tuple(shown))


def disrupted(part: Part) -> Iterator[Cause]:
    """Pods that were taken off, and why."""
    by_reason: dict[str, list[Object]] = {}
    for pod in (*part.in_phase(Phase.STOPPING, Phase.FAILED),):
        found = fields.condition(pod, DISRUPTED)
        if found is not None and found.holds and not _is_replaced(part, pod):
            by_reason.setdefault(found.reason, []).append(pod)
    for reason, pods in by_reason.items():
        why, remedy = _DISRUPTIONS.get(
            reason, (f"the cluster took them off ({reason})", "nothing: they start again")
        )
        words = f"{counted(len(pods), 'pod')} {'was' if len(pods) == 1 else 'were'} stopped: {why}"
        shown = []
        for pod in pods[:2]:
            told = fields.condition(pod, DISRUPTED)
            shown.append(
                evidence(pod, f"status.conditions[{DISRUPTED}]", told.words if told is not None else "")
            )
        yield Cause("disrupted", State.WAITING, words, remedy, tuple(shown))


def _is_replaced(part: Part, pod: Object) -> bool:
    """Whether its index is done, or runs again."""
    index = index_of(pod)
    if index is None:
        return False
    if index in part.done:
        return True
    others = part.by_index.get(index, ())
    return any(other is not pod and phase_of(other, part.seen) is Phase.RUNNING for other in others)
