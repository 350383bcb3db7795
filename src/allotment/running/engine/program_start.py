"""Starting the processes of a fleet or a gang: on their devices, with what they may know of their place.

A process finds in its environment who it is: ``ALLOT_TEAM``, ``ALLOT_FLEET`` or ``ALLOT_GANG`` (the name),
``ALLOT_RANK`` (from 0), ``ALLOT_SIZE`` (a gang's workers, a fleet's most replicas), ``ALLOT_DEVICES`` (as
``driver/pool/device``, with commas), ``ALLOT_WORKDIR`` (an empty folder of its own), for a gang
``ALLOT_GANG_FOLDER`` (an empty folder of all of its workers, to find each other in), and the variables by
which libraries find cards, ``CUDA_VISIBLE_DEVICES`` and its like.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from allotment.devices.claims import Allocation
from allotment.devices.ledger import Hold
from allotment.devices.slices import DeviceId
from allotment.errors import WorldError
from allotment.running.assignment import WorkerSpec
from allotment.running.commanding import Task, command_line
from allotment.running.engine.program import Kind, Program
from allotment.running.engine.visible import Visible, card_variables
from allotment.running.engine.worker import Worker, private_log, worker_environment
from allotment.running.secrets import NO_SECRETS, Secrets


@dataclass(frozen=True, slots=True)
class Place:
    """One process's place among those of its program, on devices that are held for it."""

    rank: int
    size: int
    allocation: Allocation
    hold: Hold


@dataclass(frozen=True, slots=True)
class ProgramStarter:
    """Starts processes of programs. ``folder`` is the engine's own."""

    folder: Path
    processors: Mapping[DeviceId, int]
    cards: Mapping[DeviceId, Visible]
    environment: Mapping[str, str]
    secrets: Secrets = NO_SECRETS

    def start(self, program: Program, place: Place, now: float) -> Worker:
        """Start one process; the hold is handed over and closed here. Raises WorldError when it cannot be."""
        log = self.folder / "logs" / f"{program.name}-{place.rank}.log"
        ids = place.allocation.ids
        cpus = tuple(sorted(self.processors[device] for device in ids if device in self.processors))
        task = Task(
            command=program.command,
            worker=WorkerSpec(
                cpus=cpus or None,
                threads=len(cpus) or program.threads,
                memory_limit=program.memory_bytes or None,
                parent_pid=os.getpid(),
                masked=tuple(sorted(self.secrets.variables(program.path))),
            ),
            grace_seconds=program.grace_seconds,
        )
        try:
            reading, writing = os.pipe()  # it tells nothing; its end of the pipe is closed at once
        except OSError as error:
            raise WorldError(f"cannot start a process: {error.strerror}", where=str(log)) from error
        os.close(writing)
        try:
            with private_log(log) as output:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "allotment.running.commanding", *command_line(task)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=place.hold.fds,
                    process_group=0,
                    env=self._environment(program, place, task.worker.threads),
                    cwd=program.root,
                )
        except OSError as error:
            os.close(reading)
            raise WorldError(f"cannot start a process: {error.strerror}", where=str(log)) from error
        finally:
            place.hold.close()
        mask = self.secrets.mask(program.path)
        return Worker(program.name, place.rank, (), place.allocation, now, process, reading, log, mask=mask)

    def _environment(self, program: Program, place: Place, threads: int) -> dict[str, str]:
        ids = place.allocation.ids
        said = {**program.environment, **self.secrets.variables(program.path)}
        return {
            **worker_environment(self.environment, said, threads, card_variables(ids, self.cards)),
            "ALLOT_TEAM": program.team,
            f"ALLOT_{program.kind.upper()}": program.name,
            "ALLOT_RANK": str(place.rank),
            "ALLOT_SIZE": str(place.size),
            "ALLOT_DEVICES": ",".join(map(str, ids)),
            **self._meeting(program),
        }

    def _meeting(self, program: Program) -> dict[str, str]:
        if program.kind is not Kind.GANG:
            return {}
        folder = self.folder / "gangs" / program.name
        folder.mkdir(parents=True, exist_ok=True)
        return {"ALLOT_GANG_FOLDER": str(folder)}
