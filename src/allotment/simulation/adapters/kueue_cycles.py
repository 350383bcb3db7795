"""Cycles of Kueue's model, and what the loop is told of what they decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import Final

from allotment.scheduling.kueue import Admitted, Evicted, Waits, applied, decide
from allotment.scheduling.kueue.decisions import Decision, Reason
from allotment.simulation.adapters.adapter import Adapter, MayRun, Stop
from allotment.simulation.adapters.adapter import Waits as Told
from allotment.simulation.adapters.kueue_jobs import Job
from allotment.simulation.adapters.kueue_ledger import Ledger
from allotment.simulation.work import Kind

NEVER: Final = frozenset({Reason.EXCEEDS_MAX, Reason.NO_MATCHING_FLAVOR, Reason.MISCONFIGURED})
CHECKED: Final = "admission checks are taken to be passed at once: nothing here plays who decides them"
MOST_CYCLES: Final = 100_000


class Cycles:
    """Kueue's scheduler at work on a ledger."""

    def __init__(self, ledger: Ledger, binder: Adapter) -> None:
        self.ledger, self.binder = ledger, binder
        self.next = -inf
        self.alike: dict[tuple[object, ...], tuple[str, str]] = {}
        self.told: dict[str, tuple[str, str]] = {}
        self.said: dict[str, None] = {}

    def run(self, now: float) -> None:
        """Cycles until so many are admitted as may be in the time, or nothing new is said."""
        ledger = self.ledger
        room = max(1, int(ledger.pace.kueue_rate * ledger.pace.coarse))
        let_in = 0
        seen: set[frozenset[tuple[str, str]]] = set()
        for _ in range(MOST_CYCLES):
            decisions, ledger.memory = decide(ledger.state, ledger.memory, now)
            if not decisions:
                ledger.dirty = False
                break
            ledger.state = applied(ledger.state, decisions, now)
            moved = self._carry_out(decisions, now)
            if not moved:
                told = frozenset((each.workload, getattr(each, "message", "")) for each in decisions)
                if told in seen:
                    ledger.dirty = False
                    break
                seen.add(told)
                continue
            seen.clear()
            let_in += moved
            if let_in >= room:
                break
        self.next = now if not let_in else max(self.next, now) + let_in / ledger.pace.kueue_rate
        if not ledger.dirty:
            self._tell_alike()

    def _carry_out(self, decisions: Iterable[Decision], now: float) -> int:
        """What the loop is told of them; how many moved anything."""
        ledger = self.ledger
        moved = 0
        for each in decisions:
            if isinstance(each, Admitted):
                self._admit(each, now)
                moved += 1
            elif isinstance(each, Evicted):
                self._evict(each, now)
                moved += 1
            elif isinstance(each, Waits):
                self._wait(each, now)
        if moved and ledger.controller is not None:
            ledger.controller.hears()
        return moved

    def _admit(self, decision: Admitted, now: float) -> None:
        ledger = self.ledger
        job = ledger.jobs[ledger.owners[decision.workload]]
        if not decision.complete:
            self.said[CHECKED] = None
            workload = ledger.state.workloads[decision.workload]
            ledger.state = ledger.state.with_workloads({workload.key: replace(workload, admitted=True)})
        if decision.replaces is not None:
            ledger.state = ledger.state.with_workloads({decision.replaces: None})
            ledger.owners.pop(decision.replaces, None)
        ledger.moved[decision.admission.cluster_queue] = now
        job.granted, job.asked = decision.workload, None
        job.admitted = sum(given.count for given in decision.admission.pod_sets)
        job.width = job.admitted if job.elastic else job.width
        job.evicted, job.refused = None, 0
        ledger.untold.pop(job.key, None)
        self.told.pop(job.work.name, None)
        if job.work.kind is Kind.FLEET:
            (pod,) = job.pods
            ledger.gated.discard(pod)
            self.binder.created([pod], now)
            return
        pods = min(job.admitted, job.left) if job.work.kind is Kind.CAMPAIGN else job.admitted
        message = f"Quota reserved in ClusterQueue {decision.admission.cluster_queue}"
        ledger.orders.append(MayRun(job.work.name, pods, reason="Admitted", message=message))

    def _evict(self, decision: Evicted, now: float) -> None:
        ledger = self.ledger
        job = ledger.jobs[ledger.owners[decision.workload]]
        by = ledger.jobs.get(ledger.owners.get(decision.by or "", ""))
        whom = "" if by is None else by.work.name
        why = str(decision.cause or decision.reason)
        if job.grows:
            ledger.take_back(job, now)
        job.evicted = now
        if job.work.kind is not Kind.FLEET:
            ledger.orders.append(MayRun(job.work.name, 0, whom, why, decision.message))
        for pod, since in job.pods.items():
            if since is not None and pod not in job.leaving:
                job.leaving.add(pod)
                ledger.orders.append(Stop(pod, whom, why, decision.message, by_its_job=True))
        if job.work.kind is Kind.FLEET:
            self._gate_again(job, now)
        elif not job.pods:
            ledger.releasing[job.key] = now
        elif ledger.pace.kueue_release is not None:
            ledger.releasing[job.key] = now + ledger.pace.kueue_release

    def _gate_again(self, job: Job, now: float) -> None:
        """A pod of a Deployment that had no place yet waits for quota again; one that had is deleted."""
        ledger = self.ledger
        for pod in [pod for pod, since in job.pods.items() if since is None]:
            self.binder.ended([pod], now)
            ledger.gated.add(pod)
            ledger.releasing[job.key] = now

    def _wait(self, decision: Waits, now: float) -> None:
        ledger = self.ledger
        job = ledger.jobs[ledger.owners[decision.workload]]
        if job.granted is not None:
            return
        if job.key in ledger.untold:
            del ledger.untold[job.key]
            ledger.moved[ledger.queue_of(job)] = now
        words = (str(decision.reason) or "Pending", decision.message)
        self.alike[self._likeness(job)] = words
        self._told(job, words)

    def _likeness(self, job: Job) -> tuple[object, ...]:
        charges = tuple(sorted(job.work.ask.charges.items()))
        return self.ledger.queue_of(job), job.shape, job.width, job.work.priority, charges

    def _tell_alike(self) -> None:
        """Those put aside with one that is like them wait for the same."""
        ledger = self.ledger
        for key in list(ledger.untold):
            words = self.alike.get(self._likeness(ledger.jobs[key]))
            if words is not None:
                del ledger.untold[key]
                self._told(ledger.jobs[key], words)

    def _told(self, job: Job, words: tuple[str, str]) -> None:
        ledger = self.ledger
        name = job.work.name
        if self.told.get(name) == words:
            return
        self.told[name] = words
        never = ledger.too_large(job, refused=words[0] in NEVER)
        ledger.orders.append(Told(name, *words, never=never))
