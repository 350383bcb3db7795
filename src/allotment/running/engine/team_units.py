"""What the workers of an engine hold, as the other engines of the machine are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.fleet_run import FleetRun
from allotment.running.engine.programs import ProgramRun, Programs
from allotment.running.engine.team_lines import Unit
from allotment.running.engine.team_table import TeamTable
from allotment.running.engine.worker import Worker


def units_of(
    table: TeamTable, workers: Iterable[Worker], runs: Mapping[str, CampaignRun], programs: Programs
) -> Iterator[Unit]:
    """Each worker with its devices, and the word by which the ledger knows it."""
    for worker in workers:
        if not worker.allocation.results:
            continue
        work = runs[worker.campaign].work
        holding = table.holding(
            worker.campaign,
            worker.index,
            worker.allocation,
            worker.started,
            ending=worker.asked_to_end is not None,
            lends=worker.lends,
            passes=True,
            lane_value=work.lane_value,
            memory_bytes=work.memory_bytes,
        )
        yield Unit(holding, worker.volumes[0])
    for run in programs.runs:
        yield from _of_program(table, run)


def _of_program(table: TeamTable, run: ProgramRun) -> Iterator[Unit]:
    program, is_fleet = run.program, isinstance(run, FleetRun)
    staying = sorted(rank for rank, worker in run.up.items() if worker.asked_to_end is None)
    lent = set(staying[program.least :]) if is_fleet and program.lends else set()
    for rank, worker in run.up.items():
        holding = table.holding(
            program.name,
            rank,
            worker.allocation,
            worker.started,
            ending=worker.asked_to_end is not None,
            lends=rank in lent,
            passes=False,
            lane_value=program.lane_value,
            replica=is_fleet,
            memory_bytes=program.memory_bytes,
        )
        yield Unit(holding, f"{program.kind}-{rank}")
