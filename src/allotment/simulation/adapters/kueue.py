"""Kueue over work on virtual time: its model admits Jobs, and another adapter places their pods.

Cycle after cycle is that of ``scheduling.kueue.decide``, as many as are decided in a second by Kueue's own
measure, until nothing new is said. A Job that is evicted loses all of its pods, and its quota is free before
their devices are. Beside Kueue runs the window controller, if the setting has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Final

from allotment.scheduling.kueue import Admitted, Evicted, Memory, Waits, applied, decide
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.kueue.decisions import Decision, Reason
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from allotment.simulation.adapters import default
from allotment.simulation.adapters.adapter import Adapter, MayRun, Order, PodId, Start, Stop
from allotment.simulation.adapters.adapter import Waits as Told
from allotment.simulation.adapters.controlling import Controller
from allotment.simulation.adapters.kueue_jobs import Job, admitted, resized, with_done
from allotment.simulation.adapters.quotas import Quotas
from allotment.simulation.adapters.room import Room
from allotment.simulation.adapters.windows import Move, Verb
from allotment.simulation.outcome import End
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work

NEVER: Final = frozenset({Reason.EXCEEDS_MAX, Reason.NO_MATCHING_FLAVOR, Reason.MISCONFIGURED})
CHECKED: Final = "admission checks are taken to be passed at once: nothing here plays who decides them"
MOST_CYCLES: Final = 100_000


def adapter(setting: Setting, works: Sequence[Work] = ()) -> KueueAdapter:
    """The adapter for a setting: the default scheduler places what Kueue admits."""
    return KueueAdapter(setting, works, default.adapter(setting))


class KueueAdapter:
    """Kueue's model in front of whoever places pods."""

    def __init__(self, setting: Setting, works: Sequence[Work], binder: Adapter) -> None:
        self.setting, self.binder, self.pace = setting, binder, setting.pace
        self.state: State = setting.state
        self.memory = Memory(setting.kueue)
        self.room = Room(setting.state, works)
        self.works: dict[str, Work] = {}
        self.jobs: dict[str, Job] = {}
        self.owners: dict[str, str] = {}
        self.pods: dict[PodId, str] = {}
        self.gated: set[PodId] = set()
        self.held: dict[PodId, tuple[str, tuple[str, ...]]] = {}
        self.shapes: dict[object, str] = {}
        self.alike: dict[tuple[object, ...], tuple[str, str]] = {}
        self.untold: dict[str, None] = {}
        self.told: dict[str, tuple[str, str]] = {}
        self.orders: list[Order] = []
        self.releasing: dict[str, float] = {}
        self.said: dict[str, None] = {}
        self.dirty, self.next_cycle = False, -inf
        self.controller = None if setting.window is None else Controller(self, setting.window)

    # -- what happens -----------------------------------------------------------------------------------

    def arrived(self, work: Work, now: float) -> int:
        """The Job is made, suspended; a Deployment has its pods, gated."""
        self.works[work.name] = work
        self.binder.arrived(work, now)
        if work.kind is Kind.FLEET:
            return work.most
        team = self.setting.teams[work.team]
        self._job(work, f"{team.namespace}/{work.name}", _width(work, _open(work)), now)
        return 0

    def _job(self, work: Work, key: str, width: int, now: float) -> Job:
        queue = self.setting.teams[work.team].local_queue
        left = _open(work) if work.kind is Kind.CAMPAIGN else width
        job = Job(work, key, queue, self._shape(work), now, width, left, stepped=now)
        self.jobs[key] = job
        name = key.rpartition("/")[2]
        job.asked = self._put(job, job.workload(name, width, now))
        self.untold[key] = None
        return job

    def _shape(self, work: Work) -> str:
        """Equal for pods that cannot be told apart; a campaign that may grow has a template of its own."""
        if work.kind is Kind.CAMPAIGN and work.most > 1:
            return work.name
        ask = work.ask
        specs = tuple((claim.spec, claim.shared) for claim in ask.claims)
        selector = tuple(sorted(ask.node_selector.items()))
        key = (specs, ask.request, selector, ask.affinity, ask.tolerations)
        return self.shapes.setdefault(key, f"shape-{len(self.shapes) + 1}")

    def placed(self, starts: Sequence[Start], now: float) -> None:
        """Pods that run already: their Job has had quota for them."""
        self.binder.placed(starts, now)
        by_work: dict[str, list[Start]] = {}
        for start in starts:
            by_work.setdefault(start.pod.work, []).append(start)
        for name, each in by_work.items():
            work = self.works[name]
            if work.kind is Kind.FLEET:
                for start in each:
                    self._stands(self._job(work, self._fleet_key(start.pod), 1, now), [start], now)
            else:
                self._stands(self.jobs[f"{self.setting.teams[work.team].namespace}/{name}"], each, now)

    def _stands(self, job: Job, starts: Sequence[Start], now: float) -> None:
        count = len(starts) if job.work.kind is Kind.CAMPAIGN else job.width
        workload = resized(self.state.workloads[job.asked or ""], max(count, 1))
        queue = self.queue_of(job)
        flavors = self._flavors_at(queue, job.work, starts[0].node)
        self._put(job, admitted(workload, queue, flavors, now))
        job.granted, job.asked, job.width, job.admitted = job.asked, None, count, count
        self.untold.pop(job.key, None)
        for start in starts:
            self.pods[start.pod] = job.key
            self._starts(start, now)
        if job.work.kind is not Kind.FLEET:
            self.orders.append(MayRun(job.work.name, count, reason="Admitted"))

    def _flavors_at(self, queue: str, work: Work, node: str) -> dict[str, str]:
        labels = self.state.nodes[node].labels if node in self.state.nodes else {}
        found: dict[str, str] = {}
        for group in self.state.cluster_queues[queue].groups:
            fitting = [name for name in group.flavors if _suits(self.state, name, labels)]
            flavor = (fitting or group.flavors)[0]
            found |= dict.fromkeys((name for name in group.resources if name in work.ask.charges), flavor)
        return found

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """Pods of admitted Jobs go to be placed; those of a Deployment get a Workload each."""
        ready: list[PodId] = []
        for pod in pods:
            work = self.works[pod.work]
            if work.kind is Kind.FLEET:
                key = self._fleet_key(pod)
                self._job(work, key, 1, now)
                self.gated.add(pod)
            else:
                key = f"{self.setting.teams[work.team].namespace}/{work.name}"
                ready.append(pod)
            self.pods[pod] = key
            self.jobs[key].pods[pod] = None
        if ready:
            self.binder.created(ready, now)

    def _fleet_key(self, pod: PodId) -> str:
        team = self.setting.teams[self.works[pod.work].team]
        return f"{team.namespace}/{pod.work}-{pod.number}-{pod.attempt}"

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        """Pods run; a Job all of whose pods do holds up nobody any more."""
        pods = list(pods)
        self.binder.ready(pods, now)
        for pod in pods if self.setting.kueue.block_admission else ():
            job = self.jobs[self.pods[pod]]
            job.ready += 1
            if job.granted is not None and job.ready >= job.admitted:
                self._put(job, replace(self.state.workloads[job.granted], pods_ready=True))

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        """Pods are gone."""
        known = []
        for pod in pods:
            job = self.jobs.get(self.pods.pop(pod, ""))
            node, devices = self.held.pop(pod, ("", ()))
            if node:
                self.room.take(self.works[pod.work], node, devices, -1)
            if pod in self.gated:
                self.gated.discard(pod)
            else:
                known.append(pod)
            if job is None:
                continue
            job.pods.pop(pod, None)
            job.leaving.discard(pod)
            if job.work.kind is Kind.FLEET:
                self._forget(job)
            elif job.evicted is not None and not job.pods:
                self.releasing[job.key] = now
        if known:
            self.binder.ended(known, now)

    def left(self, work: str, units: int, now: float) -> int:
        """Quota is given back for pods that are not needed any more (``reclaimablePods``)."""
        self.binder.left(work, units, now)
        kind = self.works[work]
        if kind.kind is Kind.FLEET:
            return kind.most
        job = self.jobs[f"{self.setting.teams[kind.team].namespace}/{work}"]
        job.left = units
        if kind.kind is Kind.CAMPAIGN and units < job.width:
            job.reclaimed = True
            if job.grows:
                self.take_back(job, now)
            key = job.granted or job.asked
            if key is not None:
                self._put(job, with_done(self.state.workloads[key], units))
        return min(job.admitted, units) if job.evicted is None else 0

    def finished(self, work: str, now: float) -> None:
        """The work is over."""
        self.binder.finished(work, now)
        kind = self.works.pop(work)
        for job in self._of(kind):
            self._forget(job)
        self.told.pop(work, None)

    def _of(self, work: Work) -> list[Job]:
        if work.kind is not Kind.FLEET:
            job = self.jobs.get(f"{self.setting.teams[work.team].namespace}/{work.name}")
            return [] if job is None else [job]
        return [job for job in self.jobs.values() if job.work is work]

    def _forget(self, job: Job) -> None:
        self.state = self.state.with_workloads({key: None for key in (job.granted, job.asked) if key})
        for key in (job.granted, job.asked):
            self.owners.pop(key or "", None)
        self.jobs.pop(job.key, None)
        self.untold.pop(job.key, None)
        self.releasing.pop(job.key, None)
        self._changed()

    def node(self, name: str, now: float, *, up: bool) -> None:
        """A node is lost, or back: Kueue's quota is as it was."""
        self.binder.node(name, now, up=up)

    def _put(self, job: Job, workload: Workload) -> str:
        self.state = self.state.with_workloads({workload.key: workload})
        self.owners[workload.key] = job.key
        self._changed()
        return workload.key

    def _changed(self) -> None:
        self.dirty = True
        if self.controller is not None:
            self.controller.hears()

    def _starts(self, start: Start, now: float) -> None:
        job = self.jobs[self.pods[start.pod]]
        job.pods[start.pod] = now
        self.held[start.pod] = start.node, start.devices
        self.room.take(job.work, start.node, start.devices)

    # -- rounds -----------------------------------------------------------------------------------------

    def due(self, now: float) -> float | None:
        """When the next cycle, look or round of whoever places is due."""
        times = [*self.releasing.values()]
        if self.orders:
            times.append(now)
        if self.dirty:
            times.append(max(now, self.next_cycle))
        elif self.controller is not None and self.controller.next is not None:
            times.append(max(now, self.controller.next))
        times += [look.at for look in self.memory.second.values()]
        placing = self.binder.due(now)
        if placing is not None:
            times.append(placing)
        return min(times, default=None)

    def round(self, now: float) -> Sequence[Order]:
        """Everything that is due: quota that is free again, cycles, the controller, and placing."""
        for key in [key for key, at in self.releasing.items() if at <= now]:
            self._release(self.jobs[key])
        looks = any(look.at <= now for look in self.memory.second.values())
        if (self.dirty or looks) and self.next_cycle <= now:
            self._cycles(now)
        controller = self.controller
        if (
            controller is not None
            and not self.dirty
            and controller.next is not None
            and controller.next <= now
        ):
            for move in controller.look(now):
                self._move(move, now)
        placing = self.binder.due(now)
        if placing is not None and placing <= now:
            self._take(self.binder.round(now), now)
        orders, self.orders = self.orders, []
        return orders

    def _take(self, orders: Iterable[Order], now: float) -> None:
        for order in orders:
            if isinstance(order, Start):
                self._starts(order, now)
            self.orders.append(order)

    def _release(self, job: Job) -> None:
        """Quota of an evicted Job is free."""
        self.releasing.pop(job.key, None)
        if job.granted is None:
            return
        job.asked, job.granted, job.evicted, job.admitted = job.granted, None, None, 0
        workload = released(self.state.workloads[job.asked])
        spare = with_done(workload, job.left) if job.work.kind is Kind.CAMPAIGN else workload
        self._put(job, spare)

    def _cycles(self, now: float) -> None:
        """Cycles until so many are admitted as may be in the time, or nothing new is said."""
        room = max(1, int(self.pace.kueue_rate * self.pace.coarse))
        let_in = 0
        seen: set[frozenset[tuple[str, str]]] = set()
        for _ in range(MOST_CYCLES):
            decisions, self.memory = decide(self.state, self.memory, now)
            if not decisions:
                self.dirty = False
                break
            self.state = applied(self.state, decisions, now)
            moved = self._carry_out(decisions, now)
            if not moved:
                told = frozenset((each.workload, getattr(each, "message", "")) for each in decisions)
                if told in seen:
                    self.dirty = False
                    break
                seen.add(told)
                continue
            seen.clear()
            let_in += moved
            if let_in >= room:
                break
        self.next_cycle = now if not let_in else max(self.next_cycle, now) + let_in / self.pace.kueue_rate
        if not self.dirty:
            self._tell_alike()

    def _carry_out(self, decisions: Iterable[Decision], now: float) -> int:
        """What the loop is told of them; how many moved anything."""
        moved = 0
        for each in decisions:
            if isinstance(each, Admitted):
                self._admit(each, now)
                moved += 1
            elif isinstance(each, Evicted):
                self._evict(each, now)
                moved += 1
            elif isinstance(each, Waits):
                self._wait(each)
        if moved and self.controller is not None:
            self.controller.hears()
        return moved

    def _admit(self, decision: Admitted, now: float) -> None:
        job = self.jobs[self.owners[decision.workload]]
        if not decision.complete:
            self.said[CHECKED] = None
            workload = self.state.workloads[decision.workload]
            self.state = self.state.with_workloads({workload.key: replace(workload, admitted=True)})
        if decision.replaces is not None:
            self.state = self.state.with_workloads({decision.replaces: None})
            self.owners.pop(decision.replaces, None)
        job.granted, job.asked = decision.workload, None
        job.admitted = sum(given.count for given in decision.admission.pod_sets)
        job.width = job.admitted if job.elastic else job.width
        job.evicted, job.refused = None, 0
        self.untold.pop(job.key, None)
        self.told.pop(job.work.name, None)
        if job.work.kind is Kind.FLEET:
            (pod,) = job.pods
            self.gated.discard(pod)
            self.binder.created([pod], now)
            return
        pods = min(job.admitted, job.left) if job.work.kind is Kind.CAMPAIGN else job.admitted
        message = f"Quota reserved in ClusterQueue {decision.admission.cluster_queue}"
        self.orders.append(MayRun(job.work.name, pods, reason="Admitted", message=message))

    def _evict(self, decision: Evicted, now: float) -> None:
        job = self.jobs[self.owners[decision.workload]]
        by = self.jobs.get(self.owners.get(decision.by or "", ""))
        whom = "" if by is None else by.work.name
        why = str(decision.cause or decision.reason)
        if job.grows:
            self.take_back(job, now)
        job.evicted, job.came_back = now, True
        if job.work.kind is not Kind.FLEET:
            self.orders.append(MayRun(job.work.name, 0, whom, why, decision.message))
        for pod, since in job.pods.items():
            if since is not None and pod not in job.leaving:
                job.leaving.add(pod)
                self.orders.append(Stop(pod, whom, why, decision.message))
        if job.work.kind is Kind.FLEET:
            self._gate_again(job, now)
        elif not job.pods:
            self.releasing[job.key] = now
        elif self.pace.kueue_release is not None:
            self.releasing[job.key] = now + self.pace.kueue_release

    def _gate_again(self, job: Job, now: float) -> None:
        """A pod of a Deployment that had no place yet waits for quota again; one that had is deleted."""
        for pod in [pod for pod, since in job.pods.items() if since is None]:
            self.binder.ended([pod], now)
            self.gated.add(pod)
            self.releasing[job.key] = now

    def _wait(self, decision: Waits) -> None:
        job = self.jobs[self.owners[decision.workload]]
        if job.granted is not None:
            return
        self.untold.pop(job.key, None)
        words = (str(decision.reason) or "Pending", decision.message)
        self.alike[self._likeness(job)] = words
        self._told(job, words)

    def _likeness(self, job: Job) -> tuple[object, ...]:
        charges = tuple(sorted(job.work.ask.charges.items()))
        return self.queue_of(job), job.shape, job.width, job.work.priority, charges

    def _tell_alike(self) -> None:
        """Those put aside with one that is like them wait for the same."""
        for key in list(self.untold):
            words = self.alike.get(self._likeness(self.jobs[key]))
            if words is not None:
                del self.untold[key]
                self._told(self.jobs[key], words)

    def _told(self, job: Job, words: tuple[str, str]) -> None:
        name = job.work.name
        if self.told.get(name) == words:
            return
        self.told[name] = words
        self.orders.append(Told(name, *words, never=words[0] in NEVER and not self._lowered(job)))

    def _lowered(self, job: Job) -> bool:
        """Whether the window controller will let it ask for less."""
        quotas = Quotas.of(self.memory)
        if self.controller is None or not job.elastic or quotas is None:
            return False
        queue = self.queue_of(job)
        costs = quotas.best(queue, job.work.ask.charges, empty=True)
        return bool(costs) and 1 <= quotas.most(queue, costs) < job.width

    def queue_of(self, job: Job) -> str:
        """The ClusterQueue of a Job; empty if its LocalQueue is not there."""
        line = self.state.local_queues.get(f"{job.key.rpartition('/')[0]}/{job.queue}")
        return "" if line is None else line.cluster_queue

    # -- the window controller --------------------------------------------------------------------------

    def _move(self, move: Move, now: float) -> None:
        job = self.jobs[move.job]
        if move.verb is Verb.TAKEN_BACK:
            self.take_back(job, now)
            return
        job.stepped = now
        if move.verb is Verb.GROWS:
            job.width = move.to
            job.asked = self._put(job, job.workload(job.next_name(), move.to, now, job.granted))
            return
        key = job.granted or job.asked or ""
        self._put(job, resized(self.state.workloads[key], move.to))
        job.width = move.to
        if move.verb is Verb.SHRINKS:
            self._shrink(job, move)

    def take_back(self, job: Job, now: float) -> None:
        """A growth that was not granted is not asked for any more, for a while."""
        pace = self.setting.window
        if job.asked is not None:
            self.state = self.state.with_workloads({job.asked: None})
            self.owners.pop(job.asked, None)
        job.asked, job.width, job.stepped = None, job.admitted, now
        job.refused += 1
        if pace is not None:
            job.paused = now + min(pace.longest_pause, pace.pause * 2.0 ** min(job.refused - 1, 10))
        self._changed()

    def _shrink(self, job: Job, move: Move) -> None:
        job.admitted = move.to
        self.orders.append(MayRun(job.work.name, move.to, move.by, "shrinks", move.why))
        for pod in job.youngest(job.placed - move.to):
            job.leaving.add(pod)
            end = End.RECLAIMED if move.by else End.SHRUNK
            self.orders.append(Stop(pod, move.by, "shrinks", move.why, end))

    def notes(self) -> Sequence[str]:
        """What is not played."""
        return (*self.said, *self.binder.notes())


def _open(work: Work) -> int:
    """How many indexes have anything left to do."""
    units, pack = work.units, max(1, work.pack)
    if work.kind is not Kind.CAMPAIGN:
        return work.most
    return sum(
        any(unit.done < unit.pages for unit in units[first : first + pack])
        for first in range(0, len(units), pack)
    )


def _width(work: Work, indexes: int) -> int:
    """How wide a new Job is: at its least if it may grow, else whole."""
    if work.kind is not Kind.CAMPAIGN:
        return work.most
    return max(1, min(work.least, work.most, indexes))


def _suits(state: State, flavor: str, labels: Mapping[str, str]) -> bool:
    known = state.flavors.get(flavor)
    return known is not None and all(labels.get(key) == value for key, value in known.labels.items())
