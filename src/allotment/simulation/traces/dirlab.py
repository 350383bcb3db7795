"""Philly and Helios, cut to their latest 15,000 jobs, in the columns of DIR-LAB's Gen-Parallel-Workloads.

Philly is Microsoft's (ATC '19), Helios SenseTime's (SC '21). ``interval`` is the time since the job before
was handed in; how long a job waited is not in these cuts. A job with more cards than a node has is a gang:
the fewest pods that its cards can be divided among evenly. Jobs without a card run beside, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from allotment.simulation.traces.jobs import Job, JobEnd
from allotment.simulation.traces.tables import MOST, MOST_CARDS, read_table

COLUMNS: Final = ("u_id", "user", "gpu_num", "node_num", "interval", "run_time", "new_status")
NODE_CARDS: Final = 8
_ENDS: Final = {"Pass": JobEnd.PASSED, "Failed": JobEnd.FAILED, "Killed": JobEnd.KILLED}


def read_jobs(path: Path, *, node_cards: int = NODE_CARDS) -> tuple[Job, ...]:
    """The jobs that want cards, in the order of their arrival."""
    return tuple(_jobs(path, node_cards))


def _jobs(path: Path, node_cards: int) -> Iterator[Job]:
    arrival, names = 0.0, set[str]()
    for row in read_table(path, COLUMNS):
        arrival += row.number("interval")
        if arrival > MOST:
            raise row.refused("interval", "which is too late with those before it")
        cards = row.whole("gpu_num", most=MOST_CARDS)
        if not cards:
            continue
        pods = pods_for(cards, node_cards)
        yield Job(
            row.name("u_id", f"job-{row.whole('u_id')}", names),
            arrival,
            row.text("user"),
            pods=pods,
            gpus=cards // pods,
            seconds=row.number("run_time"),
            end=_ENDS[row.one_of("new_status", _ENDS)],
        )


def pods_for(cards: int, node_cards: int) -> int:
    """The fewest pods with as many cards each, none with more than a node has."""
    return next(pods for pods in range(-(-cards // node_cards), cards + 1) if cards % pods == 0)
