"""What is rendered for the examples is taken strictly by a server, and taken again without a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE

GOLDEN = sorted((Path(__file__).parents[1] / "golden").rglob("*.yaml"))
APPLY = {"Content-Type": "application/apply-patch+yaml"}
STRICT = {"fieldManager": "allot", "fieldValidation": "Strict"}


def path_of(server: FakeApiServer, value: dict[str, Any]) -> str:
    group, _, version = value["apiVersion"].rpartition("/")
    named = (group, version, value["kind"])
    found = next(each for each in server.resources() if (each.group, each.version, each.kind) == named)
    start = f"/apis/{group}/{version}" if group else f"/api/{version}"
    inside = f"/namespaces/{value['metadata']['namespace']}" if found.is_namespaced else ""
    return f"{start}{inside}/{found.plural}/{value['metadata']['name']}"


def test_there_are_rendered_objects() -> None:
    assert GOLDEN


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_is_rendered_is_taken_and_applying_it_again_changes_nothing(file: Path) -> None:
    server = FakeApiServer(kinds=(*KUEUE, *KAI))
    objects = [each for each in yaml.safe_load_all(file.read_text()) if each]
    for namespace in {each["metadata"]["namespace"] for each in objects if each["metadata"].get("namespace")}:
        server.add_namespace(namespace)
    first = [server.request("PATCH", path_of(server, each), STRICT, APPLY, each) for each in objects]
    again = [server.request("PATCH", path_of(server, each), STRICT, APPLY, each) for each in objects]
    assert [answer.body for answer in first if answer.status not in {200, 201}] == []
    assert {answer.status for answer in again} == {200}
    assert [answer.body["metadata"]["resourceVersion"] for answer in again] == [
        answer.body["metadata"]["resourceVersion"] for answer in first
    ]
