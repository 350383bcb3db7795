"""Pods run through the whole of Kubernetes: scheduled to cards that they claim, run here, told, ended."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import CLAIM, CONFIG_MAP, JOB, NODE, POD, SECRET
from tests.controlplane.installing import RESTRICTED
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until

NODES = "2 nodes of 2 x A100-80, 2 nodes of 4 x L4"

pytestmark = pytest.mark.usefixtures("nodes")
LARGE = (
    "device.driver == 'gpu.nvidia.com' && "
    "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"
)


def job(namespace: str, words: str, **more: Any) -> dict[str, Any]:
    container = {
        "name": "worker",
        "image": "example.org/x",
        "command": ["/bin/sh", "-c", words],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {"restartPolicy": "Never", "securityContext": dict(RESTRICTED), "containers": [container]}
    spec = {"template": {"spec": pod}, "completionMode": "Indexed", "completions": 1, "parallelism": 1}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": namespace},
        "spec": {**spec, **more},
    }


def pods_of(client: Client, namespace: str) -> list[dict[str, Any]]:
    found = [dict(each) for each in client.listed(POD, namespace)]
    return sorted(found, key=lambda each: str(each["metadata"]["name"]))


def condition(client: Client, namespace: str, name: str = "job") -> str | None:
    found = client.get(JOB, name, namespace) or {}
    told = found.get("status", {}).get("conditions") or ()
    return next((each["type"] for each in told if each["type"] in {"Complete", "Failed"}), None)


def finished(client: Client, namespace: str) -> str | None:
    until(lambda: condition(client, namespace), "the Job to finish")
    return condition(client, namespace)


def running(client: Client, namespace: str) -> bool:
    return any(each["status"].get("phase") == "Running" for each in pods_of(client, namespace))


@pytest.mark.smoke
def test_a_job_reads_its_index_its_files_and_its_variables(
    plane: Plane, client: Client, namespace: str
) -> None:
    said = {"apiVersion": "v1", "metadata": {"name": "said", "namespace": namespace}}
    client.create({**said, "kind": "ConfigMap", "data": {"text": "hello"}}, manager="tests")
    client.create({**said, "kind": "Secret", "stringData": {"word": "hidden"}}, manager="tests")
    value = job(namespace, "cat /etc/said/text; echo $JOB_COMPLETION_INDEX $(WORD) $WORD", completions=3)
    (container,) = value["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "said", "key": "word"}}}]
    container["volumeMounts"] = [{"name": "said", "mountPath": "/etc/said"}]
    value["spec"]["template"]["spec"]["volumes"] = [{"name": "said", "configMap": {"name": "said"}}]
    client.create(value, manager="tests")
    assert finished(client, namespace) == "Complete"
    texts = [
        b"".join(client.lines(f"{POD.path(namespace, each['metadata']['name'], 'log')}", {}))
        for each in pods_of(client, namespace)
    ]
    assert sorted(texts) == [f"hello{index} hidden hidden\n".encode() for index in range(3)]
    assert client.get(CONFIG_MAP, "said", namespace)
    assert client.get(SECRET, "said", namespace)


def test_exit_codes_reach_the_policy_of_failures(client: Client, namespace: str) -> None:
    rule = {
        "action": "FailIndex",
        "onExitCodes": {"containerName": "worker", "operator": "In", "values": [13]},
    }
    value = job(
        namespace,
        "exit $((13 * (JOB_COMPLETION_INDEX == 1)))",
        completions=3,
        parallelism=3,
        backoffLimitPerIndex=2,
        podFailurePolicy={"rules": [rule]},
    )
    client.create(value, manager="tests")
    assert finished(client, namespace) == "Failed"
    status = (client.get(JOB, "job", namespace) or {})["status"]
    assert (status["completedIndexes"], status["failedIndexes"], status["failed"]) == ("0,2", "1", 1)


@pytest.mark.parametrize(("words", "code"), [("trap 'exit 143' TERM", 143), ("trap '' TERM", 137)])
def test_a_deletion_is_a_signal_and_then_a_kill(
    words: str, code: int, client: Client, namespace: str
) -> None:
    value = job(namespace, f"{words}; while :; do sleep 0.05; done", backoffLimit=0)
    value["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
    client.create(value, manager="tests")
    until(lambda: running(client, namespace), "the pod to run")
    name = pods_of(client, namespace)[0]["metadata"]["name"]
    hold(client, namespace, name, ["example.org/held"])
    client.delete(POD, name, namespace)
    until(lambda: condition(client, namespace), "the Job to fail")
    (pod,) = pods_of(client, namespace)
    hold(client, namespace, name, [])
    assert condition(client, namespace) == "Failed"
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code


def hold(client: Client, namespace: str, name: str, finalizers: list[str]) -> None:
    """Keep a pod's object for as long as it has finalizers."""
    pod = client.get(POD, name, namespace) or {}
    others = [each for each in pod["metadata"].get("finalizers") or () if not each.startswith("example.org/")]
    change = {"metadata": {"finalizers": [*others, *finalizers]}}
    client.patch(POD, name, namespace, change, manager="tests")


@pytest.mark.smoke
def test_claims_are_given_cards_that_the_selector_lets_through(client: Client, namespace: str) -> None:
    request = {"deviceClassName": "test-gpu", "selectors": [{"cel": {"expression": LARGE}}]}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "card", "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}},
    }
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "test-gpu"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]},
    }
    client.apply(device_class, manager="tests")
    client.create(template, manager="tests")
    value = job(namespace, "sleep 0.3", completions=6, parallelism=6)
    pod = value["spec"]["template"]["spec"]
    pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "card"}]
    pod["containers"][0]["resources"] = {"claims": [{"name": "gpu"}]}
    client.create(value, manager="tests")
    most: set[str] = set()

    def done() -> bool:
        held = [given for each in client.listed(CLAIM, namespace) for given in devices(each)]
        assert len(held) == len(set(held))
        most.update(held)
        return condition(client, namespace) == "Complete"

    until(done, "the Job to finish")
    large = {f"node-{number}/gpu-{card}" for number, card in itertools.product((1, 2), (0, 1))}
    assert most <= large
    assert len(most) >= 2
    until(lambda: not any(map(devices, client.listed(CLAIM, namespace))), "the cards to be free again")


def devices(claim: Any) -> list[str]:
    allocation = claim.get("status", {}).get("allocation") or {}
    return [f"{each['pool']}/{each['device']}" for each in allocation.get("devices", {}).get("results") or ()]


def test_what_cannot_start_waits_and_says_why(client: Client, namespace: str) -> None:
    value = job(namespace, "true")
    value["spec"]["template"]["spec"]["volumes"] = [{"name": "x", "configMap": {"name": "later"}}]
    client.create(value, manager="tests")
    until(lambda: "later" in str([each["status"] for each in pods_of(client, namespace)]), "the reason")
    later = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "later", "namespace": namespace}}
    client.create(later, manager="tests")
    assert finished(client, namespace) == "Complete"


def test_nodes_are_there_and_ready(client: Client) -> None:
    names = {each["metadata"]["name"]: each["metadata"]["labels"] for each in client.listed(NODE)}
    assert sorted(names) == ["node-1", "node-2", "node-3", "node-4"]
