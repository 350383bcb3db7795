"""What Kueue would do next, by its model: who is let in, whom that costs the place, and who waits for what.

The model decides cycle by cycle on the state of the cluster; what is decided is carried out as its
controllers do it, and workloads that are evicted have stopped by the next cycle. For one that still waits it
is tried which admitted workloads' ends would let it in: the smallest first, and of a set that does, none
that is not needed. Nothing else of the world moves meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.kubernetes.cluster.kueue_state import Scene
from allotment.planning.outlook.ends import ends_that_let_in
from allotment.planning.outlook.values import Next, Outlook, Victim
from allotment.scheduling.kueue import Admitted, Evicted, Memory, Waits, applied, decide
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.kueue.catching_up import caught_up
from allotment.scheduling.kueue.decisions import WHY_WORDS, Reason
from allotment.scheduling.kueue.standing import holds_quota
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload

MOST_CYCLES: Final = 200
MOST_ENDS: Final = 40
MOST_TRIED: Final = 400
"""Cycles in all that are spent on finding who must end."""
MENDED_BY_NO_END: Final = frozenset({Reason.MISCONFIGURED, Reason.SUSPENDED, Reason.GATED})
SECOND: Final = 1.0
CHECKS: Final = "that reserves its quota: its admission checks come after it"
NOT_SEEN: Final = (
    "Kueue has told it to wait; unless that has changed since, something that was not seen holds quota"
)


@dataclass(slots=True)
class _Run:
    """Cycles one after another."""

    state: State
    memory: Memory
    now: float
    admitted: dict[str, int] = field(default_factory=dict)
    waits: dict[str, Waits] = field(default_factory=dict)
    victims: dict[str, list[Evicted]] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)
    checked: set[str] = field(default_factory=set)
    by_shape: dict[tuple[str, str | None], Waits] = field(default_factory=dict)
    cycles: int = 0

    def go(self, until: str | None = None, most: int = MOST_CYCLES) -> _Run:
        """Until a workload is admitted, or nothing new is decided."""
        before: frozenset[str] | None = None
        while self.cycles < most and until not in self.admitted:
            told = self._cycle()
            if told is None or (told and told == before):
                return self
            before = told
        return self

    def told_by_shape(self) -> Mapping[tuple[str, str | None], Waits]:
        """What was told to those that wait, by queue and by what they ask for."""
        if not self.by_shape:
            for line in self.memory.lines.values():
                for key, each in line.aside.items():
                    if key in self.waits:
                        self.by_shape[each.info.cluster_queue, each.info.shape] = self.waits[key]
        return self.by_shape

    def _cycle(self) -> frozenset[str] | None:
        """Who was told to wait; empty where something moved, None where nobody was looked at."""
        self.cycles += 1
        decisions, self.memory = decide(self.state, self.memory, self.now)
        self.state = applied(self.state, decisions, self.now)
        moved = False
        for each in decisions:
            if isinstance(each, Admitted):
                self.admitted.setdefault(each.workload, self.cycles)
                self.checked |= set() if each.complete else {each.workload}
                moved = True
            elif isinstance(each, Evicted):
                self.victims.setdefault(each.by or "", []).append(each)
                self.stopping.add(each.workload)
                moved = True
            elif isinstance(each, Waits):
                self.waits[each.workload] = each
        stopped = {
            key: released(known)
            for key in self.stopping
            if (known := self.state.workloads.get(key)) is not None and holds_quota(known)
        }
        self.stopping.clear()
        self.state = self.state.with_workloads(stopped)
        self.now += SECOND
        if moved or stopped:
            return frozenset()
        return frozenset(each.workload for each in decisions) if decisions else None


def _begin(scene: Scene, now: float) -> _Run:
    memory = caught_up(Memory(scene.settings), scene.state, now)
    return _Run(scene.state, memory, now, stopping={each.key for each in _evicted(scene.state)})


def outlook(scene: Scene, key: str) -> Outlook | None:
    """What Kueue would do with one workload that waits; None for one that does not."""
    workload = scene.state.workloads.get(key)
    if workload is None or not _waits(workload):
        return None
    now = max(scene.now, workload.requeue_at or scene.now)
    begun = _begin(scene, now)
    run = _begin(scene, now).go(key)
    found = _told(scene, run, workload)
    if now > scene.now:
        words = f"Kueue looks at it again in {now - scene.now:,.0f} s, after it had been evicted"
        found = replace(found, notes=(words,))
    if found.next is not Next.WAITS or found.reason in MENDED_BY_NO_END:
        return found
    return _with_ends(scene, begun, workload, found)


def outlooks(scene: Scene) -> Mapping[str, tuple[Outlook, ...]]:
    """Who waits in each ClusterQueue, in the order of its line, and what would become of each."""
    begun = _begin(scene, scene.now)
    run = _begin(scene, scene.now).go()
    found = {}
    for queue, line in sorted(begun.memory.lines.items()):
        waiting = sorted({**line.active, **line.aside}.values(), key=lambda each: each.rank)
        told = tuple(_told(scene, run, each.info.workload) for each in waiting)
        if told:
            found[queue] = told
    return found


def _waits(workload: Workload) -> bool:
    return workload.active and not (workload.reserved or workload.finished)


def _told(scene: Scene, run: _Run, workload: Workload) -> Outlook:
    key = workload.key
    victims = tuple(
        Victim(
            each.workload, scene.called(each.workload), WHY_WORDS[each.cause] if each.cause else each.reason
        )
        for each in run.victims.get(key, ())
    )
    name = scene.called(key)
    last = run.waits.get(key)
    reason, message = (str(last.reason), last.message) if last is not None else _recorded(workload)
    if victims:
        return Outlook(key, name, Next.PREEMPTS, run.admitted.get(key, 0), reason, message, victims)
    if key in run.admitted:
        notes = tuple(_stopping(scene)) if run.admitted[key] > 1 else ()
        if run.admitted[key] == 1 and workload.waiting is not None:
            notes = (NOT_SEEN,)
        notes += (CHECKS,) if key in run.checked else ()
        return Outlook(key, name, Next.ADMITTED, run.admitted[key], notes=notes)
    if last is not None or workload.held_back:
        return Outlook(key, name, Next.WAITS, 0, reason, message)
    alike = _alike(run, workload)
    if alike is not None:
        return Outlook(key, name, Next.WAITS, 0, str(alike.reason), alike.message)
    return Outlook(key, name, Next.NOT_TRIED, notes=tuple(_before(scene, run, workload)))


def _stopping(scene: Scene) -> Iterator[str]:
    """Who is being evicted already."""
    for each in _evicted(scene.state):
        yield f"{scene.called(each.key)} is being evicted already, and its pods have to stop first"


def _evicted(state: State) -> Iterator[Workload]:
    """Who has to go and still holds its quota."""
    return (each for each in state.workloads.values() if each.evicted is not None and holds_quota(each))


def _recorded(workload: Workload) -> tuple[str, str]:
    told = workload.waiting
    return (told.reason, told.message) if told is not None else ("", "")


def _alike(run: _Run, workload: Workload) -> Waits | None:
    """What was told to one that asks for the same, with which it was put aside."""
    for line in run.memory.lines.values():
        found = line.set_aside(workload.key)
        if found is not None and found.info.shape in line.parked:
            return run.told_by_shape().get((found.info.cluster_queue, found.info.shape))
    return None


def _before(scene: Scene, run: _Run, workload: Workload) -> Sequence[str]:
    """Why it is not even tried."""
    local = scene.state.local_queues.get(workload.queue_key)
    if local is None:
        return (f"there is no LocalQueue {workload.queue_key}",)
    if local.cluster_queue not in scene.state.cluster_queues:
        return (f"there is no ClusterQueue {local.cluster_queue}",)
    tree = run.memory.tree
    if tree is not None and (why := tree.inactive.get(local.cluster_queue)):
        return (f"ClusterQueue {local.cluster_queue} is inactive: {why}",)
    within = f" within {MOST_CYCLES} cycles" if run.cycles >= MOST_CYCLES else ""
    return (f"others are before it in its queue, and Kueue does not come to it{within}",)


def _with_ends(scene: Scene, begun: _Run, workload: Workload, found: Outlook) -> Outlook:
    """With the admitted workloads whose ends let it in."""
    left = MOST_TRIED

    def lets_in(keys: Sequence[str]) -> bool:
        nonlocal left
        ended: dict[str, Workload | None] = {
            key: replace(holders[key], finished=True, reserved=False) for key in keys
        }
        state = begun.state.with_workloads(ended)
        trial = _Run(state, begun.memory, begun.now + SECOND, stopping=set(begun.stopping))
        trial.go(workload.key, min(MOST_CYCLES, max(left, 1)))
        left -= trial.cycles
        return workload.key in trial.admitted and workload.key not in trial.victims

    holders = {
        each.key: each
        for each in scene.state.workloads.values()
        if holds_quota(each) and _is_other(each, workload)
    }
    bottleneck = _asked(workload)
    order = sorted(holders, key=lambda key: (_size(holders[key], bottleneck), -holders[key].created, key))
    order = [key for key in order if any(_size(holders[key], bottleneck))]
    ends = ends_that_let_in(order, lets_in, lambda: left > 0, MOST_ENDS)
    named = None if ends.keys is None else tuple(scene.called(key) for key in ends.keys)
    return replace(found, ends=named, tried_all=ends.tried_all)


def _is_other(each: Workload, workload: Workload) -> bool:
    """Whether it is not what the workload is a wider window of."""
    return each.key != (workload.replaces or "") and (not each.job_uid or each.job_uid != workload.job_uid)


def _asked(workload: Workload) -> tuple[str, ...]:
    """The resources that it asks for, the scarce ones first: those that every machine has come last."""
    names = {name for each in workload.pod_sets for name in each.requests}
    plenty = {"cpu", "memory", "pods"}
    scarce = sorted(names - plenty)
    return (*scarce, *sorted(names & plenty))


def _size(workload: Workload, resources: Sequence[str]) -> tuple[int, ...]:
    given = workload.admission.pod_sets if workload.admission is not None else ()
    return tuple(sum(each.usage.get(name, 0) for each in given) for name in resources)
