"""Kueue over work on virtual time: its model admits Jobs, and another adapter places their pods.

Cycle after cycle is that of ``scheduling.kueue.decide``, as many as are decided in a second by Kueue's own
measure, until nothing new is said. A Job that is evicted loses all of its pods, and its quota is free before
their devices are. Beside Kueue runs the window controller, if the setting has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from allotment.scheduling.default import Lot, Ties
from allotment.simulation.adapters import default
from allotment.simulation.adapters.adapter import Adapter, MayRun, Order, PodId, Start, Stop
from allotment.simulation.adapters.kueue_cycles import Cycles
from allotment.simulation.adapters.kueue_jobs import Job, resized, with_done
from allotment.simulation.adapters.kueue_ledger import Ledger
from allotment.simulation.adapters.widths import least_of, open_indexes
from allotment.simulation.adapters.windows import Move, Verb
from allotment.simulation.outcome import End
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work


def adapter(setting: Setting, works: Sequence[Work] = (), ties: Ties | Lot = Ties.FIRST) -> KueueAdapter:
    """The adapter for a setting: the default scheduler places what Kueue admits."""
    return KueueAdapter(setting, works, default.adapter(setting, ties, alike=True))


class KueueAdapter:
    """Kueue's model in front of whoever places pods."""

    def __init__(self, setting: Setting, works: Sequence[Work], binder: Adapter) -> None:
        self.setting, self.binder = setting, binder
        self.ledger = Ledger(setting, works)
        self.cycles = Cycles(self.ledger, binder)
        self.heeds_ready = binder.heeds_ready or setting.kueue.block_admission

    def arrived(self, work: Work, now: float) -> int:
        """The Job is made, suspended; a Deployment has its pods, gated."""
        ledger = self.ledger
        ledger.works[work.name] = work
        self.binder.arrived(work, now)
        if work.kind is Kind.FLEET:
            return work.most
        since = min(now, work.arrival)
        ledger.make(work, ledger.key_of(work), least_of(work, open_indexes(work)), now, since)
        return 0

    def placed(self, starts: Sequence[Start], now: float) -> None:
        """Pods that run already."""
        ledger = self.ledger
        self.binder.placed(starts, now)
        by_work: dict[str, list[Start]] = {}
        for start in starts:
            by_work.setdefault(start.pod.work, []).append(start)
        for name, each in by_work.items():
            work = ledger.works[name]
            if work.kind is not Kind.FLEET:
                ledger.stands(ledger.job_of(work), each, now)
                continue
            for start in each:
                ledger.stands(ledger.make(work, ledger.pod_key(start.pod), 1, now), [start], now)

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """Pods of admitted Jobs go to be placed; those of a Deployment get a Workload each."""
        ledger, ready = self.ledger, []
        for pod in pods:
            work = ledger.works[pod.work]
            if work.kind is Kind.FLEET:
                job = ledger.make(work, ledger.pod_key(pod), 1, now)
                ledger.gated.add(pod)
            else:
                job = ledger.job_of(work)
                ready.append(pod)
            ledger.pods[pod] = job.key
            job.pods[pod] = None
        if ready:
            self.binder.created(ready, now)

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        """Pods run; a Job all of whose pods do holds up nobody any more."""
        ledger, pods = self.ledger, list(pods)
        self.binder.ready(pods, now)
        for pod in pods if self.setting.kueue.block_admission else ():
            job = ledger.jobs[ledger.pods[pod]]
            job.ready += 1
            if job.granted is not None and job.ready >= job.admitted:
                ledger.put(job, replace(ledger.state.workloads[job.granted], pods_ready=True))

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        """Pods are gone."""
        ledger, known = self.ledger, []
        for pod in pods:
            job = ledger.jobs.get(ledger.pods.pop(pod, ""))
            node, devices = ledger.held.pop(pod, ("", ()))
            if node:
                ledger.room.take(ledger.works[pod.work], node, devices, -1)
            if pod in ledger.gated:
                ledger.gated.discard(pod)
            else:
                known.append(pod)
            if job is not None:
                self._gone(job, pod, now)
        if known:
            self.binder.ended(known, now)

    def _gone(self, job: Job, pod: PodId, now: float) -> None:
        job.pods.pop(pod, None)
        job.leaving.discard(pod)
        if job.work.kind is Kind.FLEET:
            self.ledger.forget(job)
        elif job.evicted is not None and not job.pods:
            self.ledger.releasing[job.key] = now

    def left(self, work: str, units: int, now: float) -> int:
        """Quota is given back for pods that are not needed any more (``reclaimablePods``)."""
        ledger = self.ledger
        self.binder.left(work, units, now)
        known = ledger.works[work]
        if known.kind is Kind.FLEET:
            return known.most
        job = ledger.job_of(known)
        if known.kind is Kind.CAMPAIGN:
            job.left = units
            if units < job.width:
                self._runs_out(job, now)
        return min(job.admitted, units) if job.evicted is None else 0

    def _runs_out(self, job: Job, now: float) -> None:
        job.reclaimed = True
        if job.grows:
            self.ledger.take_back(job, now)
        key = job.granted or job.asked
        if key is not None:
            self.ledger.put(job, with_done(self.ledger.state.workloads[key], job.left))

    def finished(self, work: str, now: float) -> None:
        """The work is over."""
        ledger = self.ledger
        self.binder.finished(work, now)
        known = ledger.works.pop(work)
        if known.kind is Kind.FLEET:
            mine = [job for job in ledger.jobs.values() if job.work is known]
        else:
            mine = [ledger.job_of(known)]
        for job in mine:
            ledger.forget(job)
        self.cycles.told.pop(work, None)

    def node(self, name: str, now: float, *, up: bool) -> None:
        """A node is lost, or back: Kueue's quota is as it was."""
        self.binder.node(name, now, up=up)

    def due(self, now: float) -> float | None:
        """When the next cycle, look or round of whoever places is due."""
        ledger = self.ledger
        times = [*ledger.releasing.values(), *(look.at for look in ledger.memory.second.values())]
        if ledger.orders:
            times.append(now)
        if ledger.dirty:
            times.append(max(now, self.cycles.next))
        elif ledger.controller is not None and ledger.controller.next is not None:
            times.append(max(now, ledger.controller.next))
        placing = self.binder.due(now)
        if placing is not None:
            times.append(placing)
        return min(times, default=None)

    def round(self, now: float) -> Sequence[Order]:
        """Everything that is due: quota that is free again, cycles, the controller, and placing."""
        ledger = self.ledger
        for key in [key for key, at in ledger.releasing.items() if at <= now]:
            ledger.release(ledger.jobs[key])
        looks = any(look.at <= now for look in ledger.memory.second.values())
        if (ledger.dirty or looks) and self.cycles.next <= now:
            self.cycles.run(now)
        controller = ledger.controller
        if controller is not None and not ledger.dirty and controller.is_due(now):
            for move in controller.look(now):
                self._move(move, now)
        placing = self.binder.due(now)
        if not ledger.orders and placing is not None and placing <= now:  # pods may have to go first
            for order in self.binder.round(now):
                if isinstance(order, Start):
                    ledger.starts(order, now)
                ledger.orders.append(order)
        orders, ledger.orders = ledger.orders, []
        return orders

    def _move(self, move: Move, now: float) -> None:
        """The window controller moves a Job's width."""
        ledger = self.ledger
        job = ledger.jobs[move.job]
        if move.verb is Verb.TAKEN_BACK:
            ledger.take_back(job, now)
            return
        job.stepped, job.width = now, move.to
        if move.verb is Verb.GROWS:
            job.asked = ledger.put(job, job.workload(job.next_name(), move.to, now, job.granted))
            return
        ledger.put(job, resized(ledger.state.workloads[job.granted or job.asked or ""], move.to))
        if move.verb is Verb.SHRINKS:
            self._shrink(job, move)

    def _shrink(self, job: Job, move: Move) -> None:
        orders, job.admitted = self.ledger.orders, move.to
        orders.append(MayRun(job.work.name, move.to, move.by, "shrinks", move.why))
        for pod in job.youngest(job.placed - move.to):
            job.leaving.add(pod)
            end = End.RECLAIMED if move.by else End.SHRUNK
            orders.append(Stop(pod, move.by, "shrinks", move.why, end, by_its_job=True))

    def notes(self) -> Sequence[str]:
        """What is not played."""
        return (*self.cycles.said, *self.binder.notes())
