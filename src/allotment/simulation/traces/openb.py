"""Alibaba's openb trace: a cluster of 1,523 nodes, and 8,152 tasks that often want part of a card.

``cluster-trace-gpu-v2023`` of alibaba/clusterdata: ``openb_node_list_*.csv`` lists nodes, and
``openb_pod_list_*.csv`` tasks, in variants that have more CPU tasks, parts of cards, tasks with several cards
or with models that they insist on. The ``multigpu`` variants have no times and no models. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from allotment.simulation.traces.jobs import WHOLE, Job, JobEnd, TraceNode
from allotment.simulation.traces.tables import Row, read_table

NODES: Final = "openb_node_list_gpu_node.csv"
TASKS: Final = "openb_pod_list_{}.csv"
_NODE_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_TASK_COLUMNS: Final = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
MOST_OF_A_NODE: Final = 1_000
_ENDS: Final = {"Succeeded": JobEnd.PASSED, "Failed": JobEnd.FAILED}


def read_nodes(path: Path) -> tuple[TraceNode, ...]:
    """The nodes, as the file has them."""
    names = set[str]()
    return tuple(
        TraceNode(
            row.name("sn", row.text("sn"), names),
            row.whole("cpu_milli"),
            row.whole("memory_mib"),
            row.whole("gpu", most=MOST_OF_A_NODE),
            row.text("model"),
        )
        for row in read_table(path, _NODE_COLUMNS)
    )


def read_tasks(path: Path) -> tuple[Job, ...]:
    """The tasks, as the file has them; one that asks for more than a whole card of each gets a whole one."""
    return tuple(_tasks(path))


def _tasks(path: Path) -> Iterator[Job]:
    names = set[str]()
    for row in read_table(path, _TASK_COLUMNS):
        gpus = row.whole("num_gpu", most=MOST_OF_A_NODE)
        created, deleted = _time(row, "creation_time"), _time(row, "deletion_time")
        begun = _time(row, "scheduled_time")
        begun = created if begun is None else begun
        yield Job(
            row.name("name", row.text("name"), names),
            arrival=created or 0.0,
            gpus=gpus,
            share=min(row.whole("gpu_milli"), WHOLE) if gpus else 0,
            models=tuple(filter(None, row.text("gpu_spec").split("|"))),
            cpu=row.whole("cpu_milli"),
            memory=row.whole("memory_mib"),
            seconds=None if begun is None or deleted is None else max(deleted - begun, 0.0),
            end=_ENDS.get(row.text("pod_phase"), JobEnd.UNKNOWN),
        )


def _time(row: Row, column: str) -> float | None:
    return row.number(column) if row.text(column) else None
