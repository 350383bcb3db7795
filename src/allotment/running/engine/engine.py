"""The engine's loop: fill what is free, listen, end; all of it in one thread.

The one thread matters: a worker dies with the thread that started it (parent-death signal), and a
decision is taken and its devices are locked in one short turn of the machine-wide ledger. It waits in one
place, for its crew (``crew``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from allotment.errors import AllotmentError
from allotment.events.event import Event
from allotment.running.engine.bearing import Bearing
from allotment.running.engine.campaign_run import CampaignRun, Halt
from allotment.running.engine.completed import Completed
from allotment.running.engine.crew import Crew, whom_data
from allotment.running.engine.endings import ending_of
from allotment.running.engine.filling import Filler
from allotment.running.engine.preparing import Preparations, no_preparations
from allotment.running.engine.program import Program
from allotment.running.engine.programs import Programs
from allotment.running.engine.requests import Requests
from allotment.running.engine.signals import Signals
from allotment.running.engine.snapshot import Snapshot, waits_of
from allotment.running.engine.standing import IndexStanding, Standing
from allotment.running.engine.starting import Starter, start_all
from allotment.running.engine.team_lines import Unit
from allotment.running.engine.team_shares import Shown
from allotment.running.engine.team_units import units_of
from allotment.running.engine.telling import Telling
from allotment.running.engine.work import Work
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import WaitReason


@dataclass(slots=True)
class Engine:
    """Runs campaigns until each of them is finished, stopped or suspended."""

    runs: Sequence[CampaignRun]
    filler: Filler
    starter: Starter
    telling: Telling
    requests: Requests
    completed: Callable[[Work, str], Completed]
    programs: Programs = field(default_factory=Programs)
    preparations: Preparations = field(default_factory=no_preparations)
    left_behind: Callable[[Work], str] = lambda _work: ""
    signals: Signals = field(default_factory=Signals)
    crew: Crew = field(init=False)
    ending: str = ""
    _requests_heard: int = 0
    _bearing: Bearing = field(default_factory=Bearing)
    _by_name: dict[str, CampaignRun] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {run.work.campaign: run for run in self.runs}
        self.crew = Crew(self.filler.wall, self._heard)
        self.programs.tell = self._tell_of_program
        if self.filler.table is not None:
            self.filler.table.units = self._units
        self.preparations.take = self._take

    def run(self) -> None:
        """Work until nothing is left to do; afterwards each run says how it ended.

        Raises AllotmentError when the ledger or the bucket fails for good; every worker is ended first.
        """
        with self.signals as signals:
            self.crew.begin(signals)
            try:
                self._begin()
                while not self._turn(signals):
                    pass
            finally:
                self.programs.kill_all()
                self.preparations.kill_all()
                self.crew.close()
                self.telling.flush()

    @property
    def workers(self) -> Sequence[Worker]:
        """Who works on its campaigns."""
        return self.crew.workers

    def snapshot(self) -> Snapshot:
        """The engine as it stands now."""
        now = self.filler.wall()
        waits = waits_of(self.runs, self.programs.runs)
        views = tuple(run.view(now) for run in self.runs)
        programs = tuple(self.programs.runs)
        return Snapshot(now, views, tuple(self.workers), waits, self.ending, programs)

    def _begin(self) -> None:
        self.programs.begin()
        for run in self.runs:
            window = {"min": run.work.window.min, "max": run.work.window.max}
            self._tell(run, "campaign.started", volumes=len(run.work.volumes), window=window)
            if message := self.left_behind(run.work):
                self._tell(run, "warning", reason="other-recipe", message=message)
            if run.work.suspended:
                self._halt(run, Halt.SUSPENDED, "its file says `suspend: true`")

    def _turn(self, signals: Signals) -> bool:
        """One turn of the loop; returns whether everything has ended."""
        self._hear(signals)
        self._fill()
        self._end_campaigns()
        others = self.programs.ended and not self.preparations.workers
        if all(run.ended for run in self.runs) and not self.workers and others:
            self.telling.watcher.turn(self)
            return True
        self.crew.listen(signals)
        self._reap()
        self._press()
        self.telling.flush_now_and_then(self.filler.clock())
        self.telling.watcher.turn(self)
        return False

    # ---- what somebody asks of the engine

    def _hear(self, signals: Signals) -> None:
        if signals.requests > self._requests_heard:
            self._requests_heard = signals.requests
            self._interrupt(signals.last, at_once=signals.requests > 1)
        now = self.filler.clock()
        for name in self.requests.to_stop(now):
            run = self._by_name.get(name)
            if run is not None and run.over:
                self.requests.stopped(name)
            elif run is not None and run.halt is not Halt.ASKED:
                self._halt(run, Halt.ASKED, "stopped by `allot stop`")
            if self.programs.halt(name, "stopped by `allot stop`", now):
                self.requests.stopped(name)
        for name, settings in self.requests.changes(now).items():
            run = self._by_name[name]
            run.work = replace(
                run.work,
                window=settings.window,
                lane=settings.lane,
                lane_value=settings.lane_value,
                lends=settings.lends,
            )
            if settings.suspended and run.halt is None:
                self._halt(run, Halt.SUSPENDED, "its file says `suspend: true`")
            if not settings.suspended and run.halt is Halt.SUSPENDED:
                run.halt, run.ended = None, False
                self._tell(run, "campaign.started", volumes=len(run.work.volumes))

    def _interrupt(self, message: str, *, at_once: bool) -> None:
        self.ending = message
        for run in self.runs:
            if run.halt is None and not run.indexes.ended:
                self._halt(run, Halt.INTERRUPTED, message)
        self.programs.halt_all(message, self.filler.clock())
        for worker in (*self.workers, *self.programs.workers, *self.preparations.workers):
            if at_once:
                worker.kill()
            else:
                worker.ask_to_end(self.filler.clock())

    def _halt(self, run: CampaignRun, halt: Halt, message: str) -> None:
        run.halt, run.message = halt, message
        self.crew.ask_to_end(run.work.campaign, self.filler.clock())

    # ---- starting

    def _fill(self) -> None:
        active = [run for run in self.runs if run.halt is None and not run.indexes.ended]
        if self.ending or not (active or self.programs.active):
            self._ask_no_more()
            return
        if self.filler.is_early or self._bearing.is_early(self.filler.clock()):
            return
        passing = frozenset(device for worker in self.workers for device in worker.allocation.ids)
        try:
            active = self.preparations.ready(active, self.filler.clock())
            with self.signals.unstopped():
                filled = self.filler.fill(active, self._settle, self.programs, passing)
            self.crew.reclaim(filled.reclaims, self.filler.clock())
            self._tell_shares(filled.shares)
            for start, worker in start_all(filled, self.starter, self.programs, self.filler.clock()):
                start.run.indexes.started(start.index)
                self.crew.add(worker)
            self._bearing.answered()
        except AllotmentError as error:
            if self.signals.requests > self._requests_heard:
                return
            at_work = bool(self.workers or self.programs.workers)
            if message := self._bearing.failed(error, self.filler.clock(), at_work=at_work):
                for run in active:
                    self._tell(run, "warning", reason="cannot-start", message=message)
            return
        for run in active:
            if run.wait is not None and run.wait.reason is WaitReason.NEVER:
                self._halt(run, Halt.NEVER_FITS, run.wait.message)
            if message := run.news_of_waiting():
                self._tell(run, "campaign.waiting", message=message)

    def _units(self) -> Iterator[Unit]:
        """What its workers hold, for the other engines of the machine."""
        table = self.filler.table
        if table is not None:
            yield from units_of(table, self.workers, self._by_name, self.programs)

    def _ask_no_more(self) -> None:
        """Nothing will be started: the others need not wait for it."""
        if self.filler.table is not None:
            with suppress(AllotmentError), self.signals.unstopped():  # then they find out by its silence
                self.filler.say_no_more()

    def _tell_shares(self, shares: Mapping[str, Shown]) -> None:
        """Tell how the team stands among others, where that has changed."""
        programs = {each.program.name: each.program for each in self.programs.runs}
        for name, data in self.telling.news(shares, self.filler.clock()):
            if name in self._by_name:
                self._tell(self._by_name[name], "campaign.share", None, **data)
            elif name in programs:
                self._tell_of_program("campaign.share", programs[name], data)

    def _settle(self, run: CampaignRun, index: int, standing: IndexStanding) -> None:
        """An index needs no worker now: it is complete, failed for good, or somebody else's."""
        for volume in standing.volumes:
            complete = volume.standing is Standing.COMPLETE
            completed = self.completed(run.work, volume.volume) if complete else Completed()
            warning = run.know(volume, completed, self.filler.wall())
            if warning is not None:
                self._take(run, warning)
        if standing.some(Standing.HELD):
            run.indexes.held_elsewhere(index, self.filler.clock())
        elif standing.some(Standing.FAILED):
            run.indexes.failed(index)
        else:
            run.indexes.completed(index)

    # ---- telling

    def _heard(self, worker: Worker, event: Event) -> None:
        self._take(self._by_name[worker.campaign], event)

    def _take(self, run: CampaignRun, event: Event) -> None:
        self.telling.event(run.work.campaign, event)
        if run.take(event) and run.halt is None:
            reason, message = run.failures[event.volume or ""]
            count = len(run.failures)
            self._halt(run, Halt.ALIKE, f"its first {count} volumes all failed alike ({reason}): {message}")

    def _tell_of_program(self, kind: str, program: Program, data: Mapping[str, object]) -> None:
        event = Event(kind, self.filler.wall(), program.team, program.name, None, None, data)
        self.telling.event(program.name, event)

    def _tell(self, run: CampaignRun, kind: str, volume: str | None = None, **data: object) -> None:
        self._take(run, Event(kind, self.filler.wall(), run.work.team, run.work.campaign, volume, None, data))

    # ---- ending

    def _reap(self) -> None:
        for worker in self.crew.reap():
            run = self._by_name[worker.campaign]
            ending = ending_of(run, worker)
            for kind, volume, data in ending.events:
                counts = self.completed(run.work, volume).counts if kind == "volume.completed" else {}
                more = whom_data(worker) if kind == "volume.reclaimed" else {}
                self._tell(run, kind, volume, **{**data, **counts, **more})
            ending.move(run.indexes, worker.index, self.filler.clock())
        for name in self.programs.reap(self.filler.clock()):
            self.requests.stopped(name)
            self.requests.over(name)
        self.preparations.listen(self.runs, self.filler.clock())
        for run, message in self.preparations.failed(self.runs):
            if run.halt is None:
                self._halt(run, Halt.NOT_PREPARED, f"its recipe could not be prepared: {message}")

    def _press(self) -> None:
        """Kill what was asked to end and has not, past its grace."""
        now = self.filler.clock()
        self.programs.press(now)
        self.preparations.press(now)
        self.crew.press(lambda name: self._by_name[name].work.limits.grace_seconds, now)

    def _end_campaigns(self) -> None:
        for run in self.runs:
            if run.ended or not run.resting:
                continue
            run.ended = True
            if run.indexes.ended:
                run.halt = None
                self._tell(run, "campaign.finished", complete=len(run.completed), failed=len(run.failures))
            elif run.halt is Halt.SUSPENDED:
                self._tell(run, "campaign.suspended", message=run.message)
            else:
                self._tell(run, "campaign.stopped", reason=str(run.halt), message=run.message)
            self.requests.stopped(run.work.campaign)
            if run.over:
                self.requests.over(run.work.campaign)
