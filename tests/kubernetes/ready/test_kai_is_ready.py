"""Whether KAI runs and its queues let work through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.answers import State
from tests.kubernetes.ready.alterations import (
    FINE,
    NOTE,
    PROBLEM,
    Alter,
    Case,
    chain,
    instead,
    setting,
    told,
)
from tests.kubernetes.ready.clusters import (
    pod_of,
    shard_of,
    without,
)

CASES: list[Case] = [
    (
        "kai",
        "kai",
        lambda seen: replace(seen, served=frozenset()),
        PROBLEM,
        "does not serve scheduling.run.ai/v2: KAI is not there",
    ),
    (
        "kai",
        "kai",
        lambda seen: without(seen, "Pod", "binder-1"),
        PROBLEM,
        "no ready pod of KAI's binder in kai-scheduler",
    ),
    (
        "kai",
        "kai",
        setting("Pod", "kai-scheduler-default-1", {}, "status"),
        PROBLEM,
        "no ready pod of KAI's kai-scheduler in",
    ),
    ("kai", "kai", lambda seen: without(seen, "Pod"), NOTE, "whether KAI runs cannot be told"),
    (
        "kai",
        "kai",
        setting("SchedulingShard", "default", {}, "spec", "args"),
        PROBLEM,
        "update-pod-eviction-condition is not set: each reclaim of KAI's uses up a",
    ),
    (
        "kai",
        "kai",
        chain(
            lambda seen: without(seen, "SchedulingShard"),
            instead(
                "Pod",
                "kai-scheduler-default-1",
                pod_of("kai-scheduler", "kai-scheduler-default-1", "--update-pod-eviction-condition=true"),
            ),
        ),
        FINE,
        "evictions are told from failures",
    ),
    (
        "kai",
        "kai",
        lambda seen: without(seen, "SchedulingShard"),
        NOTE,
        "whether update-pod-eviction-condition is set cannot be told",
    ),
    (
        "kai",
        "kai",
        instead(
            "SchedulingShard", "default", shard_of(placementStrategy={"gpu": "spread", "cpu": "binpack"})
        ),
        NOTE,
        "spreads pods, which switches consolidation off",
    ),
    (
        "kai",
        "kai's queues",
        setting("Queue", "archive", ..., "spec", "resources", "memory"),
        PROBLEM,
        "queue archive does not say memory.quota, memory.overQuotaWeight,",
    ),
    (
        "kai",
        "kai's queues",
        setting("Queue", "archive", "departments", "spec", "parentQueue"),
        PROBLEM,
        "queue archive says parentQueue: departments, and there is none",
    ),
    (
        "kai",
        "kai's queues",
        setting("Queue", "laboratory", "archive", "spec", "parentQueue"),
        PROBLEM,
        "queue archive has queues below it, and only one without any runs jobs",
    ),
    (
        "both",
        "kai's queues",
        setting("Queue", "archive", 4, "spec", "resources", "gpu", "limit"),
        PROBLEM,
        "queue archive has gpu.limit 4: two layers of quota must never both hold",
    ),
    (
        "both",
        "kai's queues",
        setting("Queue", "allotment-teams", 4, "spec", "resources", "cpu", "quota"),
        PROBLEM,
        "queue allotment-teams has cpu.quota 4",
    ),
]


@pytest.mark.parametrize(("scheduler", "check", "alter", "state", "words"), CASES)
def test_it_is_told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    told(scheduler, check, alter, state, words)
