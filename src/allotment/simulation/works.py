"""Works from their arrival to their end, as the Job controller sees to them and a scheduler speaks of them.

The adapter hears of everything of one moment in one go and in a fixed order, and the pods that may then exist
are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.simulation.adapters.adapter import Adapter, MayRun, PodId, Start, Waits
from allotment.simulation.agenda import Agenda, News, What
from allotment.simulation.jobs import Job
from allotment.simulation.outcome import Decided, End
from allotment.simulation.pods import Pods
from allotment.simulation.record import Record
from allotment.simulation.work import Kind, Work

NOT_LOOKED_AT: Final = "Pending"


class Works:
    """All works. ``unfinished`` are those that can end and have not, whether they have arrived or not."""

    def __init__(
        self,
        works: Sequence[Work],
        *,
        adapter: Adapter,
        pods: Pods,
        agenda: Agenda,
        news: News,
        record: Record,
    ) -> None:
        self.adapter, self.pods, self.agenda, self.news, self.record = adapter, pods, agenda, news, record
        self.unfinished = sum(work.kind is not Kind.FLEET for work in works)
        self.coming = len(works)
        for work in sorted(works, key=lambda each: each.arrival):
            agenda.at(max(work.arrival, 0.0), What.ARRIVAL, work)

    def tell(self) -> None:
        """Let the adapter know what has happened, and make the pods that are to be made."""
        news, now, adapter = self.news, self.agenda.now, self.adapter
        while news.any:
            if news.ended:
                ended, news.ended = news.ended, []
                adapter.ended(ended, now)
            for name, up in news.nodes:
                adapter.node(name, now, up=up)
            news.nodes.clear()
            touched, news.touched = news.touched, {}
            for job in touched.values():
                self._left(job)
            arrivals, news.arrivals = news.arrivals, []
            for job in arrivals:
                self._hand_in(job)
            making, news.making = news.making, {}
            made = [pod for job in making.values() for pod in self._make(job)]
            if made:
                adapter.created(made, now)
        if news.readied:
            readied, news.readied = news.readied, []
            adapter.ready(readied, now)

    def arrives(self, work: Work) -> None:
        """A work is handed in."""
        job = self.pods.jobs[work.name] = Job(work)
        self.coming -= 1
        self.news.arrivals.append(job)
        if work.ends is not None:
            self.agenda.at(max(work.ends, self.agenda.now), What.OVER, job)

    def _hand_in(self, job: Job) -> None:
        work = job.work
        if job.over:
            job.finished = self.agenda.now
            self.unfinished -= 1
            return
        job.allowed = self.adapter.arrived(work, self.agenda.now)
        starts = [Start(job.stands(each.number), each.node, each.devices) for each in work.running]
        if starts:
            self.adapter.placed(starts, self.agenda.now)
            for each, running in zip(starts, work.running, strict=True):
                self.pods.stands(job, each, min(running.since, self.agenda.now))
        self.news.making[work.name] = job

    def _make(self, job: Job) -> list[PodId]:
        if job.finished is not None:
            return []
        self.news.ended += job.surplus()
        made = job.make()
        if job.waiting:
            known = self.record.waiting.get(job.work.name)
            if known is None and (made or not job.existing):
                told = "the scheduler has not looked at it yet"
                self.record.waits_for(job.work.name, NOT_LOOKED_AT, told, self.agenda.now, job.waiting)
        return made

    def _left(self, job: Job) -> None:
        if job.finished is not None:
            return
        if job.over and job.work.kind is Kind.GANG:
            self.ends(job)  # with pods that got a node after it was through, and before its Job was seen to
        elif job.over:
            self._finish(job)
        else:
            job.allowed = self.adapter.left(job.work.name, job.open_indexes, self.agenda.now)

    def _finish(self, job: Job) -> None:
        job.finished = self.agenda.now
        job.existing -= len(job.pending)
        if job.pending:
            self.adapter.ended(list(job.pending), self.agenda.now)
            job.pending.clear()
        self.record.waits_no_more(job.work.name, self.agenda.now)
        self.adapter.finished(job.work.name, self.agenda.now)
        if job.work.kind is not Kind.FLEET:
            self.unfinished -= 1

    def ends(self, job: Job) -> None:
        """A work is taken away at its time, however far it is."""
        if job.finished is not None:
            return
        for run in list(job.runs.values()):
            self.pods.end(run, End.COMPLETE)
        if self.news.ended:
            ended, self.news.ended = self.news.ended, []
            self.adapter.ended(ended, self.agenda.now)
        self._finish(job)

    def may_run(self, order: MayRun) -> None:
        """More or fewer pods of a work may exist."""
        job = self.pods.jobs[order.work]
        before, job.allowed = job.allowed, order.pods
        if job.finished is not None:
            return
        self.news.making[order.work] = job
        if order.pods == before:
            return
        what = _words(before, order.pods)
        self.record.decided(
            Decided(
                self.agenda.now, what, order.work, by=order.by, reason=order.reason, message=order.message
            )
        )
        if order.pods > before:
            self.record.waits_no_more(order.work, self.agenda.now)

    def waits(self, order: Waits) -> None:
        """A work gets no more now."""
        job = self.pods.jobs[order.work]
        if job.finished is not None:
            return
        job.never = order.message if order.never else ""
        waiting = max(job.waiting, 1)
        if self.record.waits_for(order.work, order.reason, order.message, self.agenda.now, waiting):
            self.record.decided(
                Decided(self.agenda.now, "waits", order.work, reason=order.reason, message=order.message)
            )


def _words(before: int, after: int) -> str:
    """What a change of how many pods may exist is called."""
    if after > before:
        return "grown" if before else "admitted"
    return "shrunk" if after else "evicted"
