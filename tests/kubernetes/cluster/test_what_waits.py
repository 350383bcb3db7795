"""How much waits at which queue, of Kueue and of KAI."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.waiting import Waiting, waiting_for_kai, waiting_for_kueue
from tests.kubernetes.cluster.queue_objects import local_queue, made, of_kai, workload

QUEUE = local_queue("team", "team", "q")


def told(works: int, amount: int = 0, paused: int = 0) -> Waiting:
    return Waiting(works, Fraction(amount), paused)


def waiting(*objects: Any) -> Waiting | None:
    return waiting_for_kueue(Snapshot(0.0, (QUEUE, *objects)), "gpus").get("q")


def of_job(name: str, campaign: str | None = None) -> list[dict[str, Any]]:
    owned = workload(f"job-{name}", "team", 2, metadata={"ownerReferences": [{"name": name, "uid": name}]})
    job = made("batch/v1", "Job", name, {}, "team")
    if campaign is not None:
        job["metadata"]["labels"] = {"allotment/campaign": campaign}
    return [owned, job]


REPLACEMENT = workload(
    "w-2", "team", 5, metadata={"annotations": {"kueue.x-k8s.io/workload-slice-replacement-for": "team/w-1"}}
)
TOLD = {"resourceRequests": [{"name": "main", "resources": {"gpus": "7"}}]}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([], None),
        ([workload("w", "team", 3)], told(1, 3)),
        ([workload("w", "team", 3, status=TOLD)], told(1, 7)),
        ([workload("w", "team", conditions=["QuotaReserved"])], None),
        ([workload("w", "team", conditions=["Finished"])], None),
        ([workload("w", "team", queue="none")], None),
        ([workload("w", "team", active=False)], told(0, 0, 1)),
        ([workload("w-1", "team", 3, conditions=["QuotaReserved"]), REPLACEMENT], told(1, 2)),
        ([workload("w-1", "team", 3, conditions=["QuotaReserved", "Finished"]), REPLACEMENT], told(1, 5)),
        ([*of_job("a"), *of_job("b")], told(2, 4)),
        ([*of_job("a", "books"), *of_job("a-part2", "books")], told(1, 4)),
    ],
    ids=[
        "none",
        "counted",
        "told",
        "admitted",
        "finished",
        "elsewhere",
        "paused",
        "wider",
        "alone",
        "two",
        "parts",
    ],
)
def test_what_waits_at_a_cluster_queue(objects: list[Any], expected: Waiting | None) -> None:
    assert waiting(*objects) == expected


def test_claims_are_counted_by_their_templates() -> None:
    exactly = {"deviceClassName": "gpu.nvidia.com", "count": 2}
    others = {"deviceClassName": "nic.example.org"}
    requests = [{"name": "g", "exactly": exactly}, {"name": "n", "exactly": others}]
    template = made(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        "t",
        {"spec": {"devices": {"requests": requests}}},
        "team",
    )
    found = workload("w", "team", 3)
    found["spec"]["podSets"][0]["template"] = {
        "spec": {"containers": [], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}
    }
    assert waiting(found, template) == told(1, 6)


def pod(name: str, group: str, **spec: Any) -> dict[str, Any]:
    found = made("v1", "Pod", name, spec, "team") | {"status": {"phase": "Pending"}}
    found["metadata"]["annotations"] = {"pod-group-name": group}
    return found


def test_what_waits_at_a_queue_of_kai() -> None:
    groups = [
        made("scheduling.run.ai/v2alpha2", "PodGroup", name, {"queue": "q"}, "team") for name in ("g", "h")
    ]
    pods = [pod("p", "g"), pod("q", "g"), pod("r", "h", nodeName="oak"), pod("s", "h", schedulingGates=[{}])]
    queues = [of_kai("q", 1, 1, requested=5, allocated=2), of_kai("idle", 1, 1, requested=1, allocated=1)]
    assert waiting_for_kai(Snapshot(0.0, (*groups, *pods, *queues))) == {"q": told(1, 3)}
