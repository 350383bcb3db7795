"""Whether a pod may go to a node, and KAI's words for why not.

Room among what is idle or being released comes first, then what ``plugins/predicates`` and the filters of the
default scheduler ask: the queue's capacity on this node, the kind of GPU, the number of pods, taints, labels
and claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from allotment.devices.nodes import Node as LabelledNode
from allotment.scheduling.kai import wording
from allotment.scheduling.kai.axes import CPU, GPU, MEMORY, PODS
from allotment.scheduling.kai.capacity import refused_on_node
from allotment.scheduling.kai.sharing import needs_new_gpu
from allotment.scheduling.state.nodes import untolerated

if TYPE_CHECKING:
    from allotment.scheduling.kai.nodes import Node
    from allotment.scheduling.kai.session import Session
    from allotment.scheduling.kai.tasks import Task

_SHORT_OF: Final = {GPU: "GPUs", CPU: "CPU cores", MEMORY: "memory"}
TOO_MANY_PODS: Final = "node(s) pod number exceeded"


_BY_ORDER: Final = (GPU, CPU, MEMORY)


def too_large(session: Session, task: Task) -> str | None:
    """Whether a pod asks for more than any node has in all; nobody need be evicted to know that."""
    if not session.largest or not session.plugins.predicates:
        return None
    others = [number for number in range(len(task.vector)) if number not in _BY_ORDER]
    for number in (*_BY_ORDER, *others):
        if task.vector[number] > session.largest[number]:
            name = next(each for each, index in session.axes.index.items() if index == number)
            shard = session.settings.shard
            return wording.too_large(task, name, number, session.largest[number], shard)
    return None


def shortage(task: Task, node: Node) -> str:
    """What there is too little of."""
    for number, name in _SHORT_OF.items():
        if task.vector[number] > node.idle[number]:
            return f"node(s) didn't have enough resources: {name}"
    if task.is_mig:
        return f"node(s) didn't have enough of mig profile: {task.pod.request.mig[0][0]}"
    return "node(s) didn't have enough resources: GPUs"


def refusal(session: Session, task: Task, node: Node) -> str | None:
    """Why it may not although it has room."""
    if session.plugins.predicates:
        refused = refused_on_node(session, task, node)
        if refused is not None:
            reason, message = refused
            return f"node does not have enough capacity. Reason: {reason}, Details: {message}"
        why = _kind_fault(task, node) or _pods_fault(session, task, node) or _object_fault(task, node)
        if why:
            return why
    return session.claims.misfit(task, node.name) if task.pod.claims else None


def _kind_fault(task: Task, node: Node) -> str | None:
    """Whether node and pod are of the same kind as far as GPUs go."""
    if task.pod.legacy_mig:
        return f"Legacy MIG jobs cannot be scheduled on node {node.name}"
    if not task.asks_gpu:
        return None
    if node.from_claims and task.shared:
        return "fractional/shared GPU pods are not yet supported on DRA-only nodes"
    return (_mig_fault(task, node) if node.mig or task.is_mig else None) or _memory_fault(task, node)


def _mig_fault(task: Task, node: Node) -> str | None:
    if not node.mig:
        return "MIG job cannot be scheduled on non-MIG node"
    if task.is_mig and node.legacy:
        return f"MIG job cannot be scheduled on node with legacy MIG jobs: <{sorted(node.legacy)}>"
    if node.strategy == "single" and not task.whole:
        return "only whole gpu jobs can run on a node with MigStrategy='single'"
    if node.strategy == "mixed" and not task.is_mig:
        return "non MIG jobs cant run on a node with MigStrategy='mixed'"
    return None


def _memory_fault(task: Task, node: Node) -> str | None:
    if task.by_memory and not node.memory_known:
        return (
            "node is not a gpu node or the gpu memory count on the node was not synced yet,"
            f" task: <{task.id}>, node: <{node.name}>"
        )
    return None


def _pods_fault(session: Session, task: Task, node: Node) -> str | None:
    """A pod that begins to share a GPU brings another one that reserves it."""
    free = node.idle[PODS] + node.releasing[PODS]
    if not task.shared:
        return None if free > 0 else TOO_MANY_PODS
    if free >= 2 or not needs_new_gpu(session, task, node):
        return None
    return TOO_MANY_PODS


def _object_fault(task: Task, node: Node) -> str | None:
    if not node.spec.ready:
        return "node(s) were not ready"
    pod = task.pod
    if not node.spec.schedulable:
        return "node(s) were unschedulable"
    taint = untolerated(node.spec.taints, pod.tolerations)
    if taint is not None:
        return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    return None if selects(task, node) else "node(s) didn't match Pod's node affinity/selector"


def selects(task: Task, node: Node) -> bool:
    """Whether the pod's own choice of nodes allows this one."""
    pod = task.pod
    if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    return pod.affinity is None or pod.affinity.matches(LabelledNode(node.name, node.labels))
