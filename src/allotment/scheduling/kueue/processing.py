"""What becomes of one nominated workload, after those before it: the heart of a cycle.

The rules are those of ``processEntry`` and ``updateAssignmentIfNeeded`` in ``pkg/scheduler``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from allotment.scheduling.kueue.assignment import Mode
from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.decisions import (
    WHY_WORDS,
    Admitted,
    Decision,
    Evicted,
    Reason,
    Requeue,
)
from allotment.scheduling.kueue.entries import Entry, Outcome, Take
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.nominating import Nominator, pinned_by
from allotment.scheduling.kueue.placing import PENDING
from allotment.scheduling.kueue.preempting import Target
from allotment.scheduling.kueue.variants import Sibling, less_favorable, may_migrate, more_favorable
from allotment.scheduling.state.queues import ANY

SKIPPED_OVERLAP = "Workload has overlapping preemption targets with another workload"
DEFERRED = f"{SKIPPED_OVERLAP}, but will fit after these preemptions complete"
NO_LONGER_FITS = "Workload no longer fits after processing another workload"
GATED = "Workload requires preemption, but it's gated"
MORE_FAVORABLE = "A more favorable variant is already admitted"


@dataclass(slots=True)
class Processor:
    """Admits, evicts or passes by, one entry after the other; ``victims`` are those of this cycle so far."""

    ground: Ground
    nominator: Nominator
    all_ready: bool = True
    victims: dict[str, Info] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)

    def process(self, entry: Entry) -> None:
        """Decide about one entry."""
        ground, settings = self.ground, self.ground.settings
        if settings.on(Gate.CONCURRENT) and more_favorable(ground, entry.info) is not None:
            entry.reason = Reason.PENDING
            entry.skip(ground, MORE_FAVORABLE)
            return
        take, fits = self._renewed(entry)
        mode = entry.assignment.mode
        if settings.on(Gate.FAIL_FAST) and mode is not Mode.FIT and stands_on_failed_node(entry.info):
            self._evict_unreplaced(entry)
        elif mode is Mode.NO_FIT:
            entry.requeue, entry.reason = Requeue.NO_FIT, entry.assignment.reason
        elif mode is Mode.PREEMPT and not entry.targets:
            self._keep_for(entry)
        elif mode is Mode.PREEMPT and self._gated(entry):
            entry.outcome, entry.message = Outcome.GATED, GATED
            entry.requeue, entry.reason, entry.progress = Requeue.GATED, Reason.GATED, None
        elif mode is Mode.DEFERRED_FIT:
            entry.message, entry.reason = DEFERRED, Reason.PREEMPTED
            entry.requeue, entry.progress = Requeue.PREEMPTION, None
            self._use(entry, take)
        elif self._overlaps(entry.targets) or not fits:
            entry.reason = Reason.WAITING
            entry.skip(ground, SKIPPED_OVERLAP if self._overlaps(entry.targets) else NO_LONGER_FITS)
        else:
            self._go(entry, take)

    def _go(self, entry: Entry, take: Take) -> None:
        """The workload gets its way: it is admitted, or others are evicted for it."""
        self.victims.update({target.info.key: target.info for target in entry.targets})
        self._use(entry, take)
        targets, replaced = self._without_replaced(entry)
        if entry.assignment.mode is Mode.PREEMPT:
            entry.reason = Reason.PREEMPTED
            self._evict(entry, targets)
            return
        if self.ground.settings.block_admission and not self._may_admit(entry):
            return
        sibling = (
            less_favorable(self.ground, entry.info) if self.ground.settings.on(Gate.CONCURRENT) else None
        )
        if sibling is not None:
            self._migrate(entry, sibling)
            return
        self._admit(entry, replaced)

    def _may_admit(self, entry: Entry) -> bool:
        """Whether all that is admitted runs, so that one more may be (``blockAdmission``)."""
        if self.all_ready or entry.info.workload.reserved:
            return True
        entry.message = "waiting for all admitted workloads to be in PodsReady condition"
        entry.reason = Reason.PODS_READY
        return False

    def _admit(self, entry: Entry, replaced: Target | None) -> None:
        info = entry.info
        entry.outcome = Outcome.ASSUMED
        self.all_ready = False
        queue = self.ground.node(info).queue
        admission = entry.assignment.admission(info.cluster_queue)
        given = {choice.flavor for pods in entry.assignment.pod_sets for choice in pods.choices.values()}
        needed = [each.name for each in queue.checks if given & set(each.flavors)] if queue else []
        ready = {check.name for check in info.workload.checks if check.state == "Ready"}
        old = replaced.info.key if replaced else None
        pending = any(each.delayed == PENDING and each.placement is None for each in admission.pod_sets)
        complete = ready.issuperset(needed) and not pending
        self.decisions.append(Admitted(info.key, admission, complete, old))

    def _use(self, entry: Entry, take: Take) -> None:
        self.ground.use(self.ground.node(entry.info), take.cells, take.placed)

    def _keep_for(self, entry: Entry) -> None:
        """Nobody may be evicted for it: what it waits for is kept from others, unless it can take it back."""
        entry.requeue, entry.reason = Requeue.NO_CANDIDATES, Reason.WAITING
        queue = self.ground.node(entry.info).queue
        prior = self.ground.settings.on(Gate.PREEMPTORS_FIRST) and entry.preemptor
        if queue is None or queue.preemption.reclaim != ANY or prior:
            self._use(entry, entry.reserves(self.ground))

    def _gated(self, entry: Entry) -> bool:
        settings = self.ground.settings
        looks = settings.on(Gate.CONCURRENT) or settings.on(Gate.ORCHESTRATED)
        return looks and entry.info.workload.preemption_gated

    def _overlaps(self, targets: Iterable[Target]) -> bool:
        return any(target.info.key in self.victims for target in targets)

    def _renewed(self, entry: Entry) -> tuple[Take, bool]:
        """What it takes and whether that fits now, looked at anew where others have changed the ground."""
        ground, settings = self.ground, self.ground.settings
        take = entry.takes(ground)
        quota, placed = self._fits(entry, take)
        overlaps = self._overlaps(entry.targets) and settings.on(Gate.OVERLAP)
        if not overlaps and not (quota and not placed and settings.on(Gate.REPLACE_PLACEMENT)):
            return take, quota and placed
        pinned = pinned_by(entry.assignment)
        if overlaps:
            with ground.without(self.victims.values()):
                entry.record(*self.nominator.assign(entry.info, None, pinned))
            if entry.assignment.mode is Mode.FIT:
                entry.assignment.set_mode(Mode.DEFERRED_FIT)
        else:
            entry.record(*self.nominator.assign(entry.info, None, pinned))
        take = entry.takes(ground)
        return take, all(self._fits(entry, take))

    def _fits(self, entry: Entry, take: Take) -> tuple[bool, bool]:
        """Whether there is quota for it, and the places, once all victims are gone."""
        ground, node = self.ground, self.ground.node(entry.info)
        leaving = {**self.victims, **{target.info.key: target.info for target in entry.targets}}
        with ground.without_use(leaving.values()):
            if any(ground.usage.available(node, cell) < need for cell, need in take.cells.items()):
                return False, False
            places = ground.places_of(node)
            return True, all(places[flavor].holds(uses) for flavor, uses in take.placed.items())

    def _without_replaced(self, entry: Entry) -> tuple[list[Target], Target | None]:
        """The victims less the slice that the workload takes the place of."""
        key = entry.info.workload.replaces
        if key is None or not self.ground.settings.on(Gate.ELASTIC):
            return entry.targets, None
        old = next((target for target in entry.targets if target.info.key == key), None)
        return [target for target in entry.targets if target is not old], old

    def _evict(self, entry: Entry, targets: list[Target]) -> None:
        workload, tree = entry.info.workload, self.ground.tree
        for target in targets:
            if target.info.workload.evicted is not None:
                continue
            why = WHY_WORDS[target.why] if target.why else "UNKNOWN"
            message = (
                f"Preempted to accommodate a workload (UID: {workload.uid or 'UNKNOWN'}, "
                f"JobUID: {workload.job_uid or 'UNKNOWN'}) due to {why}; "
                f"preemptor path: {tree.queues[entry.info.cluster_queue].path}; "
                f"preemptee path: {tree.queues[target.info.cluster_queue].path}"
            )
            self.decisions.append(Evicted(target.info.key, "Preempted", message, target.why, entry.info.key))
        entry.progress = None
        if targets:
            entry.message += f". Pending the preemption of {len(targets)} workload(s)"
            entry.requeue = Requeue.PREEMPTION

    def _evict_unreplaced(self, entry: Entry) -> None:
        """A workload on a failed node that finds no other place has to leave altogether."""
        entry.outcome = Outcome.EVICTED
        nodes = ",".join(entry.info.workload.unhealthy)
        message = f"Workload was evicted as there was no replacement for unhealthy node(s): {nodes}"
        self.decisions.append(Evicted(entry.info.key, "NodeFailures", message))

    def _migrate(self, entry: Entry, sibling: Sibling) -> None:
        """A variant with a better flavor comes in for one with a worse."""
        refusal = may_migrate(self.ground, entry.info, sibling)
        if refusal is not None:
            entry.message, entry.reason = refusal, Reason.PENDING
            return
        entry.reason = Reason.PREEMPTED
        message = (
            f"Evicted to accommodate a workload (UID: {entry.info.workload.uid}) "
            "due to migration to more favorable resource flavor"
        )
        self.decisions.append(Evicted(sibling.info.key, "FlavorMigration", message, by=entry.info.key))
        entry.progress, entry.requeue = None, Requeue.MIGRATION
        entry.message += ". Pending the migration of 1 workload(s)"


def stands_on_failed_node(info: Info) -> bool:
    """Whether some of its pods are placed on a node that failed."""
    failed = info.workload.unhealthy
    given = info.workload.admission.pod_sets if info.workload.admission else ()
    return bool(failed) and any(
        domain.values[-1] in failed
        for each in given
        if each.placement is not None
        for domain in each.placement.domains
    )
