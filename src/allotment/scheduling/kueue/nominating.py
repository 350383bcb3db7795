"""What each head would get: all of it, or fewer pods, and whom that would cost.

The rules are those of ``nominate`` and ``getAssignments`` in ``pkg/scheduler``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allotment.scheduling.kueue.assigning import Assigner
from allotment.scheduling.kueue.assignment import Assignment, Mode, Progress
from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.classical import choose_classically
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.kueue.entries import Entry
from allotment.scheduling.kueue.fair import choose_fairly
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.placing import place_after
from allotment.scheduling.kueue.preempting import Preemptor, Target
from allotment.scheduling.kueue.searching import Pinned, Sought
from allotment.scheduling.kueue.shrinking import fewest_less
from allotment.scheduling.state.queues import ClusterQueue
from allotment.scheduling.state.state import State

Found = tuple[Assignment, list[Target]]


def fault_of(ground: Ground, state: State, entry: Entry) -> bool:
    """Note what keeps a head from being looked at at all; whether there is such a thing."""
    info = entry.info
    name = info.cluster_queue
    if any(check.state in {"Retry", "Rejected"} for check in info.workload.checks):
        entry.message, entry.reason = "The workload has failed admission checks", Reason.PENDING
    elif name in ground.tree.inactive:
        entry.message, entry.reason = f"ClusterQueue {name} is inactive", Reason.SUSPENDED
    elif name not in ground.tree.queues:
        entry.message, entry.reason = f"ClusterQueue {name} not found", Reason.MISCONFIGURED
    else:
        queue = ground.tree.queues[name].queue
        return queue is not None and _misconfigured(state, entry, queue)
    return True


def _misconfigured(state: State, entry: Entry, queue: ClusterQueue) -> bool:
    workload = entry.info.workload
    if not selects(state, queue, workload.namespace):
        entry.message = "workload namespace doesn't match ClusterQueue selector"
        entry.reason, entry.requeue = Reason.MISCONFIGURED, Requeue.NAMESPACE
        return True
    if workload.faults:
        entry.message, entry.reason = "; ".join(workload.faults), Reason.MISCONFIGURED
        return True
    return False


def selects(state: State, queue: ClusterQueue, namespace: str) -> bool:
    """Whether a ClusterQueue takes workloads of a namespace."""
    return queue.namespaces is not None and queue.namespaces.matches(state.namespaces.get(namespace, {}))


class Nominator:
    """Looks for what workloads would get on the ground as it is."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        fair = ground.settings.fair is not None
        self._preemptor = Preemptor(ground, choose_fairly if fair else choose_classically)

    def assign(self, info: Info, progress: Progress | None, pinned: Pinned | None = None) -> Found:
        """What a workload would get, and its victims."""
        if progress is not None and self._outdated(progress, info):
            progress = None
        assignment, targets = self._initial(Sought(info, progress, pinned, self.replaced(info)))
        if self._ground.settings.on(Gate.TOPOLOGY):
            infos = [target.info for target in targets]
            place_after(self._ground, self._ground.node(info), info, assignment, infos)
        return assignment, targets

    def _outdated(self, progress: Progress, info: Info) -> bool:
        """Whether flavors have to be tried from the start again."""
        ground = self._ground
        return is_outdated(
            progress,
            info.shape,
            cycle=ground.cycle,
            generation=ground.generations.get(info.cluster_queue, 0),
            keeps=ground.settings.on(Gate.KEEP_PROGRESS),
        )

    def replaced(self, info: Info) -> Info | None:
        """The smaller slice that an elastic workload takes the place of."""
        key = info.workload.replaces
        if key is None or not self._ground.settings.on(Gate.ELASTIC) or key in self._ground.gone:
            return None
        old = self._ground.held.get(info.cluster_queue, {}).get(key)
        return old if old is not None and old.workload.namespace == info.workload.namespace else None

    def _initial(self, sought: Sought) -> Found:
        info = sought.info
        assigner = Assigner(self._ground, sought, self._preemptor.prober(info))
        replaced = [Target(sought.replaced)] if sought.replaced else []
        found = self._try(assigner, None)
        if found[1] is not None:
            return found[0], replaced + found[1]
        if info.partly and self._ground.settings.on(Gate.PARTIAL):
            fewer = self._fewer(assigner, info)
            if fewer is not None:
                return fewer[0], replaced + fewer[1]
        return found[0], []

    def _try(
        self, assigner: Assigner, counts: Sequence[int] | None
    ) -> tuple[Assignment, list[Target] | None]:
        """An assignment, and its victims; None instead of these where it cannot be had."""
        assignment = assigner.assign(counts)
        if assignment.mode is Mode.FIT:
            return assignment, []
        if assignment.mode is Mode.PREEMPT:
            return assignment, self._preemptor.targets(assigner.sought.info, assignment) or None
        return assignment, None

    def _fewer(self, assigner: Assigner, info: Info) -> Found | None:
        """The most pods that can be had."""

        def look(counts: list[int]) -> Found | None:
            assignment, targets = self._try(assigner, counts)
            return None if targets is None else (assignment, targets)

        return fewest_less([(pods.count, pods.min_count) for pods in info.workload.pod_sets], look)


def is_outdated(progress: Progress, shape: str | None, *, cycle: int, generation: int, keeps: bool) -> bool:
    """Whether what was noted of a search says nothing any more (``lastAssignmentOutdated``).

    Where it ``keeps`` progress, that of the last cycle counts whatever was given back since.
    """
    if keeps:
        if not progress.suits(shape):
            return True
        if cycle - progress.cycle <= 1:
            return False
    return generation > progress.generation


def pinned_by(assignment: Assignment) -> Mapping[str, Mapping[str, str]]:
    """The flavors of an assignment, to hold a workload to them."""
    return {
        choice.name: {resource: each.flavor for resource, each in choice.choices.items()}
        for choice in assignment.pod_sets
    }
