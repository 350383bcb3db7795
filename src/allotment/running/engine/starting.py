"""Starting a worker: its assignment, its environment, its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.buckets.opening import Options
from allotment.devices.claims import Allocation
from allotment.devices.ledger import Hold
from allotment.devices.slices import DeviceId
from allotment.running.engine.assign import assignment_for
from allotment.running.engine.filling import Filled, Started
from allotment.running.engine.programs import Programs
from allotment.running.engine.sharing import share_variables
from allotment.running.engine.visible import Visible, card_variables
from allotment.running.engine.work import Work
from allotment.running.engine.worker import Worker, start_worker, worker_environment
from allotment.running.secrets import NO_SECRETS, Secrets


def start_all(
    filled: Filled, starter: Starter, programs: Programs, now: float
) -> Iterator[tuple[Started, Worker]]:
    """Start what devices were taken for, each index with its worker.

    When one cannot be started, that is raised, and the devices of the rest are let go of.
    """
    with ExitStack() as undo:
        for start in filled.indexes:
            undo.callback(start.hold.close)
        for place in (place for held in filled.programs for place in held.places):
            undo.callback(place.hold.close)
        programs.start(filled.programs, now)
        for start in filled.indexes:
            yield start, starter.start(start, now)


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts workers. ``folder`` is the engine's own; ``bucket`` as a worker should open it.

    ``pipes`` is the directory of this machine's MPS daemon, where one runs.
    """

    folder: Path
    bucket: str
    bucket_options: Options
    processors: Mapping[DeviceId, int]
    cards: Mapping[DeviceId, Visible]
    environment: Mapping[str, str]
    secrets: Secrets = NO_SECRETS
    pipes: str | None = None

    def start(self, start: Started, now: float) -> Worker:
        """Start the worker of an index on the devices that were taken for it."""
        work = start.run.work
        worker = self._start(work, start.index, start.volumes, (start.allocation, start.hold), now)
        worker.lends = work.lends
        return worker

    def prepare(self, work: Work, now: float) -> Worker:
        """Start the worker that prepares a recipe, on no device."""
        volumes = tuple(volume.id for volume in work.index_volumes(0))
        return self._start(work, 0, volumes, (Allocation(()), Hold(())), now, prepare=True)

    def _start(
        self,
        work: Work,
        index: int,
        volumes: tuple[str, ...],
        devices: tuple[Allocation, Hold],
        now: float,
        *,
        prepare: bool = False,
    ) -> Worker:
        allocation, hold = devices
        log = self.folder / "logs" / f"{work.campaign}-{'prepare' if prepare else index}.log"
        assignment = assignment_for(
            work,
            index,
            volumes,
            allocation,
            self.processors,
            bucket=self.bucket,
            bucket_options=self.bucket_options,
            log=str(log),
        )
        secrets = self.secrets.variables(work.pipeline_path)
        assignment = replace(assignment, worker=replace(assignment.worker, masked=tuple(sorted(secrets))))
        return start_worker(
            assignment,
            campaign=work.campaign,
            index=index,
            allocation=allocation,
            hold=hold,
            folder=self.folder / "assignments",
            log=log,
            now=now,
            environment=worker_environment(
                self.environment,
                {**work.environment, **secrets},
                assignment.worker.threads,
                {
                    **card_variables(allocation.ids, self.cards),
                    **share_variables(work, allocation, self.pipes),
                },
            ),
            mask=self.secrets.mask(work.pipeline_path),
            prepare=prepare,
        )
