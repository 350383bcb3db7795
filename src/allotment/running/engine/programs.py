"""Fleets and gangs beside the campaigns of an engine: what is decided for them is carried out here.

The engine's loop calls this in its turns; nothing here waits. A fleet ends when somebody asks for it, a gang
when its workers have. What was told to end and has not, past its grace, is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from allotment.devices.claims import Allocation
from allotment.devices.ledger import DevicesTakenError, Hold, Holder, LedgerView
from allotment.errors import AllotmentError
from allotment.running.engine.fleet_run import FleetRun
from allotment.running.engine.gang_run import GangRun
from allotment.running.engine.program import Kind, Program
from allotment.running.engine.program_start import Place, ProgramStarter
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import (
    Decision,
    FleetQueue,
    GangQueue,
    GiveBack,
    StartGang,
    StartReplica,
    Wait,
    WaitReason,
)

KILL_AFTER_GRACE = 10.0
TAKEN_OVER = "another engine has taken it over: the bucket could not be reached for minutes"

ProgramRun = FleetRun | GangRun
Tell = Callable[[str, Program, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Held:
    """Processes to start at once, on devices that are held for them."""

    run: ProgramRun
    places: tuple[Place, ...]


@dataclass(slots=True)
class Programs:
    """The fleets and gangs of an engine.

    ``tell`` takes what happens, as kind, program and data; ``ours`` says whether one is still this engine's.
    """

    runs: Sequence[ProgramRun] = ()
    starter: ProgramStarter | None = None
    tell: Tell = field(default=lambda _kind, _program, _data: None)
    ours: Callable[[str], bool] = lambda _name: True

    def begin(self) -> None:
        """Say that they are under way."""
        for run in self.runs:
            if isinstance(run, FleetRun):
                replicas = {"min": run.program.least, "max": run.program.most}
                self.tell("fleet.started", run.program, {"replicas": replicas})

    @property
    def active(self) -> bool:
        """Whether a decision may start something of them."""
        return any(run.halted is None and not (isinstance(run, GangRun) and run.size) for run in self.runs)

    @property
    def ended(self) -> bool:
        """Whether nothing of them is up, and nothing will be."""
        return all(run.resting for run in self.runs)

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Their processes."""
        return tuple(worker for run in self.runs for worker in run.workers)

    def queues(self, now: float) -> tuple[tuple[FleetQueue, ...], tuple[GangQueue, ...]]:
        """What the scheduler sees of them."""
        found = [run.queue(now) for run in self.runs]
        return (
            tuple(queue for queue in found if isinstance(queue, FleetQueue)),
            tuple(queue for queue in found if isinstance(queue, GangQueue)),
        )

    def take(
        self, view: LedgerView, decisions: Iterable[Decision], holder: Holder, undo: ExitStack
    ) -> list[Held]:
        """Take the devices of what is to start, while the ledger is locked: all of a gang's, or none.

        ``undo`` lets go of all that was taken.
        """
        held = []
        for decision in decisions:
            if isinstance(decision, StartReplica):
                run = self._named(decision.fleet)
                allocations: Mapping[int, Allocation] = {decision.number: decision.allocation}
                size = run.program.most
            elif isinstance(decision, StartGang):
                run, size = self._named(decision.gang), len(decision.allocations)
                allocations = dict(enumerate(decision.allocations))
            else:
                continue
            try:
                holds = _take_all(view, run.program, allocations, holder)
            except DevicesTakenError:
                continue
            for hold in holds.values():
                undo.callback(hold.close)
            places = (Place(rank, size, allocations[rank], hold) for rank, hold in holds.items())
            held.append(Held(run, tuple(places)))
        return held

    def start(self, held: Iterable[Held], now: float) -> None:
        """Start what devices were taken for; of a gang of which one cannot be started, none is."""
        for each in held:
            if self.starter is None:
                continue
            program = each.run.program
            workers: dict[int, Worker] = {}
            try:
                for place in each.places:
                    workers[place.rank] = self.starter.start(program, place, now)
            except AllotmentError:
                _end_all(workers.values())
                raise
            each.run.up |= workers
            if isinstance(each.run, GangRun):
                each.run.started(workers)
                self.tell("gang.started", program, {"size": len(workers)})
            for rank, worker in workers.items():
                devices = [str(device) for device in worker.allocation.ids]
                self.tell("replica.started", program, {"rank": rank, "devices": devices, "pid": worker.pid})

    def give_back(self, decisions: Iterable[Decision], now: float) -> None:
        """Tell replicas to end whose devices somebody in a higher lane waits for."""
        for decision in decisions:
            run = self._named(decision.fleet) if isinstance(decision, GiveBack) else None
            if isinstance(decision, GiveBack) and isinstance(run, FleetRun):
                run.give_back(decision.number, now)
                self.tell(
                    "replica.given-back",
                    run.program,
                    {"rank": decision.number, "whom": decision.whom, "message": decision.reason},
                )

    def note_waits(self, waits: Iterable[Wait]) -> None:
        """Keep why somebody waits; who waits for what this machine does not have is ended."""
        by_name = {wait.campaign: wait for wait in waits}
        for run in self.runs:
            run.wait = by_name.get(run.program.name)
            if run.wait is not None and run.wait.reason is WaitReason.NEVER and run.halted is None:
                run.never = True
                self.halt(run.program.name, f"it cannot run on this machine: {run.wait.message}", 0.0)

    def halt(self, name: str, message: str, now: float) -> bool:
        """Start no more of this fleet or gang, and tell what is up of it to end; True when it has ended."""
        for run in self.runs:
            if run.program.name == name and not run.resting:
                run.halted = run.halted or message
                for worker in run.workers:
                    worker.ask_to_end(now)
        return any(run.program.name == name and run.told for run in self.runs)

    def halt_all(self, message: str, now: float) -> None:
        """Start no more, and tell everything that is up to end."""
        for run in self.runs:
            self.halt(run.program.name, message, now)

    def reap(self, now: float) -> tuple[str, ...]:
        """Take note of processes that have ended; returns the names of fleets and gangs that have, now."""
        finished = []
        for run in self.runs:
            for rank, worker in tuple(run.up.items()):
                code = worker.ended()
                if code is not None:
                    worker.close()
                    self._ended(run, rank, worker, code, now)
            if run.resting and not run.told:
                run.told = True
                self._finished(run)
                finished.append(run.program.name)
        return tuple(finished)

    def press(self, now: float) -> None:
        """Kill what was told to end and has not, past its grace; end what another engine has taken over."""
        for run in self.runs:
            if run.halted is None and not run.resting and not self.ours(run.program.name):
                self.halt(run.program.name, TAKEN_OVER, now)
            for worker in run.workers:
                asked = worker.asked_to_end
                if asked is not None and now > asked + run.program.grace_seconds + KILL_AFTER_GRACE:
                    worker.kill()

    def kill_all(self) -> None:
        """End everything that is up, at once."""
        _end_all(self.workers)
        for run in self.runs:
            run.up.clear()

    def _ended(self, run: ProgramRun, rank: int, worker: Worker, code: int, now: float) -> None:
        data: dict[str, Any] = {"rank": rank, "seconds": round(now - worker.started, 3)}
        if isinstance(run, FleetRun):
            end = run.ended(rank, code, now)
            data |= {"reason": end.reason, "message": end.message}
            data |= {} if end.pause is None else {"pause": end.pause, "restarts": run.restarts}
        else:
            failure = run.ended(rank, code, now)
            reason = "ended" if code == 0 else "stopped" if failure is None else "failed"
            data |= {"reason": reason, "message": failure or worker.last_words(2)}
        self.tell("replica.ended", run.program, data)

    def _finished(self, run: ProgramRun) -> None:
        if isinstance(run, GangRun) and run.complete:
            self.tell("gang.completed", run.program, {"size": run.size})
        elif isinstance(run, GangRun) and run.failure is not None:
            self.tell("gang.failed", run.program, {"reason": "worker-failed", "message": run.failure})
        else:
            kind = "gang.stopped" if run.program.kind is Kind.GANG else "fleet.stopped"
            self.tell(kind, run.program, {"message": run.halted or ""})

    def _named(self, name: str) -> ProgramRun:
        return next(run for run in self.runs if run.program.name == name)


def _end_all(workers: Collection[Worker]) -> None:
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.process.wait()
        worker.close()


def _take_all(
    view: LedgerView, program: Program, allocations: Mapping[int, Allocation], holder: Holder
) -> dict[int, Hold]:
    """The devices of each process; when one of them cannot be had, all are let go of."""
    holds: dict[int, Hold] = {}
    try:
        for rank, allocation in allocations.items():
            about = Holder(
                pid=holder.pid,
                user=holder.user,
                campaign=program.name,
                volume=f"{program.kind}-{rank}",
                memory_bytes=program.memory_bytes,
                since=holder.since,
                team=holder.team,
            )
            holds[rank] = view.take(allocation.ids, about)
    except BaseException:
        for hold in holds.values():
            hold.close()
        raise
    return holds
