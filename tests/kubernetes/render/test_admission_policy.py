"""The admission policy, run over objects: it lets through what is rendered, and stops what a check stops."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.expressions import compile_expression, language
from allotment.kubernetes.render.platform.admission import LOOKED, Looked, validations, variables
from allotment.platform.model import SCHEDULERS, Platform
from tests.kubernetes.stored import Case

NAMES = language(dict.fromkeys(("object", "namespaceObject", "variables"), t.DYN))
NAMESPACE = {"metadata": {"labels": {"allotment/team": "archive"}}}
PODS, JOBS = LOOKED


def refusals(platform: Platform, looked: Looked, value: dict[str, Any]) -> list[str]:
    """What the API server would say, a message for each rule that stops the object."""
    known: dict[str, Any] = {}
    given = {"object": value, "namespaceObject": NAMESPACE, "variables": known}
    for name, text in variables(looked).items():
        known[name] = compile_expression(text, NAMES).evaluate(given)
    said = []
    for rule in validations(platform, looked):
        if compile_expression(rule["expression"], NAMES).evaluate(given) is not True:
            said.append(str(compile_expression(rule["messageExpression"], NAMES).evaluate(given)))
    return said


def platform_for(scheduler: str) -> Platform:
    return replace(Case("cluster", scheduler).platform, scheduler=scheduler)


def job_of(scheduler: str, name: str = "church-books") -> dict[str, Any]:
    objects = Case("cluster", scheduler).rendered().objects
    (found,) = (each for each in objects if each["kind"] == "Job" and each["metadata"]["name"] == name)
    return deepcopy(dict(found))


def pod_of(job: dict[str, Any]) -> dict[str, Any]:
    template = job["spec"]["template"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "1", "controller": True}
    metadata = {**template["metadata"], "name": "pod", "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_is_rendered_passes(scheduler: str) -> None:
    for value in Case("cluster", scheduler).rendered().objects:
        if value["kind"] in {"Job", "Deployment"}:
            assert refusals(platform_for(scheduler), JOBS, dict(value)) == []
            assert refusals(platform_for(scheduler), PODS, pod_of(dict(value))) == []


@pytest.mark.parametrize("scheduler", ["kueue", "kai", "both"])
def test_another_teams_queue_is_refused(scheduler: str) -> None:
    job = job_of(scheduler)
    for key in [key for key in job["metadata"]["labels"] if key.endswith(("queue-name", "/queue"))]:
        stolen = deepcopy(job)
        stolen["metadata"]["labels"][key] = "laboratory"
        assert f"{key} must be the queue of this namespace: archive" in refusals(
            platform_for(scheduler), JOBS, stolen
        )


@pytest.mark.parametrize("scheduler", ["kueue", "kai", "both"])
@pytest.mark.parametrize("ask", ["claim", "count", "fraction"])
def test_devices_without_a_queue_are_refused(scheduler: str, ask: str) -> None:
    job = job_of(scheduler)
    job["metadata"]["labels"] = {}
    template = job["spec"]["template"]
    if ask != "claim":
        del template["spec"]["resourceClaims"]
    if ask == "count":
        template["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    if ask == "fraction":
        template["metadata"]["annotations"] = {"gpu-fraction": "0.5"}
    said = refusals(platform_for(scheduler), JOBS, job)
    assert said
    assert all(text.startswith("what gets devices needs the label ") for text in said)


def test_without_devices_no_queue_is_needed() -> None:
    job = job_of("kueue", "all-checksums")
    job["metadata"]["labels"] = {}
    assert refusals(platform_for("kueue"), JOBS, job) == []


def test_a_bare_pod_with_devices_is_refused_under_kueue() -> None:
    pod = pod_of(job_of("kueue"))
    del pod["metadata"]["ownerReferences"]
    assert len(refusals(platform_for("kueue"), PODS, pod)) == 1


def test_kai_pods_name_their_scheduler() -> None:
    pod = pod_of(job_of("kai"))
    pod["spec"]["schedulerName"] = "default-scheduler"
    assert refusals(platform_for("kai"), PODS, pod) == [
        "what gets devices needs schedulerName: kai-scheduler"
    ]


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("registry.example.org/htr/reader:latest", 1),
        ("registry.example.org/htr@sha256:" + "a" * 64, 0),
        ("registry.example.org/htr-evil/x@sha256:" + "a" * 64, 1),
        ("evil.example.org/htr@sha256:" + "a" * 64, 1),
        ("evil.example.org/htr@sha256:" + "a" * 63, 2),
    ],
)
@pytest.mark.parametrize("place", ["containers", "initContainers"])
def test_images_are_pinned_and_come_from_where_they_may(image: str, told: int, place: str) -> None:
    job = job_of("default")
    job["spec"]["template"]["spec"].setdefault(place, [{"name": "x"}])[0]["image"] = image
    assert len(refusals(platform_for("default"), JOBS, job)) == told
