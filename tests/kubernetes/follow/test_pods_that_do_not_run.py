"""Pods that are refused, find no node, cannot start or are taken off: each text has its sentence."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import Cause, State, follow
from allotment.kubernetes.follow.causes.scheduling import reasons_of
from tests.kubernetes.follow.told import NAMESPACE, situation

Change = Callable[[Any], None]


def altered(name: str, kind: str, change: Change) -> Snapshot:
    """A situation with all objects of a kind changed."""
    snapshot = situation(name)
    objects = copy.deepcopy(list(snapshot.objects))
    for each in objects:
        if each["kind"] == kind:
            change(each)
    return replace(snapshot, objects=tuple(objects))


def root(snapshot: Snapshot) -> Cause:
    (found,) = follow(snapshot, NAMESPACE)
    assert found.root is not None
    return found.root


def event(message: str, reason: str = "") -> Change:
    def change(each: Any) -> None:
        each["message"] = message
        each["reason"] = reason or each["reason"]

    return change


def unscheduled(message: str, reason: str = "Unschedulable") -> Change:
    def change(pod: Any) -> None:
        for condition in pod["status"]["conditions"]:
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                condition.update(message=message, reason=reason)

    return change


def waiting(reason: str, message: str) -> Change:
    def change(pod: Any) -> None:
        pod["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": reason, "message": message}}

    return change


REFUSED = {
    'Error creating: pods "letters-0-" is forbidden: exceeded quota: gpus': "namespace-quota",
    'Error creating: pods "letters-0-" is forbidden: violates PodSecurity "restricted"': "pod-security",
    'Error creating: admission webhook "policy.example.org" denied the request: no': "pods-refused",
    'Error creating: failed calling webhook "policy.example.org": connection refused': "webhook-down",
    "Error creating: etcdserver: request timed out": "pods-not-created",
}


@pytest.mark.parametrize(("message", "kind"), REFUSED.items())
def test_pods_that_the_api_refuses(message: str, kind: str) -> None:
    found = root(altered("webhook-down", "Event", event(message)))
    assert found.kind == kind
    assert found.sentence.startswith("no pod can be created")


def test_a_webhook_of_others_is_named_and_not_taken_for_kueues() -> None:
    message = 'Error creating: failed calling webhook "policy.example.org": connection refused'
    found = root(altered("webhook-down", "Event", event(message)))
    assert "`policy.example.org`" in found.sentence
    assert "Kueue" not in found.sentence


def test_a_refusal_that_is_older_than_its_pods_is_over() -> None:
    snapshot = situation("running")
    (old,) = (each for each in situation("webhook-down").objects if each["kind"] == "Event")
    late: dict[str, Any] = {**old, "lastTimestamp": "2026-11-30T11:00:00Z"}
    (found,) = follow(replace(snapshot, objects=(*snapshot.objects, late)), NAMESPACE)
    assert not found.causes


N = "0/4 nodes are available: "
TAIL = (
    ". still not schedulable, preemption: 0/4 nodes are available: 4 Preemption is not helpful for "
    "scheduling."
)
PLACES = [
    (N + "4 cannot allocate all claims" + TAIL, "no-devices-free", "none of 4 has the devices free"),
    (
        N + "1 cannot allocate all claims, 3 Insufficient cpu" + TAIL,
        "no-devices-free",
        "3 without enough free cpu",
    ),
    (N + "4 Insufficient memory" + TAIL, "no-node", "4 without enough free memory"),
    (N + "4 node(s) had untolerated taint {gpu: only}" + TAIL, "no-node", "kept for others ({gpu: only})"),
    (N + "4 node(s) were unschedulable" + TAIL, "no-node", "closed for new pods"),
    (N + "4 node(s) didn't match pod topology spread constraints" + TAIL, "topology", "together in one"),
    (
        "request gpu: device class nosuch does not exist",
        "unschedulable",
        "device class nosuch does not exist",
    ),
]


@pytest.mark.parametrize(("message", "kind", "words"), PLACES)
def test_what_the_scheduler_says_of_nodes(message: str, kind: str, words: str) -> None:
    found = root(altered("fragmentation", "Pod", unscheduled(message)))
    assert found.kind == kind
    assert words in found.sentence


def test_reasons_are_counted_by_node_whatever_signs_are_in_them() -> None:
    message = (
        N
        + "1 Insufficient cpu, 2 node(s) had untolerated taint {a.b/c: d, e}, 1 cannot allocate all claims"
        + TAIL
    )
    assert reasons_of(message) == {
        "Insufficient cpu": 1,
        "node(s) had untolerated taint {a.b/c: d, e}": 2,
        "cannot allocate all claims": 1,
    }


def test_a_driver_that_is_on_other_nodes_alone_is_told_of_the_nodes_that_count() -> None:
    def elsewhere(pod: Any) -> None:
        if pod["metadata"]["name"].startswith("maps"):
            pod["spec"]["nodeSelector"] = {"pool": "gpu"}

    snapshot = altered("fragmentation", "Pod", elsewhere)
    labels = {"pool": "gpu"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-z", "labels": labels}}
    found = root(replace(snapshot, objects=(*snapshot.objects, node)))
    assert found.kind == "no-driver-on-nodes"
    assert "1 node alone (pool=gpu)" in found.sentence


def test_pods_of_which_no_scheduler_says_a_word() -> None:
    found = root(altered("fragmentation", "Pod", lambda pod: pod["status"].update(conditions=[])))
    assert found.kind == "no-scheduler"


def test_a_class_that_is_gone_is_named() -> None:
    snapshot = situation("fragmentation")
    objects = tuple(each for each in snapshot.objects if each["metadata"]["name"] != "gpu-a100-80")
    found = root(replace(snapshot, objects=objects))
    assert (found.kind, found.state) == ("class-missing", State.NEVER)


IMAGES = [
    ("ErrImagePull", "rpc error: code = Unknown desc = 401 Unauthorized", "does not give it to this cluster"),
    ("ImagePullBackOff", "dial tcp: lookup registry: no such host", "does not answer"),
    ("ErrImagePull", "manifest unknown", "does not have it"),
    ("InvalidImageName", "couldn't parse image name", "no image's name"),
    ("ImagePullBackOff", "something else", "something else"),
]


@pytest.mark.parametrize(("reason", "message", "words"), IMAGES)
def test_images_that_cannot_be_pulled(reason: str, message: str, words: str) -> None:
    snapshot = altered("image", "Pod", waiting(reason, message))
    objects = tuple(each for each in snapshot.objects if each["kind"] != "Event")
    found = root(replace(snapshot, objects=objects))
    assert found.kind == "image"
    assert words in found.sentence


MOUNTS = [
    ('MountVolume.SetUp failed for volume "x" : secret "hub" not found', "secret-missing", "`hub`"),
    ("couldn't find key token in Secret archive/hub", "key-missing", "no key `token`"),
    (
        'MountVolume.SetUp failed : configmap "letters-volumes" not found',
        "config-map-missing",
        "`letters-volumes`",
    ),
    ("timed out waiting for the condition", "container-configuration", "timed out"),
]


@pytest.mark.parametrize(("message", "kind", "words"), MOUNTS)
def test_what_a_container_needs_and_does_not_find(message: str, kind: str, words: str) -> None:
    found = root(altered("secret-missing", "Event", event(message)))
    assert found.kind == kind
    assert words in found.sentence
    told = root(altered("image", "Pod", waiting("CreateContainerConfigError", message)))
    assert told.kind == kind


def test_a_driver_that_does_not_run_on_the_node() -> None:
    message = "Failed to prepare dynamic resources: plugin gpu.nvidia.com not registered"
    assert "does not run" in root(altered("prepare-devices", "Event", event(message))).sentence


def test_pods_with_a_node_and_without_a_container_start() -> None:
    snapshot = situation("prepare-devices")
    objects = tuple(each for each in snapshot.objects if each["kind"] != "Event")
    (found,) = follow(replace(snapshot, objects=objects), NAMESPACE)
    assert found.state is State.STARTING
    assert "1 pod of it has a node, and no container yet (on node-a)" in found.sentence


def ended(code: int, reason: str = "Error", status: str = "") -> Change:
    def change(pod: Any) -> None:
        state = {"terminated": {"exitCode": code, "reason": reason}}
        pod["status"] = {"phase": "Failed", "containerStatuses": [{"state": state}]}
        pod["status"] |= {"reason": status} if status else {}

    return change


ENDINGS = [
    (ended(13), "permanent"),
    (ended(127), "no-runner"),
    (ended(128, "StartError"), "no-runner"),
    (ended(137, "OOMKilled"), "out-of-memory"),
    (ended(137), "killed"),
    (ended(143, status="DeadlineExceeded"), "deadline"),
    (ended(137, status="Evicted"), "node-short"),
    (ended(1), "failed"),
]


@pytest.mark.parametrize(("change", "kind"), ENDINGS)
def test_how_containers_end(change: Change, kind: str) -> None:
    found = root(altered("no-runner", "Pod", change))
    assert found.kind == kind
    assert "2 volumes failed for good" in found.sentence
    assert found.indexes == (0, 1)


def test_a_pod_that_was_told_to_end_is_no_failure() -> None:
    def plain(job: Any) -> None:
        job["status"].pop("failedIndexes")

    snapshot = altered("no-runner", "Pod", ended(143))
    objects = copy.deepcopy(list(snapshot.objects))
    for each in objects:
        if each["kind"] == "Job":
            plain(each)
    assert root(replace(snapshot, objects=tuple(objects))).kind == "unknown"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("DeletionByTaintManager", "not to be reached"),
        ("EvictionByEvictionAPI", "being emptied"),
        ("PreemptionByScheduler", "higher priority"),
        ("SomethingNew", "SomethingNew"),
    ],
)
def test_pods_that_were_taken_off_say_why(reason: str, words: str) -> None:
    def change(pod: Any) -> None:
        for condition in pod["status"]["conditions"]:
            if condition["type"] == "DisruptionTarget":
                condition["reason"] = reason

    (found,) = follow(altered("device-taint", "Pod", change), NAMESPACE)
    told = next(cause for cause in found.causes if cause.kind == "disrupted")
    assert words in told.sentence


def group(version: str, status: str) -> dict[str, Any]:
    condition = {"type": "PodGroupScheduled", "status": status, "reason": "Unschedulable", "message": ""}
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "PodGroup",
        "metadata": {"name": "trainer", "namespace": NAMESPACE},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}},
        "status": {"conditions": [condition]},
    }


@pytest.mark.parametrize(("status", "kind"), [("False", "gang"), ("True", "no-devices-free")])
def test_a_group_of_kubernetes_own_starts_together(status: str, kind: str) -> None:
    snapshot = situation("gang")
    objects = [each for each in snapshot.objects if each["kind"] != "PodGroup"]
    message = N + "4 cannot allocate all claims" + TAIL
    made = altered("gang", "Pod", unscheduled(message))
    pods = [each for each in made.objects if each["kind"] in {"Pod", "ResourceClaim"}]
    rest = [each for each in objects if each["kind"] not in {"Pod", "ResourceClaim", "Job", "Queue"}]
    jobs = copy.deepcopy([each for each in objects if each["kind"] == "Job"])
    for each in jobs:
        each["spec"]["template"]["spec"].pop("schedulerName", None)
    whole = replace(snapshot, objects=(*rest, *jobs, *pods, group("v1alpha2", status)))
    assert root(whole).kind == kind


KAI = [
    (
        "OverLimit",
        (
            "archive quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 0 "
            "GPUs allocated and workload requested 8 GPUs"
        ),
        "never-fits",
        State.NEVER,
    ),
    (
        "NonPreemptibleOverQuota",
        (
            "Non-preemptible workload is over quota. Workload requested 4 GPUs, but archive quota is "
            "2 GPUs, while 1 GPUs are already allocated for non-preemptible pods. Use a preemptible "
            "workload to go over quota."
        ),
        "over-quota",
        State.NEVER,
    ),
    ("QueueDoesNotExist", "", "no-kai-queue", State.WAITING),
    ("PreemptionDelayNotElapsed", "", "preemption-delay", State.WAITING),
    (
        "PodSchedulingErrors",
        "Resources were not found for pod archive/letters-0 due to: topology racks: no domain",
        "topology",
        State.WAITING,
    ),
    (
        "PodSchedulingErrors",
        (
            "Resources were not found for pod archive/letters-0 due to: no nodes with enough "
            "resources were found"
        ),
        "no-devices-free",
        State.WAITING,
    ),
]


@pytest.mark.parametrize(("reason", "message", "kind", "state"), KAI)
def test_what_kai_says_of_a_group(reason: str, message: str, kind: str, state: State) -> None:
    def change(each: Any) -> None:
        (condition,) = each["status"]["schedulingConditions"]
        condition.update(message=f"{reason}: {message}", reasons=[{"reason": reason, "message": message}])

    found = root(altered("kai-over-limit", "PodGroup", change))
    assert (found.kind, found.state) == (kind, state)


def test_kai_without_a_group_has_taken_no_notice() -> None:
    snapshot = altered("kai-over-limit", "Pod", lambda pod: pod["status"].update(conditions=[]))
    objects = tuple(each for each in snapshot.objects if each["kind"] != "PodGroup")
    assert root(replace(snapshot, objects=objects)).kind == "kai-silent"
