"""A strict server takes every rendered object by server-side apply, and a second apply changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.kubernetes.render.rendered import Object
from allotment.kubernetes.testing import FakeApiServer
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.stored import Case

APPLY = {"Content-Type": "application/apply-patch+yaml"}
ASKED = {"fieldManager": "allotment", "fieldValidation": "Strict"}
ALSO_SERVED = {"ConfigMap", "Job", "ResourceClaimTemplate", "Namespace", "DeviceClass"}


def path_of(server: FakeApiServer, value: Object) -> str | None:
    """Where the object is; None for a kind that the fake server does not have."""
    group, _, version = value["apiVersion"].rpartition("/")
    for each in server.resources():
        if (each.kind, each.group) == (value["kind"], group):
            root = f"/apis/{group}/{version}" if group else f"/api/{version}"
            place = value["metadata"].get("namespace")
            inside = f"/namespaces/{place}" if place else ""
            return f"{root}{inside}/{each.plural}/{value['metadata']['name']}"
    return None


@pytest.mark.parametrize("example", ["cluster", "ways"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_it_is_taken_and_the_second_time_nothing_changes(scheduler: str, example: str) -> None:
    server = FakeApiServer()
    objects: list[Any] = [
        *Case(example, scheduler, of_platform=True).rendered().objects,
        *Case(example, scheduler).rendered().objects,
    ]
    known = [(path, value) for value in objects if (path := path_of(server, value)) is not None]
    assert {value["kind"] for _, value in known} >= ALSO_SERVED - (
        {"DeviceClass"} if example == "ways" else set()
    )
    for path, value in known:
        first = server.request("PATCH", path, ASKED, APPLY, value)
        assert first.status == 201, (path, first.body)
        again = server.request("PATCH", path, ASKED, APPLY, value)
        assert again.status == 200, (path, again.body)
        assert again.body["metadata"]["resourceVersion"] == first.body["metadata"]["resourceVersion"]
