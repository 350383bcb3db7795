"""What has happened since the last cycle, taken into the memory before anything is decided.

Only what differs from the state that was seen last is looked at. A workload that gives quota back (or goes,
or shrinks) wakes everyone who shares that quota, once at the end; one that changed while it waits is put in
line anew. The rules are those of the event handlers in ``workload_controller.go`` and of ``pkg/cache``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial

from allotment.scheduling.kueue.charges import Info, info_of, queue_time
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.memory import Memory
from allotment.scheduling.kueue.nominating import selects
from allotment.scheduling.kueue.pending import Pending, Queued, push, push_all, requeue, wake
from allotment.scheduling.kueue.second_look import looked_for
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.standing import gives_room, holds_quota, is_admissible, is_ready
from allotment.scheduling.kueue.topology.domains import Domains, domains_of
from allotment.scheduling.kueue.tree import Tree, grow
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.nodes import Flavor
from allotment.scheduling.state.queues import Strategy
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload

_SHARED = ("cluster_queues", "cohorts", "flavors", "topologies", "nodes", "local_queues", "namespaces")


def caught_up(memory: Memory, state: State, now: float) -> Memory:
    """The memory with everything that the state says."""
    desk = _Desk(memory, state, now)
    if memory.tree is None or desk.differs(*_SHARED):
        desk.rebuild()
    desk.take_in(desk.changes())
    desk.return_unapplied()
    desk.look_at_clock()
    desk.wake()
    return desk.result()


@dataclass(slots=True)
class _Desk:
    """The memory while it is brought up to date."""

    memory: Memory
    state: State
    now: float
    tree: Tree = field(init=False)
    usage: Usage = field(init=False)
    held: dict[str, Shelf[str, Info]] = field(init=False)
    lines: dict[str, Pending] = field(init=False)
    generations: dict[str, int] = field(init=False)
    domains: Mapping[str, tuple[Flavor, Domains]] = field(init=False)
    woken: set[str] = field(default_factory=set)
    everything: bool = False
    arrived: dict[str, list[Queued]] = field(default_factory=dict)
    given: dict[str, Info] = field(default_factory=dict)

    def __post_init__(self) -> None:
        memory = self.memory
        self.tree = memory.tree or grow(self.state)
        self.usage = memory.usage.fork() if memory.usage else Usage.nothing(self.tree)
        self.held = dict(memory.held)
        self.lines = dict(memory.lines)
        self.generations = dict(memory.generations)
        self.domains = memory.domains

    def differs(self, *names: str) -> bool:
        """Whether any of these parts of the state is another one than before."""
        seen = self.memory.seen
        return seen is None or any(getattr(seen, name) is not getattr(self.state, name) for name in names)

    def rebuild(self) -> None:
        """Queues, quotas or nodes have changed: everything that follows from them is made anew."""
        state = self.state
        self.tree = grow(state)
        self.usage = Usage.nothing(self.tree)
        self.domains = {
            flavor.name: (flavor, domains_of(flavor, state.topologies[flavor.topology], state.nodes.values()))
            for flavor in state.flavors.values()
            if flavor.topology is not None and flavor.topology in state.topologies
        }
        for name in self.tree.queues:
            for info in self.held.get(name, {}).values():
                self._add(info)
            if self.differs("cluster_queues", "cohorts"):
                self.generations[name] = self.generations.get(name, 0) + 1
        self.lines = {name: line for name, line in self.lines.items() if name in state.cluster_queues}
        self.everything = self.differs("local_queues", "cluster_queues")
        for name in self.lines if self.everything else ():
            self._leave_line(name)
        self.woken.update(state.cluster_queues)

    def _leave_line(self, name: str) -> None:
        """Take those out of a line whose LocalQueue does not lead there any more."""
        line = self.lines[name]
        for each in (*line.active.values(), *line.aside.values()):
            if self._queue_of(each.info.workload) != name:
                line = line.without(each.info.key)
        self.lines[name] = line

    def changes(self) -> Iterable[tuple[str, Workload | None, Workload | None]]:
        """The workloads to look at: key, before and now."""
        seen = self.memory.seen
        changed = self.state.workloads.changes(seen.workloads if seen else None)
        if not self.everything or seen is None:
            return changed
        known = list(changed)
        keys = {key for key, _old, _new in known}
        rest = ((key, each, each) for key, each in self.state.workloads.items() if key not in keys)
        return [*known, *((key, old, new) for key, old, new in rest if not self._is_lined(new))]

    def _is_lined(self, workload: Workload) -> bool:
        queue = self._queue_of(workload)
        return queue is not None and self._line(queue).find(workload.key) is not None

    def take_in(self, changes: Iterable[tuple[str, Workload | None, Workload | None]]) -> None:
        """Take changed workloads in."""
        for key, old, new in changes:
            if new is None or new.finished or not new.active:
                self._leave(key, old or new)
            elif holds_quota(new):
                self._hold(new, old)
            else:
                self._wait(new, old)
        for name, arrived in self.arrived.items():
            self.lines[name] = push_all(self._line(name), arrived)
        self.arrived = {}

    def _leave(self, key: str, known: Workload | None) -> None:
        """A workload is done, switched off or gone."""
        queue = self._held_in(key) or (self._queue_of(known) if known else None)
        self._release(key)
        if known is not None:
            self._forget(known)
        if queue is not None:
            self.woken.add(queue)

    def _hold(self, new: Workload, old: Workload | None) -> None:
        """A workload has quota."""
        self._forget(new)
        queue = new.admission.cluster_queue if new.admission else ""
        self._release(new.key)
        if queue in self.tree.queues:
            info = info_of(new, queue, self.memory.settings)
            self.held[queue] = self.held.get(queue, Shelf()).put({new.key: info})
            self.given[new.key] = info
            self._add(info)
        if old is not None and holds_quota(old) and gives_room(old, new):
            self.woken.add(queue)

    def _wait(self, new: Workload, old: Workload | None) -> None:
        """A workload has no quota (any more)."""
        queue = self._held_in(new.key) if old is not None else None
        if queue is not None:
            self._release(new.key)
            self.woken.add(queue)
        settings = self.memory.settings
        if new.on_hold:
            self._forget(new)
        if old is not None and old.queue_key != new.queue_key:
            self._forget(old)
        if not is_admissible(new, settings):
            return
        name = self._queue_of(new)
        if name is None:
            return
        line, known = self._line(name), self._line(name).find(new.key)
        info = info_of(new, name, settings)
        kept = known.progress if known is not None and settings.on(Gate.KEEP_PROGRESS) else None
        progress = kept if kept is not None and kept.suits(info.shape) else None
        queued = Queued(info, _rank(info, settings), progress)
        ready = is_ready(new, self.now)
        if old is None and ready and known is None and info.shape not in line.parked:
            self.arrived.setdefault(name, []).append(queued)
            return
        self.lines[name] = push(line, queued, self._strategy(name), ready=ready)

    def return_unapplied(self) -> None:
        """Put back in line what was admitted but did not get its quota, whatever went wrong."""
        for key, info in self.memory.assumed.items():
            workload = self.state.workloads.get(key)
            if workload is None or holds_quota(workload) or self._held_in(key) is None:
                continue
            self._release(key)
            name = info.cluster_queue
            new = info_of(workload, name, self.memory.settings)
            queued = Queued(new, _rank(new, self.memory.settings))
            ready = is_ready(workload, self.now)
            self.lines[name] = requeue(
                self._line(name),
                queued,
                self._strategy(name),
                Requeue.AFTER_NOMINATION,
                Reason.NONE,
                ready=ready,
            )

    def look_at_clock(self) -> None:
        """Put in line whose back-off is over."""
        seen = self.memory.at
        for name, line in list(self.lines.items()):
            if not line.timed:
                continue
            due = [
                each
                for each in line.apart.values()
                if each.info.workload.requeue_at is not None
                and seen < each.info.workload.requeue_at
                and is_ready(each.info.workload, self.now)
            ]
            apart = line.apart.put({each.info.key: None for each in due})
            self.lines[name] = push_all(replace(line, apart=apart), due)

    def wake(self) -> None:
        """Let everyone try again who shares quota with a queue that has some back."""
        names = {member for name in self.woken for member in self.tree.members(name)}
        for name in names:
            queue = self.state.cluster_queues.get(name)
            if queue is None or name not in self.lines:
                continue
            opens = cache(partial(selects, self.state, queue))
            self.lines[name] = wake(self.lines[name], opens, lambda info: is_ready(info.workload, self.now))

    def result(self) -> Memory:
        """The memory."""
        return replace(
            self.memory,
            seen=self.state,
            at=self.now,
            tree=self.tree,
            usage=self.usage,
            held=self.held,
            lines=self.lines,
            generations=self.generations,
            domains=self.domains,
            second=looked_for(self.memory.second, self._to_look_at(), self.now),
            assumed={},
        )

    def _to_look_at(self) -> Mapping[str, Info]:
        """Who may need a second look: those that do already, and those that have changed since."""
        known = ((key, self._held_in(key)) for key in self.memory.second)
        found = {key: self.held[name][key] for key, name in known if name is not None}
        found |= {key: info for key, info in self.given.items() if self._held_in(key) is not None}
        return found

    def _add(self, info: Info) -> None:
        self.usage.add_all(self.tree.queues[info.cluster_queue], info.cells)

    def _release(self, key: str) -> None:
        """Take a workload's quota back, if it has any."""
        name = self._held_in(key)
        if name is None:
            return
        info = self.held[name][key]
        self.held[name] = self.held[name].put({key: None})
        if name in self.tree.queues:
            self.usage.remove_all(self.tree.queues[name], info.cells)
        self.generations[name] = self.generations.get(name, 0) + 1

    def _held_in(self, key: str) -> str | None:
        return next((name for name, infos in self.held.items() if key in infos), None)

    def _forget(self, workload: Workload) -> None:
        name = self._queue_of(workload)
        if name is not None and name in self.lines:
            self.lines[name] = self.lines[name].without(workload.key)

    def _queue_of(self, workload: Workload) -> str | None:
        line = self.state.local_queues.get(workload.queue_key)
        if line is None or line.stopped or line.cluster_queue not in self.state.cluster_queues:
            return None
        return line.cluster_queue

    def _line(self, name: str) -> Pending:
        return self.lines.get(name) or Pending()

    def _strategy(self, name: str) -> Strategy:
        return self.state.cluster_queues[name].strategy


def _rank(info: Info, settings: Settings) -> tuple[int, float, str, str]:
    workload = info.workload
    return -info.priority, queue_time(workload, settings), workload.uid, info.key
