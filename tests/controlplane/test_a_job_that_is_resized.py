"""What else holds of an Indexed Job that is resized: which pods go, what is refused, a slice that waits.

`test_elastic_indexed_job` resizes one to its end; ``docs/elastic-indexed-job.md`` says what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import JOB, POD, WORKLOAD
from tests.buckets.moto_server import moto
from tests.controlplane.installing import RESTRICTED
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import IMAGE, TEAM, Team, team_on

NODES = "2 nodes of 1 x A100-80"

COMPLETIONS = 8
INDEX = "batch.kubernetes.io/job-completion-index"
ENDS = "trap 'exit 143' TERM; while :; do sleep 0.05; done"


def job(namespace: str, words: str, parallelism: int, **metadata: Any) -> dict[str, Any]:
    container = {
        "name": "worker",
        "image": "example.org/x",
        "command": ["/bin/sh", "-c", words],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "Ignore", "onExitCodes": {"containerName": "worker", "operator": "In", "values": [143]}},
    ]
    pod = {"restartPolicy": "Never", "securityContext": dict(RESTRICTED), "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": namespace, **metadata},
        "spec": {
            "completionMode": "Indexed",
            "completions": COMPLETIONS,
            "parallelism": parallelism,
            "backoffLimitPerIndex": 0,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {"rules": rules},
            "template": {"spec": pod},
        },
    }


def resize(client: Client, namespace: str, parallelism: int, **more: Any) -> None:
    client.patch(JOB, "job", namespace, {"spec": {"parallelism": parallelism, **more}}, manager="window")


def indexes(client: Client, namespace: str) -> dict[int, str]:
    """The pods that run and are to go on, by index: their identities."""
    found = {}
    for each in client.listed(POD, namespace):
        metadata = each["metadata"]
        if each["status"].get("phase") == "Running" and not metadata.get("deletionTimestamp"):
            found[int(metadata["annotations"][INDEX])] = metadata["uid"]
    return found


def settle(client: Client, namespace: str, width: int) -> dict[int, str]:
    def settled() -> bool:
        pods = client.listed(POD, namespace)
        return len(pods) == width and len(indexes(client, namespace)) == width

    until(settled, f"{width} pods", seconds=60)
    return indexes(client, namespace)


def status(client: Client, namespace: str) -> dict[str, Any]:
    found: dict[str, Any] = (client.get(JOB, "job", namespace) or {})["status"]
    return found


def test_pods_of_one_age_go_from_the_lowest_index(client: Client, namespace: str, nodes: None) -> None:
    client.create(job(namespace, ENDS, 4), manager="tests")
    settle(client, namespace, 4)
    until(lambda: status(client, namespace).get("ready") == 4, "all to be ready")
    ready = {
        condition["lastTransitionTime"]
        for each in client.listed(POD, namespace)
        for condition in each["status"]["conditions"]
        if condition["type"] == "Ready"
    }
    resize(client, namespace, 2)
    left = sorted(settle(client, namespace, 2))
    assert left == [2, 3] or len(ready) > 1
    resize(client, namespace, 0)
    settle(client, namespace, 0)
    assert status(client, namespace).get("failed", 0) == 0


def test_completions_change_only_with_parallelism(client: Client, namespace: str, nodes: None) -> None:
    client.create(job(namespace, ENDS, 4), manager="tests")
    settle(client, namespace, 4)
    with pytest.raises(ApiError) as refused:
        client.patch(JOB, "job", namespace, {"spec": {"completions": 3}}, manager="window")
    assert "can only be modified in tandem with spec.parallelism" in refused.value.message
    resize(client, namespace, 2, completions=2)
    assert sorted(settle(client, namespace, 2)) == [0, 1]


@pytest.fixture
def team(with_kueue: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(with_kueue, tmp_path, store, "kueue") as found:
        yield found


def elastic(parallelism: int) -> dict[str, Any]:
    """A Job of the team's queue that Kueue lets grow, with a card for each pod."""
    labels = {"kueue.x-k8s.io/queue-name": TEAM}
    value = job(TEAM, ENDS, parallelism, labels=labels, annotations={"kueue.x-k8s.io/elastic-job": "true"})
    pod = value["spec"]["template"]["spec"]
    pod["resourceClaims"] = [{"name": "card", "resourceClaimTemplateName": "card"}]
    pod["containers"][0] |= {"image": IMAGE, "resources": {"claims": [{"name": "card"}]}}
    return value


def granted(client: Client) -> list[tuple[int, bool]]:
    """The Workloads that are not finished: how many pods each asks for, and whether it has quota."""
    found = []
    for each in client.listed(WORKLOAD, TEAM):
        told = {one["type"]: one["status"] for one in each.get("status", {}).get("conditions") or ()}
        if told.get("Finished") != "True":
            found.append((each["spec"]["podSets"][0]["count"], told.get("QuotaReserved") == "True"))
    return sorted(found)


def test_under_kueue_a_slice_of_more_replaces_the_one_before_and_pods_stay(team: Team) -> None:
    request = {"name": "card", "exactly": {"deviceClassName": "gpu-a100-80"}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "card", "namespace": TEAM},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    client = team.plane.client()
    client.create(template, manager="tests")
    client.create(elastic(2), manager="tests")
    two = settle(client, TEAM, 2)
    until(lambda: granted(client) == [(2, True)], "the first slice")
    resize(client, TEAM, 4)
    four = settle(client, TEAM, 4)
    assert {key: four[key] for key in two} == two
    until(lambda: granted(client) == [(4, True)], "the second slice")
    resize(client, TEAM, 6)
    until(lambda: granted(client) == [(4, True), (6, False)], "a slice that waits")
    assert indexes(client, TEAM) == four
    resize(client, TEAM, 2)
    left = settle(client, TEAM, 2)
    assert left.items() <= four.items()
    until(lambda: [quota for _, quota in granted(client)] == [True], "one slice with quota")
    told = status(client, TEAM)
    assert (told.get("failed", 0), told.get("failedIndexes", "")) == (0, "")
