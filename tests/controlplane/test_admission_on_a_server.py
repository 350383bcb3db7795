"""The admission policy in force on a real server: what a team's member may send, and what is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from allotment.kubernetes.client import ApiError, Client
from tests.controlplane.installing import installed, pod
from tests.controlplane.plane import Plane
from tests.kubernetes.stored import Case

Job = dict[str, Any]
QUEUE = "kueue.x-k8s.io/queue-name"
ELSEWHERE = "evil.example.org/x@sha256:" + "a" * 64


@pytest.fixture(scope="module", params=["kueue", "kai"])
def scheduler(request: pytest.FixtureRequest, plane: Plane) -> Iterator[str]:
    found: str = request.param
    objects = Case("cluster", found, of_platform=True).rendered().objects
    core = [each for each in objects if "kueue" not in each["apiVersion"]]
    with installed(plane.client(), core):
        yield found


def job(scheduler: str, name: str = "church-books") -> Job:
    objects = Case("cluster", scheduler).rendered().objects
    (found,) = (each for each in objects if each["kind"] == "Job" and each["metadata"]["name"] == name)
    return deepcopy(dict(found))


def container(value: Job) -> dict[str, Any]:
    found: dict[str, Any] = value["spec"]["template"]["spec"]["containers"][0]
    return found


def steal(value: Job) -> None:
    for key in value["metadata"]["labels"]:
        if key.endswith(("queue-name", "/queue")):
            value["metadata"]["labels"][key] = "laboratory"


def forget_queue(value: Job) -> None:
    value["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "allotment"}


def count_cards(value: Job) -> None:
    forget_queue(value)
    container(value)["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    del value["spec"]["template"]["spec"]["resourceClaims"]


def by_tag(value: Job) -> None:
    container(value)["image"] = "registry.example.org/htr/reader:latest"


def from_elsewhere(value: Job) -> None:
    container(value)["image"] = ELSEWHERE


REFUSED: dict[str, tuple[Callable[[Job], None], str]] = {
    "another team's queue": (steal, "must be the queue of this namespace: archive"),
    "a claim without a queue": (forget_queue, "what gets devices needs the label"),
    "counted cards without a queue": (count_cards, "what gets devices needs the label"),
    "an image by its tag": (by_tag, "images are named by digest"),
    "an image of another registry": (from_elsewhere, "images come from the repositories"),
}


def test_what_is_rendered_is_let_through(scheduler: str, client: Client) -> None:
    client.apply(job(scheduler), manager="allotment", dry_run=True)
    client.apply(job(scheduler, "all-checksums"), manager="allotment", dry_run=True)


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_its_reason(case: str, scheduler: str, client: Client) -> None:
    change, told = REFUSED[case]
    value = job(scheduler)
    change(value)
    with pytest.raises(ApiError) as refused:
        client.apply(value, manager="allotment", dry_run=True)
    assert (refused.value.status, refused.value.reason) == (403, "Forbidden")
    assert told in refused.value.message


def test_a_pod_of_ones_own_needs_a_queue_and_a_digest(scheduler: str, client: Client) -> None:
    bare = pod("archive", image="registry.example.org/htr/reader@sha256:" + "a" * 64)
    client.create(bare, manager="tests", dry_run=True)
    bare["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    with pytest.raises(ApiError, match="what gets devices needs the label"):
        client.create(bare, manager="tests", dry_run=True)


def test_a_pod_that_is_not_restricted_is_refused_in_a_teams_namespace(scheduler: str, client: Client) -> None:
    bare = pod("archive", image="registry.example.org/htr/reader@sha256:" + "a" * 64)
    bare["spec"]["containers"][0]["securityContext"]["privileged"] = True
    bare["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    with pytest.raises(ApiError, match='violates PodSecurity "restricted'):
        client.create(bare, manager="tests", dry_run=True)


def test_nothing_is_asked_of_namespaces_that_are_no_teams(
    scheduler: str, client: Client, namespace: str
) -> None:
    client.create(pod(namespace), manager="tests", dry_run=True)
