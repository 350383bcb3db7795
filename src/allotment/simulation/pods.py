"""Pods from their node on: how they start, are told to leave and end, and what comes of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.simulation.adapters.adapter import Start, Stop
from allotment.simulation.agenda import Agenda, News, What
from allotment.simulation.gangs import CLOSE, Gangs
from allotment.simulation.jobs import Job
from allotment.simulation.machines import Kubelet, kind_of
from allotment.simulation.outcome import Decided, End, Span
from allotment.simulation.pages import Fate, Pages
from allotment.simulation.record import Record
from allotment.simulation.runs import Run, Settled, page_in_work, settle
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind

_TAKEN: Final = frozenset({End.RECLAIMED, End.NODE_LOST, End.SHRUNK})


@dataclass(frozen=True, slots=True)
class Ended:
    """A pod that is gone: of which index, how and when, and whether less is left to do than before."""

    job: Job
    index: int
    end: End
    is_news: bool
    at: float


class Pods:
    """All pods that have a node. ``heeded``: somebody wants to hear of each that it is ready."""

    def __init__(
        self,
        setting: Setting,
        pages: Pages,
        agenda: Agenda,
        news: News,
        record: Record,
        *,
        heeded: bool = True,
    ) -> None:
        self.heeded = heeded
        self.setting, self.pages, self.agenda, self.news, self.record = setting, pages, agenda, news, record
        self.kubelet = Kubelet.of(setting)
        self.gangs = Gangs(pages, setting.pace.loading, self._gang_at)
        self.jobs: dict[str, Job] = {}

    def retries(self, payload: tuple[Job, int]) -> None:
        """A failure is long enough ago for another pod of the index."""
        job, index = payload
        job.replace(index)
        self.news.making[job.work.name] = job

    def stands(self, job: Job, start: Start, since: float) -> None:
        """A pod runs already; its page in work is done in part."""
        self.kubelet.stands(job.work, start.node, start.devices)
        run = self._run(job, start, self.agenda.now, self.agenda.now)
        if run.stretches:
            first = run.stretches[0]
            run.began -= self.pages.spent(
                job.work, start.pod.number, first, run.card, self._worked(run, since)
            )
            run.version += 1
            self._until_end(run, since)
        job.started = self.agenda.now if job.work.kind is not Kind.GANG else job.started
        if job.work.kind is Kind.GANG:
            self.gangs.ready(run, self.agenda.now, spent=True)

    def _worked(self, run: Run, since: float) -> float | None:
        """For how long a pod that runs already has been at its pages, if it is known when it began."""
        if since >= self.agenda.now:
            return None
        pace = self.setting.pace
        load = self.pages.load(run.job.work, run.pod.number, run.pod.attempt, run.card, pace.loading)
        return max(0.0, self.agenda.now - since - pace.pod_start - load)

    def start(self, order: Start) -> None:
        """A pod gets a node."""
        pod = order.pod
        job = self.jobs[pod.work]
        del job.pending[pod]
        if not self.record.full:
            self.record.decided(
                Decided(
                    self.agenda.now,
                    "started",
                    pod.work,
                    pod.number,
                    order.node,
                    order.devices,
                    "",
                    order.reason,
                )
            )
        job.never = ""
        if not job.pending:
            self.record.waits_no_more(pod.work, self.agenda.now)
        card = kind_of(self.setting, order.node, order.devices)
        begun = self.kubelet.start(job.work, order.node, order.devices, self.agenda.now)
        load = 0.0
        if not job.has_all_pages(pod.number):
            load = self.pages.load(job.work, pod.number, pod.attempt, card, self.setting.pace.loading)
        run = self._run(job, order, begun, begun + load)
        if self.heeded or job.started is None or job.work.kind is Kind.GANG:
            self.agenda.at(run.ready, What.READY, run)

    def _run(self, job: Job, start: Start, begun: float, ready: float) -> Run:
        card = kind_of(self.setting, start.node, start.devices)
        now = self.agenda.now
        run = Run(start.pod, job, start.node, start.devices, card, now, ready, ready, shared=start.shared)
        job.runs[start.pod] = run
        if job.work.kind is Kind.CAMPAIGN:
            for unit in job.open_units(start.pod.number):
                done, failures = job.done.get(unit, 0), job.failures.get(unit, 0)
                run.stretches.append(self.pages.stretch(job.work, unit, done, card, failures))
            self._until_end(run, begun)
        return run

    def _until_end(self, run: Run, begun: float) -> None:
        run.due, run.end = run.whole, End.COMPLETE
        deadline = max(begun + run.job.work.max_seconds, self.agenda.now)
        if deadline < run.due:
            run.due, run.end = deadline, End.FAILED
        self.agenda.at(run.due, What.END, (run, run.version))

    def ready(self, run: Run) -> None:
        """A pod begins its first page."""
        job = run.job
        if job.runs.get(run.pod) is not run or run.stopping:
            return
        self.news.readied.append(run.pod)
        if job.work.kind is Kind.GANG:
            self.gangs.ready(run, self.agenda.now)
        elif job.started is None:
            job.started = self.agenda.now

    def stop(self, order: Stop) -> None:
        """A pod is told to leave."""
        pod = order.pod
        run = self.jobs[pod.work].runs.get(pod)
        what = "shrunk" if order.end is End.SHRUNK else "reclaimed"
        if run is None or run.stopping:
            return
        self.record.decided(
            Decided(
                self.agenda.now,
                what,
                pod.work,
                pod.number,
                run.node,
                run.devices,
                order.by,
                order.reason,
                order.message,
            )
        )
        run.stopping, run.by = True, order.by
        leaves = self._leaves(run)
        if leaves >= run.due - CLOSE:
            run.unheard = order.by_its_job and run.job.work.kind is Kind.CAMPAIGN
            return
        run.version += 1
        run.due, run.end = leaves, order.end
        self.agenda.at(leaves, What.END, (run, run.version))

    def _leaves(self, run: Run) -> float:
        """When a pod goes that is told to: after the page in work, if that ends in time."""
        kind, now = run.job.work.kind, self.agenda.now
        if kind is Kind.GANG:
            return self.gangs.leaves(run, now)
        if kind is Kind.FLEET or now < run.ready:
            return now
        return min(page_in_work(self.pages, run, now), now + run.job.work.grace)

    def due(self, payload: tuple[Run, int]) -> None:
        """A pod ends, unless something came between."""
        run, version = payload
        if run.version == version and run.job.runs.get(run.pod) is run:
            self.end(run, run.end)

    def end(self, run: Run, end: End, settled: Settled | None = None) -> None:
        """A pod is gone."""
        job, pod, now = run.job, run.pod, self.agenda.now
        del job.runs[pod]
        self.kubelet.gone(run.devices)
        self.news.ended.append(pod)
        left = job.left
        if settled is None and job.work.kind is Kind.GANG:
            settled = self.gangs.lost(run, now)
        elif settled is None:
            settled, end = self._settled(run, end)
        self.write(run, end, settled)
        if end in _TAKEN:
            job.reclaimed(pod.number, settled.pages)
        ended = Ended(job, pod.number, end, job.left != left, now)
        after = self.setting.pace.job_sync
        if after > 0 and job.work.kind is not Kind.FLEET:
            job.looks = job.looks if job.looks >= now else now + after
            self.agenda.at(job.looks, What.SYNC, ended)
        else:
            self.synced(ended)

    def synced(self, ended: Ended) -> None:
        """The controller of a pod's Job has seen that it is gone."""
        job, index, now = ended.job, ended.index, self.agenda.now
        job.existing -= 1
        self.news.making[job.work.name] = job
        if ended.end is End.FAILED and job.is_open(index) and not job.over:
            self.agenda.at(max(now, ended.at + self._back_off(job, index)), What.RETRY, (job, index))
        elif not job.over:
            job.replace(index)
        if ended.is_news or job.over:
            self.news.touched[job.work.name] = job

    def lost_with(self, node: str) -> None:
        """All pods of a node are lost."""
        for run in [run for job in self.jobs.values() for run in job.runs.values() if run.node == node]:
            if run.job.runs.get(run.pod) is run:
                self.end(run, End.NODE_LOST)

    def _settled(self, run: Run, end: End) -> tuple[Settled, End]:
        """What came of a pod that had units of its own, and how it counts."""
        job = run.job
        if job.work.kind is Kind.FLEET:
            return Settled(), end
        settled = settle(self.pages, run, self.agenda.now, by_failure=end is End.FAILED)
        if end is End.FAILED and not settled.stumbled:
            for unit in job.open_units(run.pod.number)[:1]:
                job.stumbles(unit)
        through = self.agenda.now >= run.whole
        if through:
            bad = settled.stumbled or any(each.fate is not Fate.COMPLETE for each in run.stretches)
            end = End.FAILED if bad else End.COMPLETE
        return settled, end

    def _back_off(self, job: Job, index: int) -> float:
        pace = self.setting.pace
        units = job.units_of(index) if job.work.kind is Kind.CAMPAIGN else range(1)
        times = max((job.failures.get(unit, 0) for unit in units), default=1)
        return min(pace.retry_wait * 2.0 ** min(max(times - 1, 0), 30), pace.retry_longest)

    def write(self, run: Run, end: End, settled: Settled, at: float | None = None) -> None:
        """Write down a run."""
        work, pod = run.job.work, run.pod
        ended = self.agenda.now if at is None else at
        self.record.spans.append(
            Span(
                pod.work,
                work.team,
                pod.number,
                pod.attempt,
                run.node,
                run.devices,
                run.card,
                work.ask.gpus,
                run.bound,
                min(run.ready, ended),
                ended,
                end,
                settled.pages,
                settled.lost,
                run.by,
                run.shared,
            )
        )

    def _gang_at(self, due: float, job: Job, version: int) -> None:
        self.agenda.at(due, What.GANG, (job, version))

    def gang_over(self, payload: tuple[Job, int]) -> None:
        """A gang is through, unless something came between."""
        job, version = payload
        over = self.gangs.over(job, version, self.agenda.now)
        if over is None:
            return
        end, settled = over
        for run in sorted(job.runs.values(), key=lambda each: each.pod):
            self.end(run, end, settled)
            settled = Settled()
