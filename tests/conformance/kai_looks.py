"""What there is to see of a session, in the form in which KAI's test cases record it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.scheduling.kai import Memory
from allotment.scheduling.kai.accounts import RESOURCES, Account
from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.ties import Ties
from tests.conformance.kai_scene import NOW, settings_of, state_of

NAMES = ("cpu_milli", "memory", "gpu")


@dataclass
class Final:
    """The end: pods with status, node and shared GPUs, jobs with their gang and reasons, nodes with GPUs."""

    tasks: dict[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    jobs: dict[str, tuple[bool, bool, tuple[str, ...]]] = field(default_factory=dict)
    nodes: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Look:
    """What was noted of a case."""

    queues: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    final: Final = field(default_factory=Final)


def states_of(session: Session) -> dict[str, str]:
    """Every pod as ``status@node``."""
    states: dict[str, str] = {}
    for group in session.groups.values():
        for task in group.tasks.values():
            states[task.id] = f"{task.status}@{task.node}" if task.node else str(task.status)
    return states


def final_of(session: Session) -> Final:
    """The end of a session."""
    final = Final()
    for key, group in session.groups.items():
        for task in group.tasks.values():
            groups = task.gpu_groups if task.shared else ()
            final.tasks[task.id] = (str(task.status), task.node or "", groups)
        words = tuple(sorted({str(reason) for reason, _ in group.faults}))
        final.jobs[key] = (group.satisfied, group.stale, words)
    for name, node in session.nodes.items():
        final.nodes[name] = (node.idle[GPU], node.releasing[GPU])
    return final


def queues_of(case: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """What queues hold, ask for and may have when the case begins."""
    session = Session(state_of(case), Memory(settings_of(case)), NOW, Ties.FIRST_USED)
    return {name: _books(account) for name, account in session.accounts.items()}


def _books(account: Account) -> dict[str, dict[str, float]]:
    columns = {
        "allocatable": account.allocatable,
        "allocated": account.held,
        "allocated_nonpreemptible": account.held_firmly,
        "fair_share": account.fair,
        "request": account.asked,
        "requestable": [account.requestable(each) for each in RESOURCES],
    }
    return {
        key: {name: column[each] for each, name in zip(RESOURCES, NAMES, strict=True)}
        for key, column in columns.items()
    }


Shared = Mapping[str, tuple[str, tuple[str, ...]]]


def same_groups(theirs: Shared, ours: Shared) -> bool:
    """Whether pods share GPUs in the same way, whatever the names of the GPUs; per node."""
    return _partition(theirs) == _partition(ours)


def _partition(shared: Shared) -> set[tuple[str, tuple[str, ...]]]:
    members: dict[tuple[str, str], list[str]] = {}
    for pod, (node, groups) in shared.items():
        if node:
            for group in groups:
                members.setdefault((node, group), []).append(pod)
    return {(node, tuple(sorted(pods))) for (node, _), pods in members.items()}
