"""The default scheduler's model as a binder of pods: for clusters that have nothing else, and behind Kueue.

Pods that no filter can tell apart stand in one line. Within a round all of them fail as the first one does,
so that only as many as could be bound at once are shown to the model; the others are a count until then, and
have failed as often and as lately as the one that is shown. How many pods a second are bound is an input: so
many are shown of a line in a round, and after a round so much time goes by as binding takes.

Pods that are to be near each other are shown one by one until the first of them has a node: it chooses where,
and the others may go there alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import floor
from typing import Final

from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.world import World
from allotment.scheduling.default import Bound, Decision, Lot, Memory, Preempted, Ties, decide
from allotment.scheduling.default import Waits as Refused
from allotment.scheduling.default.devices import DeviceIndex
from allotment.scheduling.default.memory import Failed
from allotment.scheduling.default.settings import Gangs
from allotment.scheduling.state.copying import copied
from allotment.scheduling.state.pods import Gang, Pod
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.simulation.adapters.adapter import Order, PodId, Start, Stop, Waits
from allotment.simulation.adapters.alike import MANY, Likeness, Line
from allotment.simulation.adapters.as_pods import allocations_of, devices_of, nodes_of, requests_of
from allotment.simulation.machines import emptied
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work

UNSCHEDULABLE: Final = "Unschedulable"
PREEMPTED: Final = "Preempted"
ERROR: Final = "SchedulerError"
NO_PARTS: Final = "the default scheduler gives out no parts of a GPU that are not devices of their own"
_AFFINITY: Final = ("Pod's node affinity/selector", "pod affinity rules")
_SHOWN: Final = 2
_MOMENT: Final = 1e-8  # between two pods that are made at one time, for the order in which they are tried
_NUMBERED: Final = 10**6


class Binder:
    """Pods without a node, and the model that gives them one."""

    def __init__(self, setting: Setting, ties: Ties | Lot = Ties.FIRST) -> None:
        self.setting, self.ties = setting, ties
        base = setting.state
        self.state = State(nodes=nodes_of(setting), published=base.published, namespaces=base.namespaces)
        self.empty = self.state
        self.moved: dict[str, Pod | None] = {}
        self.memory = Memory(setting.default, index=_index_of(base.published))
        self.kinds: dict[str, Likeness] = {}
        self.lines: dict[tuple[object, ...], Line] = {}
        self.active: dict[Line, None] = {}
        self.keys: dict[str, PodId] = {}
        self.bound: set[PodId] = set()
        self.waiting: Counter[str] = Counter()
        self.beside: Counter[str] = Counter()
        self.places: dict[str, str] = {}
        self.refused: list[Order] = []
        self.changed = False
        self.freed = self.number = 0
        self.free_at = self.last = 0.0

    def add(self, work: Work) -> None:
        """Pods of this work may come."""
        team = self.setting.teams.get(work.team)
        gang = (
            work.name if work.kind is Kind.GANG and self.setting.default.gangs is not Gangs.UNKNOWN else None
        )
        pod = Pod(
            team.namespace if team else work.team,
            work.name,
            requests_of(work.ask.request),
            work.priority,
            node_selector=work.ask.node_selector,
            affinity=work.ask.affinity,
            tolerations=work.ask.tolerations,
            claims=work.ask.claims,
            gang=gang,
        )
        if gang is not None:
            self.state = replace(self.state, gangs={**self.state.gangs, gang: Gang(gang, work.least)})
        near = work.ask.near
        if near and pod.affinity is None:
            pod = replace(pod, affinity=_with_label(near))
        likeness = (*pod.likeness, pod.priority, gang, work.name if near else "")
        line = self.lines.setdefault(likeness, Line())
        line.chooses_one = work.name if near and gang is None else ""
        self.kinds[work.name] = Likeness(work, pod, line)

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """These pods have no node yet."""
        for pod in pods:
            kind = self.kinds[pod.work]
            if kind.work.ask.request.shared:
                self.refused.append(Waits(pod.work, UNSCHEDULABLE, NO_PARTS, never=True))
            else:
                self.number = (self.number + 1) % _NUMBERED
                kind.line.hidden[pod] = now - (_NUMBERED - self.number) * _MOMENT
                self.waiting[pod.work] += 1
                kind.line.untold[pod.work] = None
                self.active[kind.line] = None
                self.changed = True

    def placed(self, starts: Sequence[Start]) -> None:
        """These pods have a node."""
        for start in starts:
            pod = self._pod(start.pod, 0.0)
            given = allocations_of(pod, start.node, start.devices)
            self.moved[pod.key] = replace(pod, node=start.node, allocations=given)
            self.keys[pod.key] = start.pod
            self.bound.add(start.pod)
            self._near(start.pod.work, start.node)
        self.changed = True

    def ended(self, pods: Iterable[PodId]) -> None:
        """These pods are gone, whether they had a node or not."""
        for pod in pods:
            line = self.kinds[pod.work].line
            key = self._key(pod)
            if pod in self.bound:
                self.bound.remove(pod)
                self.keys.pop(key, None)
                self.freed += 1
                self.moved[key] = None
                self._far(pod.work)
                continue
            self.waiting[pod.work] -= 1
            if line.shown.pop(key, None) is not None:
                del self.keys[key]
                self.moved[key] = None
            else:
                line.hidden.pop(pod, None)
        self.changed = True

    def _near(self, work: str, node: str) -> None:
        """A pod has this node: those that are to be near it go where it is."""
        if label := self.kinds[work].work.ask.near:
            self.places.setdefault(work, self.state.nodes[node].labels.get(label, ""))
            self.beside[work] += 1

    def _far(self, work: str) -> None:
        """A pod has its node no more; once none has one, the next chooses anew."""
        if work not in self.places:
            return
        self.beside[work] -= 1
        if not self.beside[work]:
            del self.places[work]
            line = self.kinds[work].line
            for key, pod in line.shown.items():
                self._put_back(line, key, pod)
            line.shown.clear()

    def _put_back(self, line: Line, key: str, pod: PodId) -> None:
        """A pod is shown no more, and stands first."""
        del self.keys[key]
        known = self.state.pods.get(key) or self.moved.get(key)
        line.hidden[pod] = 0.0 if known is None else known.created
        line.hidden.move_to_end(pod, last=False)
        self.moved[key] = None

    def node(self, name: str, *, up: bool) -> None:
        """A node is lost, or back."""
        nodes = dict(self.state.nodes)
        nodes[name] = replace(nodes[name], ready=up and self.empty.nodes[name].ready)
        self.state = replace(self.state, nodes=nodes)
        self.changed = True

    def due(self, now: float) -> float | None:
        """When there is something to decide."""
        if self.refused:
            return now
        if not any(line.shown or line.hidden for line in self.active):
            return None
        if self.changed or any(line.hidden and not line.shown for line in self.active):
            return max(now, self.free_at)
        due = self.memory.next_time(self.last)
        return None if due is None else max(due, self.free_at)

    def round(self, now: float) -> list[Order]:
        """Decide on those that are due."""
        orders, self.refused = self.refused, []
        if now < self.free_at:
            return orders
        self.changed, self.last = False, now
        self._show(now)
        self.state, self.moved = self.state.with_pods(self.moved), {}
        decisions, self.memory = decide(self.state, self.memory, now, self.ties)
        orders += self._starts(decisions, now)
        orders += self._preempted(decisions)
        orders += self._told(decisions)
        self._hide()
        return orders

    def _show(self, now: float) -> None:
        """Show as many of each line as could be bound now, with what is known of those like them."""
        failed: dict[str, Failed] = {}
        for line in self.active:
            known = next(
                (self.memory.failed[key] for key in line.shown if key in self.memory.failed), line.last
            )
            most = self._most(line)
            while line.hidden and (len(line.shown) < most or self._of_gang(line)):
                pod, created = line.hidden.popitem(last=False)
                made = self._pod(pod, created)
                line.shown[made.key] = pod
                self.keys[made.key] = pod
                self.moved[made.key] = made
                if known is not None and created <= known.at and not line.takes:
                    failed[made.key] = known
            line.wish, line.takes = len(line.shown), False
        self.freed = 0
        if failed:
            self.memory = replace(self.memory, failed={**self.memory.failed, **failed})

    def _most(self, line: Line) -> int:
        """How many of a line are to be shown."""
        if line.chooses_one and line.chooses_one not in self.places:
            return 1
        many = max(1, floor(self.setting.pace.default_rate))
        nominated = self.memory.nominated
        kept = sum(key in nominated for key in line.shown) if nominated else 0
        return min(many, line.wish + self.freed) + kept

    def _of_gang(self, line: Line) -> bool:
        return self.kinds[next(iter(line.hidden)).work].pod.gang is not None

    def _starts(self, decisions: Sequence[Decision], now: float) -> Iterator[Order]:
        """Carry out what was bound."""
        bound = [each for each in decisions if isinstance(each, Bound)]
        for each in bound:
            pod = self.keys[each.pod]
            self.moved[each.pod] = copied(
                self.state.pods[each.pod], node=each.node, allocations=each.allocations, started=now
            )
            line = self.kinds[pod.work].line
            del line.shown[each.pod]
            self.bound.add(pod)
            self.waiting[pod.work] -= 1
            self._near(pod.work, each.node)
            yield Start(pod, each.node, devices_of(each.allocations))
        done = len(bound) + len({each.by for each in decisions if isinstance(each, Preempted)})
        if done:
            self.free_at = now + done / self.setting.pace.default_rate

    def _preempted(self, decisions: Iterable[Decision]) -> Iterator[Order]:
        """Tell those to leave who have to make room."""
        for each in decisions:
            if isinstance(each, Preempted):
                by = self.keys[each.by]
                known = self.moved.get(each.pod) or self.state.pods[each.pod]
                self.moved[each.pod] = replace(known, leaving=True)
                line = self.kinds[by.work].line
                line.takes, self.changed = True, self.changed or bool(line.hidden)
                yield Stop(self.keys[each.pod], by.work, PREEMPTED, f"by {by.work} on node {each.node}")

    def _told(self, decisions: Iterable[Decision]) -> Iterator[Order]:
        """Say to each work once why it waits."""
        for each in decisions:
            if not isinstance(each, Refused):
                continue
            kind = self.kinds[self.keys[each.pod].work]
            line = kind.line
            line.last = self.memory.failed.get(each.pod, line.last)
            if not line.untold:
                continue
            if line.never is None:
                line.never = self._never(kind.pod)
            reason = ERROR if each.error else UNSCHEDULABLE
            for work in line.untold:
                if self.waiting[work] > 0:
                    words = each.message.replace(*_AFFINITY) if line.chooses_one else each.message
                    yield Waits(work, reason, words, never=line.never)
            line.untold.clear()

    def _never(self, pod: Pod) -> bool:
        """Whether a pod finds no place even where nothing else stands, and others have given all back."""
        alone = replace(pod, gang=None, created=0.0)
        state = replace(emptied(self.empty), pods=Shelf({alone.key: alone}))
        memory = Memory(self.setting.default, index=self.memory.index)
        decisions, _memory = decide(state, memory, 0.0)
        return not any(isinstance(each, Bound) for each in decisions)

    def _hide(self) -> None:
        """Of those that were shown in vain a few are enough."""
        for line in list(self.active):
            if not (line.shown or line.hidden):
                del self.active[line]
            line.wish = MANY if line.takes else _SHOWN if line.shown else max(_SHOWN, 2 * line.wish)
            if len(line.shown) <= _SHOWN or self._any_gang(line):
                continue
            spare = [key for key in line.shown if key not in self.memory.nominated]
            for key in spare[: _SHOWN - 1 : -1]:
                self._put_back(line, key, line.shown.pop(key))

    def _any_gang(self, line: Line) -> bool:
        return any(self.kinds[pod.work].pod.gang is not None for pod in line.shown.values())

    def _key(self, pod: PodId) -> str:
        return f"{self.kinds[pod.work].pod.namespace}/{_name(pod)}"

    def _pod(self, pod: PodId, created: float) -> Pod:
        kind = self.kinds[pod.work]
        made = copied(kind.pod, name=_name(pod), created=created)
        place = self.places.get(pod.work)
        if place is None:
            return made
        return replace(made, node_selector={**made.node_selector, kind.work.ask.near: place})


_INDEXES: Final[deque[DeviceIndex]] = deque(maxlen=4)  # of the worlds that were asked for last


def _index_of(world: World | None) -> DeviceIndex | None:
    """What a world publishes, made ready once for all the courses that are played in it."""
    if world is None:
        return None
    for index in _INDEXES:
        if index.world is world:
            return index
    _INDEXES.append(DeviceIndex(world))
    return _INDEXES[-1]


def _with_label(key: str) -> NodeSelector:
    """Nodes that say where they are: on others nobody is near anybody."""
    return NodeSelector((NodeSelectorTerm(match_expressions=(Requirement(key, "Exists"),)),))


def _name(pod: PodId) -> str:
    return f"{pod.work}-{pod.number:05d}-{pod.attempt}"
