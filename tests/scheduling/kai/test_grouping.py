"""The groups that KAI's pod-grouper makes of workloads."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.scheduling.kai.grouping import LATEST, grouping
from allotment.scheduling.state.pod_groups import SubGroup, Together

JOB_SET = {
    "kind": "JobSet",
    "metadata": {"name": "s", "uid": "u"},
    "spec": {
        "replicatedJobs": [
            {"name": "driver", "template": {"spec": {"parallelism": 1}}},
            {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 4}}},
        ]
    },
}


def job(kind: str = "Job", spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "j", "uid": "u", **metadata}, "spec": spec or {}}


def least(tree: SubGroup) -> dict[str, int | None]:
    """The least numbers, by sub-group."""
    found = {tree.name or "(all)": tree.minimum}
    for child in tree.children:
        found.update(least(child))
    return found


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (job(), 1),
        (job(annotations={"kai.scheduler/batch-min-member": "4"}), 4),
        (job("StatefulSet"), 1),
        (job("PyTorchJob", {"pytorchReplicaSpecs": {"Master": {}, "Worker": {"replicas": 3}}}), 4),
        (
            job(
                "PyTorchJob",
                {"elasticPolicy": {"minReplicas": 2}, "pytorchReplicaSpecs": {"Worker": {"replicas": 3}}},
            ),
            2,
        ),
        (
            job(
                "TFJob",
                {
                    "runPolicy": {"schedulingPolicy": {"minAvailable": 1}},
                    "tfReplicaSpecs": {"Worker": {"replicas": 3}},
                },
            ),
            1,
        ),
    ],
)
def test_flat_groups_need_so_many_pods(owner: dict[str, Any], expected: int) -> None:
    assert least(grouping(owner).tree) == {"(all)": None, "default": expected}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((0, 14), {"(all)": None, "default": 9}),
        ((0, 15), {"(all)": None, "default": 1}),
        (
            LATEST,
            {
                "(all)": 2,
                "driver": 1,
                "driver-replica-0": 1,
                "workers": 2,
                "workers-replica-0": 4,
                "workers-replica-1": 4,
            },
        ),
    ],
)
def test_job_sets_changed_twice(version: tuple[int, int], expected: dict[str, int | None]) -> None:
    assert least(grouping(JOB_SET, version).tree) == expected


def test_job_sets_in_order_begin_with_one() -> None:
    spec = {**JOB_SET["spec"], "startupPolicy": {"startupPolicyOrder": "InOrder"}}  # type: ignore[dict-item]
    assert grouping({**JOB_SET, "spec": spec}).tree.minimum == 1


def test_ray_needs_its_head_and_the_least_of_its_workers() -> None:
    spec = {"workerGroupSpecs": [{"groupName": "w", "minReplicas": 2, "replicas": 4, "numOfHosts": 2}]}
    assert least(grouping(job("RayCluster", spec)).tree) == {"(all)": None, "headgroup": 1, "w": 4}


@pytest.mark.parametrize(
    ("labels", "queue", "priority", "preemptible"),
    [
        ({"kai.scheduler/queue": "a"}, "a", 50, True),
        ({"project": "p"}, "p-pool", 50, True),
        ({}, "default-queue", 50, True),
        ({"priorityClassName": "build"}, "default-queue", 100, False),
        (
            {"priorityClassName": "build", "kai.scheduler/preemptibility": "preemptible"},
            "default-queue",
            100,
            True,
        ),
    ],
)
def test_labels_say_queue_and_priority(
    labels: dict[str, str], queue: str, priority: int, preemptible: bool
) -> None:
    found = grouping(job(labels=labels, annotations={"kai.scheduler/queue": "ignored"}), node_pool="pool")
    assert (found.queue, found.priority, found.preemptible) == (queue, priority, preemptible)


def test_a_deployment_serves() -> None:
    assert grouping(job("Deployment")).priority_class == "inference"


def test_annotations_say_what_stays_together() -> None:
    notes = {"kai.scheduler/topology": "racks", "kai.scheduler/topology-required-placement": "rack"}
    assert grouping(job(annotations=notes)).tree.together == Together("racks", "rack")
