"""What KAI would do next, by its model: whose pods start, whom that costs its place, and who waits for what.

The model decides round by round on the state of the cluster; what it decides is carried out, pods that are
evicted have stopped by the next round, and their owners make them anew. For a group of which nothing starts
it is tried whose end would let it in, the smallest first. Nothing else of the world moves meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.kubernetes.cluster.kai_state import KaiScene
from allotment.planning.outlook.ends import ends_that_let_in
from allotment.planning.outlook.values import Next, Outlook, Victim
from allotment.scheduling.kai import (
    Action,
    Bound,
    Evicted,
    Memory,
    Reason,
    Standing,
    Waits,
    applied,
    decide,
    ended,
    standings,
    stopped,
)
from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.wording import number
from allotment.scheduling.state.pod_groups import ALLOCATED, PodGroup, PodStatus, SubGroup
from allotment.scheduling.state.state import State

MOST_ROUNDS: Final = 200
LEAST_ROUNDS: Final = 2
MOST_ENDS: Final = 40
MOST_LOOKED_AT: Final = 30_000
"""Nodes and pods that all rounds look at together, and as many again to find who must end."""
SECOND: Final = 1.0
MENDED_BY_NO_END: Final = frozenset({Reason.NO_QUEUE, Reason.DELAY})
WHY: Final[Mapping[Action, str]] = {
    Action.RECLAIM: "reclaim: its queue has more than its share",
    Action.PREEMPT: "preempted by a higher priority of its queue",
    Action.CONSOLIDATION: "consolidation: it is moved to make room",
    Action.STALE: "stale: it runs with fewer pods than it needs",
}
STOPPING: Final = "pods that are being deleted have to stop first"


@dataclass(slots=True)
class _Run:
    """Rounds one after another. Of groups by key: which of their pods started in which round, and so on."""

    state: State
    memory: Memory
    now: float
    started: dict[str, dict[str, int]] = field(default_factory=dict)
    waits: dict[str, Waits] = field(default_factory=dict)
    evicted: list[Evicted] = field(default_factory=list)
    made_anew: set[str] = field(default_factory=set)
    rounds: int = 0
    is_cut: bool = False

    def go(self, most: int, until: str | None = None) -> _Run:
        """Until a group gets pods, or nothing moves, or there were so many."""
        moves = True
        while moves and self.rounds < most and until not in self.started:
            moves = self._round()
        self.is_cut = moves and self.rounds >= most
        return self

    def _round(self) -> bool:
        """Whether anything moved."""
        self.rounds += 1
        decisions, self.memory = decide(self.state, self.memory, self.now)
        self.waits = {each.group: each for each in reversed(decisions) if isinstance(each, Waits)}
        state = applied(self.state, decisions)
        for each in decisions:
            if isinstance(each, Bound):
                self.started.setdefault(each.group, {}).setdefault(each.pod, self.rounds)
            elif isinstance(each, Evicted):
                self.evicted.append(each)
                self.made_anew.add(each.pod)
        self.now += SECOND
        going = any(
            pod.status is PodStatus.RELEASING for group in state.pod_groups.values() for pod in group.pods
        )
        self.state = stopped(state, self.made_anew, self.now) if going else state
        return going or any(isinstance(each, Bound | Evicted) for each in decisions)


def _run(scene: KaiScene) -> _Run:
    return _Run(scene.state, Memory(scene.settings), scene.now).go(_rounds(scene))


def _rounds(scene: KaiScene) -> int:
    """How many there is time for."""
    size = len(scene.state.nodes) + sum(len(group.pods) for group in scene.state.pod_groups.values())
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_LOOKED_AT // max(1, size)))


def kai_outlooks(scene: KaiScene, keys: Iterable[str]) -> tuple[Outlook, ...]:
    """What KAI would do with these groups; nothing of one that waits for nothing, and loses nothing."""
    run = _run(scene)
    queues = standings(scene.state, Memory(scene.settings), scene.now).queues
    found = []
    for key in keys:
        group = scene.state.pod_groups.get(key)
        told = None if group is None else _told(scene, run, key, group)
        if group is None or told is None:
            continue
        if told.next is Next.WAITS and told.reason not in MENDED_BY_NO_END:
            told = _with_ends(scene, key, told)
        if told.started < told.pods and group.queue in queues:
            told = replace(told, notes=(*told.notes, _words(queues[group.queue])))
        found.append(told)
    return tuple(found)


def kai_outlooks_of_queues(scene: KaiScene) -> Mapping[str, tuple[Outlook, ...]]:
    """Which groups wait in each queue, in the order of its line, and what would become of each."""
    run = _run(scene)
    found: dict[str, tuple[Outlook, ...]] = {}
    queues = standings(scene.state, Memory(scene.settings), scene.now).queues
    for name, queue in sorted(queues.items()):
        told = tuple(
            each
            for key in queue.line
            if (each := _told(scene, run, key, scene.state.pod_groups[key])) is not None
        )
        if told:
            found[name] = told
    return found


def _told(scene: KaiScene, run: _Run, key: str, group: PodGroup) -> Outlook | None:
    waiting = {pod.id for pod in group.pods if pod.status is PodStatus.PENDING}
    notes = tuple(_losses(scene, run, key))
    if run.is_cut:
        notes += (f"that is as far as {run.rounds:,} rounds go; KAI decides once a second",)
    if not waiting:
        last = next((each for each in run.evicted if each.group == key), None)
        if last is None:
            return None
        return Outlook(key, scene.called(key), Next.EVICTED, message=last.message, notes=notes)
    started = {pod: cycle for pod, cycle in run.started.get(key, {}).items() if pod in waiting}
    last_words = run.waits.get(key)
    base = Outlook(
        key,
        scene.called(key),
        Next.NOT_TRIED,
        cycle=min(started.values(), default=0),
        reason="" if last_words is None or len(started) == len(waiting) else str(last_words.reason),
        message="" if last_words is None or len(started) == len(waiting) else last_words.message,
        notes=notes,
        pods=len(waiting),
        started=len(started),
    )
    victims = tuple(_victims(scene, run, key))
    if victims:
        return replace(base, next=Next.PREEMPTS, victims=victims)
    if started:
        begin = (STOPPING,) if base.cycle > 1 and not run.evicted else ()
        return replace(base, next=Next.STARTS, notes=begin + notes)
    if last_words is not None:
        return replace(base, next=Next.WAITS)
    return replace(base, notes=(*notes, _before(run, group)))


def _words(queue: Standing) -> str:
    """How a queue stands."""
    fair, quota, held = (number(amounts[GPU]) for amounts in (queue.fair, queue.quota, queue.held))
    more = number(max(0.0, queue.asked[GPU] - queue.held[GPU]))
    cards = "GPU" if held == "1" else "GPUs"
    share = f"a fair share of {fair} (quota {quota.lower()})"
    return f"queue `{queue.name}` has {held} {cards} of {share}, and asks for {more} more"


def _victims(scene: KaiScene, run: _Run, key: str) -> Iterator[Victim]:
    """Who loses pods to a group that asks for them, in the order in which they do."""
    lost = Counter((each.group, each.action) for each in run.evicted if each.by == key)
    for (victim, action), count in lost.items():
        wide = sum(pod.status in ALLOCATED for pod in scene.state.pod_groups[victim].pods)
        yield Victim(victim, scene.called(victim), WHY[action], count, wide)


def _losses(scene: KaiScene, run: _Run, key: str) -> Iterator[str]:
    """What a group itself loses."""
    lost = Counter((each.by, each.action) for each in run.evicted if each.group == key)
    wide = sum(pod.status in ALLOCATED for pod in scene.state.pod_groups[key].pods)
    for (taker, action), count in lost.items():
        whom = f" for {scene.called(taker)}" if taker is not None and taker != key else ""
        pods = f"{count:,} of its {wide:,} running pods" if count <= wide else f"{count:,} of its pods"
        yield f"{pods} would be evicted{whom} ({WHY[action]})"


def _before(run: _Run, group: PodGroup) -> str:
    """Why it is not even looked at."""
    alive = Counter(pod.leaf for pod in group.pods if pod.status in {*ALLOCATED, PodStatus.PENDING})
    for leaf in _leaves(group.tree):
        if alive[leaf.name] < (leaf.minimum or 0):
            return f"it needs {leaf.minimum:,} pods together, and has {alive[leaf.name]:,}"
    within = f" within {run.rounds:,} rounds" if run.is_cut else ""
    return f"others are before it, and KAI does not come to it{within}"


def _leaves(tree: SubGroup) -> Iterator[SubGroup]:
    if tree.leaf:
        yield tree
    for child in tree.children:
        yield from _leaves(child)


def _with_ends(scene: KaiScene, key: str, found: Outlook) -> Outlook:
    """With the groups whose ends let it start."""
    state = scene.state
    holders = {
        each: sizes
        for each, group in state.pod_groups.items()
        if each != key and any(sizes := _size(scene, group))
    }
    left = _rounds(scene)

    def lets_in(keys: Sequence[str]) -> bool:
        nonlocal left
        trial = _Run(ended(state, keys), Memory(scene.settings), scene.now)
        trial.go(max(1, left), until=key)
        left -= trial.rounds
        return key in trial.started and not any(each.by == key for each in trial.evicted)

    order = sorted(holders, key=lambda each: (holders[each], -state.pod_groups[each].created, each))
    ends = ends_that_let_in(order, lets_in, lambda: left > 0, MOST_ENDS)
    named = None if ends.keys is None else tuple(scene.called(each) for each in ends.keys)
    return replace(found, ends=named, tried_all=ends.tried_all)


def _size(scene: KaiScene, group: PodGroup) -> tuple[float, float, float]:
    """What it holds of GPUs, of cores and of memory."""
    pods = [pod for pod in group.pods if pod.status in ALLOCATED]
    claims = (scene.state.claims[name] for pod in pods for name in pod.claims if name in scene.state.claims)
    gpus = sum(
        pod.request.gpus
        + pod.request.fraction * pod.request.devices
        + (pod.request.devices * 0.5 if pod.request.gpu_memory else 0)
        + sum(amount for _, amount in pod.request.mig)
        for pod in pods
    )
    return (
        gpus + sum(claim.count for claim in claims),
        sum(pod.request.cpu for pod in pods),
        sum(pod.request.memory for pod in pods),
    )
