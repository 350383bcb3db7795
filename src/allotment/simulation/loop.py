"""The events of a simulation, and what each of them changes.

At one moment first everything is taken in that happens then; the adapter hears of it in one go, pods are
made, and then it decides for as long as it wants to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from math import inf, log1p
from typing import Any, Final

from allotment.simulation.adapters.adapter import Adapter, MayRun, Order, PodId, Start, Stop, Waits
from allotment.simulation.draws import Draws
from allotment.simulation.gangs import Gangs
from allotment.simulation.jobs import Job
from allotment.simulation.machines import Kubelet, gpus_by_kind, kind_of, node_names
from allotment.simulation.outcome import Decided, End, Outcome, Span, WorkEnd
from allotment.simulation.pages import Fate, Pages
from allotment.simulation.record import Record
from allotment.simulation.run_times import RunTimes
from allotment.simulation.runs import FOREVER, Run, Settled, page_in_work, settle, so_far
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work

NOT_LOOKED_AT: Final = "Pending"
HOUR: Final = 3600.0
_ROUNDS: Final = 10_000  # at one moment; more would be going round in a circle
_IDLE: Final = 3600.0  # after so long without an event, a scheduler that tries again will not do otherwise
_TAKEN: Final = frozenset({End.RECLAIMED, End.NODE_LOST, End.SHRUNK})
_CLOSE: Final = 1e-6


class _What(IntEnum):
    """What happens, in the order in which it is taken in at one moment."""

    END = 0
    GANG = 1
    NODE = 2
    OVER = 3
    ARRIVAL = 4
    RETRY = 5
    READY = 6


class Loop:
    """One simulation under way."""

    def __init__(
        self,
        *,
        setting: Setting,
        works: Sequence[Work],
        run_times: RunTimes,
        draws: Draws,
        until: float,
        log: int,
        adapter: Adapter,
    ) -> None:
        self.setting, self.works, self.draws, self.until, self.adapter = setting, works, draws, until, adapter
        self.now = 0.0
        self.record = Record(log)
        self.kubelet = Kubelet.of(setting)
        self.pages = Pages(run_times, draws, setting.chances)
        self.gangs = Gangs(self.pages, setting.pace.model_load, self._gang_at)
        self.jobs: dict[str, Job] = {}
        self.heap: list[tuple[float, int, int, Any]] = []
        self.numbers = count()
        self.last = -inf
        self.unfinished = sum(work.kind is not Kind.FLEET for work in works)
        self.ending = bool(self.unfinished)
        self.coming = len(works)
        self.ended: list[PodId] = []
        self.readied: list[PodId] = []
        self.nodes: list[tuple[str, bool]] = []
        self.arrivals: list[Job] = []
        self.touched: dict[str, Job] = {}
        self.making: dict[str, Job] = {}
        self.handlers: Mapping[int, Callable[[Any], None]] = {
            _What.END: self._due,
            _What.GANG: self._gang_over,
            _What.NODE: self._node,
            _What.OVER: self._work_ends,
            _What.ARRIVAL: self._arrives,
            _What.RETRY: self._retries,
            _What.READY: self._ready,
        }
        self.carry: Mapping[type, Callable[[Any], None]] = {
            Start: self._start,
            Stop: self._stop,
            MayRun: self._may_run,
            Waits: self._waits,
        }

    def play(self) -> Outcome:
        """The whole course."""
        for work in self.works:
            self._at(max(work.arrival, 0.0), _What.ARRIVAL, work)
        if self.setting.chances.node_lost_per_hour > 0:
            for name in node_names(self.setting):
                self._next_loss(name, 0)
        due, since = inf, 0.0
        while not (self.ending and not self.unfinished and not self.coming):
            idle = not self.heap
            now = min(self.heap[0][0] if self.heap else inf, due)
            if now > self.until or now == inf or (idle and now - since > _IDLE):
                break
            self.now = now
            self._take_in()
            self._tell()
            due, changed = self._rounds()
            since = now if changed or not idle else since
        return self._closed()

    def _at(self, time: float, what: _What, payload: object) -> None:
        heappush(self.heap, (time, what, next(self.numbers), payload))

    def _take_in(self) -> None:
        heap, now, handlers = self.heap, self.now, self.handlers
        while heap and heap[0][0] <= now:
            _time, what, _number, payload = heappop(heap)
            handlers[what](payload)

    def _tell(self) -> None:
        """Let the adapter know, and make the pods that are to be made."""
        now, adapter = self.now, self.adapter
        while self.ended or self.nodes or self.touched or self.arrivals or self.making:
            if self.ended:
                ended, self.ended = self.ended, []
                adapter.ended(ended, now)
            for name, up in self.nodes:
                adapter.node(name, now, up=up)
            self.nodes.clear()
            touched, self.touched = self.touched, {}
            for job in touched.values():
                self._left(job)
            arrivals, self.arrivals = self.arrivals, []
            for job in arrivals:
                self._hand_in(job)
            making, self.making = self.making, {}
            made = [pod for job in making.values() for pod in self._make(job)]
            if made:
                adapter.created(made, now)
        if self.readied:
            readied, self.readied = self.readied, []
            adapter.ready(readied, now)

    def _rounds(self) -> tuple[float, bool]:
        """Let the adapter decide; when it wants to again, and whether it changed anything."""
        now, changed = self.now, False
        for _ in range(_ROUNDS):
            due = self.adapter.due(now)
            if due is None:
                return inf, changed
            if self.last < now:  # rounds at one moment are one
                due = max(due, self.last + self.setting.pace.coarse)
            if due > now:
                return due, changed
            orders = self.adapter.round(now)
            self.last = now
            for order in orders:
                self._carry_out(order)
                changed = changed or not isinstance(order, Waits)
            self._take_in()
            self._tell()
        raise RuntimeError(f"the scheduler {self.setting.scheduler} goes round in a circle at {now} s")

    def _carry_out(self, order: Order) -> None:
        self.carry[type(order)](order)

    # -- works ------------------------------------------------------------------------------------------

    def _arrives(self, work: Work) -> None:
        job = self.jobs[work.name] = Job(work)
        self.coming -= 1
        self.arrivals.append(job)
        if work.ends is not None:
            self._at(max(work.ends, self.now), _What.OVER, job)

    def _hand_in(self, job: Job) -> None:
        work = job.work
        if job.over:
            job.finished = self.now
            self.unfinished -= 1
            return
        job.allowed = self.adapter.arrived(work, self.now)
        starts = [Start(job.stands(each.number), each.node, each.devices) for each in work.running]
        if starts:
            self.adapter.placed(starts, self.now)
            for each in starts:
                self._stands(job, each)
        self.making[work.name] = job

    def _make(self, job: Job) -> list[PodId]:
        if job.finished is not None:
            return []
        self.ended += job.surplus()
        made = job.make()
        if job.waiting:
            known = self.record.waiting.get(job.work.name)
            if known is None and (made or not job.existing):
                told = "the scheduler has not looked at it yet"
                self.record.waits_for(job.work.name, NOT_LOOKED_AT, told, self.now, job.waiting)
        return made

    def _left(self, job: Job) -> None:
        if job.finished is not None:
            return
        if job.over:
            self._finish(job)
        else:
            job.allowed = self.adapter.left(job.work.name, job.open_indexes, self.now)

    def _finish(self, job: Job) -> None:
        job.finished = self.now
        job.existing -= len(job.pending)
        if job.pending:
            self.adapter.ended(list(job.pending), self.now)
            job.pending.clear()
        self.record.waits_no_more(job.work.name, self.now)
        self.adapter.finished(job.work.name, self.now)
        if job.work.kind is not Kind.FLEET:
            self.unfinished -= 1

    def _work_ends(self, job: Job) -> None:
        """A work is taken away at its time, however far it is."""
        if job.finished is not None:
            return
        for run in list(job.runs.values()):
            self._end(run, End.COMPLETE)
        if self.ended:
            ended, self.ended = self.ended, []
            self.adapter.ended(ended, self.now)
        self._finish(job)

    def _retries(self, payload: tuple[Job, int]) -> None:
        job, index = payload
        job.replace(index)
        self.making[job.work.name] = job

    # -- pods -------------------------------------------------------------------------------------------

    def _stands(self, job: Job, start: Start) -> None:
        """A pod runs already; its page in work is done in part."""
        self.kubelet.stands(job.work, start.node, start.devices)
        run = self._run(job, start, self.now, self.now)
        if run.stretches:
            first = run.stretches[0]
            run.began -= self.pages.spent(job.work, start.pod.number, first, run.card)
            run.version += 1
            self._until_end(run, self.now)
        job.started = self.now if job.work.kind is not Kind.GANG else job.started
        if job.work.kind is Kind.GANG:
            self.gangs.ready(run, self.now, spent=True)

    def _start(self, order: Start) -> None:
        pod = order.pod
        job = self.jobs[pod.work]
        del job.pending[pod]
        if not self.record.full:
            self.record.decided(
                Decided(
                    self.now, "started", pod.work, pod.number, order.node, order.devices, "", order.reason
                )
            )
        job.never = ""
        if not job.pending:
            self.record.waits_no_more(pod.work, self.now)
        card = kind_of(self.setting, order.node, order.devices)
        begun = self.kubelet.start(job.work, order.node, order.devices, self.now)
        load = self.pages.load(job.work, pod.number, pod.attempt, card, self.setting.pace.model_load)
        run = self._run(job, order, begun, begun + load)
        self._at(run.ready, _What.READY, run)

    def _run(self, job: Job, start: Start, begun: float, ready: float) -> Run:
        card = kind_of(self.setting, start.node, start.devices)
        run = Run(start.pod, job, start.node, start.devices, card, self.now, ready, ready)
        job.runs[start.pod] = run
        if job.work.kind is Kind.CAMPAIGN:
            for unit in job.open_units(start.pod.number):
                done, failures = job.done.get(unit, 0), job.failures.get(unit, 0)
                run.stretches.append(self.pages.stretch(job.work, unit, done, card, failures))
            self._until_end(run, begun)
        return run

    def _until_end(self, run: Run, begun: float) -> None:
        run.due, run.end = run.whole, End.COMPLETE
        deadline = begun + run.job.work.max_seconds
        if deadline < run.due:
            run.due, run.end = deadline, End.FAILED
        self._at(run.due, _What.END, (run, run.version))

    def _ready(self, run: Run) -> None:
        job = run.job
        if job.runs.get(run.pod) is not run or run.stopping:
            return
        self.readied.append(run.pod)
        if job.work.kind is Kind.GANG:
            self.gangs.ready(run, self.now)
        elif job.started is None:
            job.started = self.now

    def _stop(self, order: Stop) -> None:
        pod = order.pod
        run = self.jobs[pod.work].runs.get(pod)
        what = "shrunk" if order.end is End.SHRUNK else "reclaimed"
        if run is None or run.stopping:
            return
        self.record.decided(
            Decided(
                self.now,
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
        if leaves >= run.due - _CLOSE:
            return
        run.version += 1
        run.due, run.end = leaves, order.end
        self._at(leaves, _What.END, (run, run.version))

    def _leaves(self, run: Run) -> float:
        """When a pod goes that is told to: after the page in work, if that ends in time."""
        kind, now = run.job.work.kind, self.now
        if kind is Kind.GANG:
            return self.gangs.leaves(run, now)
        if kind is Kind.FLEET or now < run.ready:
            return now
        return min(page_in_work(self.pages, run, now), now + run.job.work.grace)

    def _due(self, payload: tuple[Run, int]) -> None:
        run, version = payload
        if run.version == version and run.job.runs.get(run.pod) is run:
            self._end(run, run.end)

    def _end(self, run: Run, end: End, settled: Settled | None = None) -> None:
        """A pod is gone."""
        job, pod, now = run.job, run.pod, self.now
        del job.runs[pod]
        job.existing -= 1
        self.kubelet.gone(run.devices)
        self.ended.append(pod)
        self.making[pod.work] = job
        left = job.left
        if settled is None and job.work.kind is Kind.GANG:
            settled = self.gangs.lost(run, now)
        elif settled is None:
            settled, end = self._settled(run, end)
        self._write(run, end, settled)
        if end in _TAKEN:
            job.reclaimed(pod.number, settled.pages)
        if end is End.FAILED and job.is_open(pod.number) and not job.over:
            self._at(now + self._back_off(job, pod.number), _What.RETRY, (job, pod.number))
        elif not job.over:
            job.replace(pod.number)
        if job.left != left or job.over:
            self.touched[pod.work] = job

    def _settled(self, run: Run, end: End) -> tuple[Settled, End]:
        """What came of a pod that had units of its own, and how it counts."""
        job = run.job
        if job.work.kind is Kind.FLEET:
            return Settled(), end
        settled = settle(self.pages, run, self.now, by_failure=end is End.FAILED)
        if end is End.FAILED and not settled.stumbled:
            for unit in job.open_units(run.pod.number)[:1]:
                job.stumbles(unit)
        through = self.now >= run.whole
        if through:
            bad = settled.stumbled or any(each.fate is not Fate.COMPLETE for each in run.stretches)
            end = End.FAILED if bad else End.COMPLETE
        return settled, end

    def _back_off(self, job: Job, index: int) -> float:
        pace = self.setting.pace
        units = job.units_of(index) if job.work.kind is Kind.CAMPAIGN else range(1)
        times = max((job.failures.get(unit, 0) for unit in units), default=1)
        return min(pace.retry_wait * 2.0 ** min(max(times - 1, 0), 30), pace.retry_longest)

    def _write(self, run: Run, end: End, settled: Settled, at: float | None = None) -> None:
        work, pod = run.job.work, run.pod
        ended = self.now if at is None else at
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
            )
        )

    # -- gangs ------------------------------------------------------------------------------------------

    def _gang_at(self, due: float, job: Job, version: int) -> None:
        self._at(due, _What.GANG, (job, version))

    def _gang_over(self, payload: tuple[Job, int]) -> None:
        job, version = payload
        over = self.gangs.over(job, version, self.now)
        if over is None:
            return
        end, settled = over
        for run in sorted(job.runs.values(), key=lambda each: each.pod):
            self._end(run, end, settled)
            settled = Settled()

    # -- what the scheduler says ------------------------------------------------------------------------

    def _may_run(self, order: MayRun) -> None:
        job = self.jobs[order.work]
        before, job.allowed = job.allowed, order.pods
        if job.finished is not None:
            return
        self.making[order.work] = job
        if order.pods == before:
            return
        what = _words(before, order.pods)
        self.record.decided(
            Decided(self.now, what, order.work, by=order.by, reason=order.reason, message=order.message)
        )
        if order.pods > before:
            self.record.waits_no_more(order.work, self.now)

    def _waits(self, order: Waits) -> None:
        job = self.jobs[order.work]
        if job.finished is not None:
            return
        job.never = order.message if order.never else ""
        waiting = max(job.waiting, 1)
        if self.record.waits_for(order.work, order.reason, order.message, self.now, waiting):
            self.record.decided(
                Decided(self.now, "waits", order.work, reason=order.reason, message=order.message)
            )

    # -- nodes ------------------------------------------------------------------------------------------

    def _next_loss(self, name: str, number: int) -> None:
        chances = self.setting.chances
        after = -log1p(-self.draws.number("node", name, number)) * HOUR / chances.node_lost_per_hour
        self._at(self.now + after, _What.NODE, (name, False, number))

    def _node(self, payload: tuple[str, bool, int]) -> None:
        name, up, number = payload
        self.nodes.append((name, up))
        if up:
            self._next_loss(name, number + 1)
            return
        self._at(self.now + self.setting.chances.node_back_hours * HOUR, _What.NODE, (name, True, number))
        there = [run for job in self.jobs.values() for run in job.runs.values() if run.node == name]
        for run in there:
            if run.job.runs.get(run.pod) is run:
                run.version += 1
                self._end(run, End.NODE_LOST)

    # -- the end ----------------------------------------------------------------------------------------

    def _closed(self) -> Outcome:
        until = self.until if self.until < FOREVER else self.now
        for job in self.jobs.values():
            gang = self.gangs.so_far(job, until)
            for run in job.runs.values():
                pages = gang if job.gang else so_far(self.pages, run, until)
                self._write(run, End.RUNNING, Settled(pages), until)
                gang = 0
        self.record.close(until)
        return Outcome(
            self.setting.scheduler.value,
            self.draws.seed,
            until,
            tuple(self.record.spans),
            tuple(self.record.waits),
            tuple(self.record.decisions),
            tuple(self._ended(work) for work in self.works),
            gpus_by_kind(self.setting),
            tuple(self.adapter.notes()),
        )

    def _ended(self, work: Work) -> WorkEnd:
        job = self.jobs.get(work.name)
        if job is None:
            return WorkEnd(work.name, work.team, work.arrival, None, None, left=len(work.units))
        return WorkEnd(
            work.name,
            work.team,
            work.arrival,
            job.started,
            job.finished,
            job.complete,
            job.failed,
            job.left,
            job.never,
        )


def _words(before: int, after: int) -> str:
    """What a change of how many pods may exist is called."""
    if after > before:
        return "grown" if before else "admitted"
    return "shrunk" if after else "evicted"
