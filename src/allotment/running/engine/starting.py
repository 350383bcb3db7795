"""Starting a worker: its assignment, its environment, its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.buckets.opening import Options
from allotment.devices.slices import DeviceId
from allotment.running.engine.assign import assignment_for
from allotment.running.engine.filling import Started
from allotment.running.engine.visible import Visible, card_variables
from allotment.running.engine.worker import Worker, start_worker, worker_environment
from allotment.running.secrets import NO_SECRETS, Secrets


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts workers. ``folder`` is the engine's own; ``bucket`` as a worker should open it."""

    folder: Path
    bucket: str
    bucket_options: Options
    processors: Mapping[DeviceId, int]
    cards: Mapping[DeviceId, Visible]
    environment: Mapping[str, str]
    secrets: Secrets = NO_SECRETS

    def start(self, start: Started, now: float) -> Worker:
        """Start the worker of an index on the devices that were taken for it."""
        work = start.run.work
        log = self.folder / "logs" / f"{work.campaign}-{start.index}.log"
        assignment = assignment_for(
            work,
            start.index,
            start.volumes,
            start.allocation,
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
            index=start.index,
            allocation=start.allocation,
            hold=start.hold,
            folder=self.folder / "assignments",
            log=log,
            now=now,
            environment=worker_environment(
                self.environment,
                {**work.environment, **secrets},
                assignment.worker.threads,
                card_variables(start.allocation.ids, self.cards),
            ),
            mask=self.secrets.mask(work.pipeline_path),
        )
