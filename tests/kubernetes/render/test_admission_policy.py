"""The admission policy, run over objects: it lets through what is rendered, and stops what a check stops."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.expressions import compile_expression, language
from allotment.kubernetes.render.platform.admission import (
    LOOKED,
    Looked,
    admission_objects,
    validations,
    variables,
)
from allotment.platform.images import may_come
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
    platform = replace(platform_for(scheduler), sharing=("whole", "mig", "fraction"))
    said = refusals(platform, JOBS, job)
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


Change = Callable[[dict[str, Any]], None]


def setting(value: Any, *path: str) -> Change:
    def change(job: dict[str, Any]) -> None:
        holder = job
        for step in path[:-1]:
            holder = holder.setdefault(step, {})
        holder[path[-1]] = value

    return change


TEMPLATE = ("spec", "template", "spec")
PINNED = "registry.example.org/htr/models@sha256:" + "a" * 64
LANES = "priorities are the lanes of the platform: "
CASES: dict[str, tuple[str, Change, str]] = {
    "a priority of the cluster's own": (
        "default",
        setting("system-cluster-critical", *TEMPLATE, "priorityClassName"),
        LANES,
    ),
    "no priority": ("default", setting("", *TEMPLATE, "priorityClassName"), ""),
    "a lane": ("default", setting("allotment-interactive", *TEMPLATE, "priorityClassName"), ""),
    "a priority of Kueue's that is no lane": (
        "kueue",
        setting("urgent", "metadata", "labels", "kueue.x-k8s.io/priority-class"),
        LANES,
    ),
    "a priority that KAI reads in a label": (
        "kai",
        setting("inference", "metadata", "labels", "priorityClassName"),
        LANES,
    ),
    "a node by its name": (
        "kueue",
        setting("node-a", *TEMPLATE, "nodeName"),
        "what gets devices names no node",
    ),
    "a fraction that nobody may have": (
        "kai",
        setting({"gpu-fraction": "0.5"}, "spec", "template", "metadata", "annotations"),
        "the platform does not let cards be shared by fractions",
    ),
    "an image that is mounted by its tag": (
        "default",
        setting(
            [{"name": "m", "image": {"reference": "registry.example.org/htr/models:1"}}], *TEMPLATE, "volumes"
        ),
        "images are named by digest",
    ),
    "an image that is mounted from elsewhere": (
        "default",
        setting(
            [{"name": "m", "image": {"reference": PINNED.replace("example", "evil")}}], *TEMPLATE, "volumes"
        ),
        "images come from the repositories",
    ),
    "an image that is mounted": (
        "default",
        setting(
            [{"name": "m", "image": {"reference": PINNED}}, {"name": "w", "emptyDir": {}}],
            *TEMPLATE,
            "volumes",
        ),
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_else_a_check_holds_is_held(case: str) -> None:
    scheduler, change, told = CASES[case]
    job = job_of(scheduler)
    change(job)
    said = refusals(platform_for(scheduler), JOBS, job)
    assert [text[: len(told)] for text in said] == ([told] if told else [])


def test_what_kai_places_without_devices_needs_a_queue_too() -> None:
    job = job_of("kai", "all-checksums")
    job["metadata"]["labels"] = {"project": "laboratory"}
    assert refusals(platform_for("kai"), JOBS, job) == [
        "what KAI places needs the label kai.scheduler/queue: archive"
    ]


def test_a_pod_may_have_the_priority_that_a_server_gives_it() -> None:
    pod = pod_of(job_of("kueue"))
    pod["spec"]["priorityClassName"] = "standard"
    assert refusals(platform_for("kueue"), PODS, pod) == []


@pytest.mark.parametrize("looked", LOOKED, ids=lambda each: each.name)
def test_what_is_being_deleted_is_let_go(looked: Looked) -> None:
    platform = platform_for("kueue")
    (policy,) = (
        each
        for each in admission_objects(platform).objects
        if (each["kind"], each["metadata"]["name"])
        == ("ValidatingAdmissionPolicy", f"allotment-{looked.name}")
    )
    (condition,) = policy["spec"]["matchConditions"]
    stays = compile_expression(condition["expression"], NAMES)
    for metadata, looked_at in (({}, True), ({"deletionTimestamp": "2026-11-30T00:00:00Z"}, False)):
        given = {"object": {"metadata": metadata}, "namespaceObject": NAMESPACE, "variables": {}}
        assert stays.evaluate(given) is looked_at


@settings(max_examples=40)
@given(
    st.lists(st.from_regex(r"[a-z0-9]{1,3}(/[a-z0-9]{1,3}){0,2}", fullmatch=True), min_size=1, max_size=3),
    st.from_regex(r"[a-z0-9]{1,3}(/[a-z0-9]{1,3}){0,3}", fullmatch=True),
)
def test_images_may_come_from_where_a_check_lets_them(allowed: list[str], repository: str) -> None:
    image = f"{repository}@sha256:{'a' * 64}"
    platform = replace(platform_for("default"), images=tuple(allowed))
    (rule,) = (each for each in validations(platform, JOBS) if "repositories" in each["messageExpression"])
    found = compile_expression(rule["expression"], NAMES).evaluate(
        {"object": {}, "namespaceObject": NAMESPACE, "variables": {"images": [image]}}
    )
    assert found is may_come(image, allowed)
