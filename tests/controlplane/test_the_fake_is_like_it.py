"""The fake API server answers as a real one to what an apply asks about every rendered object.

Held alike: the status, the reason, the fields that are blamed, the object without what controllers write,
and who owns which of its fields. What is known to differ is named, and nothing else may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

import pytest

from allotment.kubernetes.kinds import Object, kind_of
from allotment.kubernetes.testing import FakeApiServer
from tests.controlplane.plane import Plane
from tests.controlplane.side_by_side import APPLY, JSON, MERGE, Answered, Ask, Pair, differences
from tests.controlplane.talking import Talk
from tests.kubernetes.stored import Case

OURS: Final = {"fieldManager": "allotment", "fieldValidation": "Strict"}
KNOWN: Final[Mapping[str, str]] = {
    "Deployment": r"\.status|\.metadata\.(annotations|generation|managedFields)",  # its controller writes
    "ResourceClaimTemplate": r"\.spec\.spec\.devices",
    "ValidatingAdmissionPolicy": r"\.status|managedFields",  # its controller checks types
}
"""Where answers differ, by kind, and why."""
CASES: Final = (
    Case("cluster", "default"),
    Case("ways", "default"),
    Case("cluster", "default", of_platform=True),
)
JOB_CHANGES: Final = (
    {"parallelism": 3},
    {"completions": 99},
    {"parallelism": -1},
    {"suspend": True},
    {"backoffLimitPerIndex": 1},
    {"completionMode": "NonIndexed"},
)


def objects() -> dict[str, list[Object]]:
    """What is rendered, by kind, without namespaces, which take their time to go, and alpha kinds."""
    found: dict[str, list[Object]] = {}
    cases = (
        Case("cluster", "default"),
        Case("ways", "default"),
        Case("cluster", "default", of_platform=True),
    )
    for case in cases:
        for each in case.rendered().objects:
            if each["kind"] != "Namespace" and "v1alpha" not in each["apiVersion"] and not _gated(each):
                found.setdefault(each["kind"], []).append(each)
    return found


def _gated(value: Object) -> bool:
    """Whether it has a field that a real server drops by default."""
    return "schedulingGroup" in str(value.get("spec"))


def asks(value: Object) -> Iterator[Ask]:
    """What an apply, somebody beside it, and a deletion ask."""
    kind, metadata = kind_of(value), value["metadata"]
    many = kind.path(metadata.get("namespace"))
    path = kind.path(metadata.get("namespace"), metadata["name"])
    changed = deepcopy(dict(value))
    changed["metadata"]["labels"] = {**metadata.get("labels", {}), "app.kubernetes.io/managed-by": "x"}
    others = {**OURS, "fieldManager": "other"}
    yield Ask("POST", many, {**OURS, "dryRun": "All"}, JSON, value)
    yield Ask("PATCH", path, {**OURS, "dryRun": "All"}, APPLY, value)
    yield Ask("PATCH", path, OURS, APPLY, value)
    yield Ask("PATCH", path, OURS, APPLY, value)
    yield Ask("PATCH", path, others, APPLY, changed)
    yield Ask("PATCH", path, {**others, "force": "true"}, APPLY, changed)
    yield Ask("PATCH", path, OURS, APPLY, value)
    yield Ask("POST", many, OURS, JSON, value)
    yield Ask("PATCH", path, OURS, APPLY, {**value, "nosuch": 1})
    yield Ask("PUT", path, OURS, JSON, {**value, "nosuch": 1}, is_versioned=True)
    yield Ask(
        "PATCH", path, {**OURS, "fieldManager": "third"}, MERGE, {"metadata": {"annotations": {"a": "b"}}}
    )
    yield Ask("PUT", path, OURS, JSON, {**value, "metadata": {**metadata, "resourceVersion": "1"}})
    if kind.name == "Job":
        yield from (Ask("PATCH", path, OURS, MERGE, {"spec": change}) for change in JOB_CHANGES)
    if kind.name == "ConfigMap":
        yield Ask("PATCH", path, OURS, MERGE, {"data": {"more": "text"}})
    yield Ask("DELETE", path, {}, JSON, {"preconditions": {"uid": "another"}})
    yield Ask("DELETE", path, {}, JSON, {"propagationPolicy": "Background"})
    yield Ask("DELETE", path, {})


@pytest.fixture(scope="module")
def pair(plane: Plane) -> Pair:
    found = Pair(FakeApiServer(), Talk(plane.address, plane.authority.file, "admin"))
    for name in ("archive", "library", "laboratory"):
        value = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        found.ask(Ask("POST", "/api/v1/namespaces", OURS, JSON, value))
    return found


@pytest.mark.parametrize("kind", sorted(objects()))
def test_it_answers_alike(kind: str, pair: Pair) -> None:
    known = re.compile(KNOWN.get(kind, r"\.managedFields\[0\]\.nothing"))
    found = [told for value in objects()[kind] for asked in asks(value) for told in _told(pair, asked, known)]
    assert found == []


def test_a_namespace_that_goes_is_there_until_it_is_empty_and_takes_nothing_more(pair: Pair) -> None:
    labels = {"kubernetes.io/metadata.name": "going"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going"}}
    held = {"name": "held", "namespace": "going", "finalizers": ["example.org/held"]}
    late = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late", "namespace": "going"}}
    path = "/api/v1/namespaces/going"
    asked = (
        Ask("POST", "/api/v1/namespaces", OURS, JSON, namespace),
        Ask("PATCH", path, OURS, MERGE, {"metadata": {"labels": None}}),
        Ask("POST", f"{path}/configmaps", OURS, JSON, {**late, "metadata": held}),
        Ask("DELETE", path, {}),
        Ask("POST", f"{path}/configmaps", OURS, JSON, late),
        Ask("PATCH", f"{path}/configmaps/late", OURS, APPLY, late),
        Ask("GET", path, {}),
    )
    answers = [pair.ask(each) for each in asked]
    assert [told for fake, real in answers for told in _differences(fake, real)] == []
    fake, _ = answers[-1]
    assert fake.body["metadata"]["labels"] == labels
    assert fake.body["status"]["phase"] == "Terminating"
    pair.ask(Ask("PATCH", f"{path}/configmaps/held", OURS, MERGE, {"metadata": {"finalizers": None}}))


def _told(pair: Pair, asked: Ask, known: re.Pattern[str]) -> Iterator[str]:
    fake, real = pair.ask(asked)
    for each in _differences(fake, real):
        if not known.search(each.split(": fake ")[0]):
            yield f"{asked.method} {asked.path} {dict(asked.query)}: {each}"


def _differences(fake: Answered, real: Answered) -> list[str]:
    if fake.status != real.status:
        return [f".code: fake {fake.status}, real {real.status}: {_reason(real.body)}"]
    return differences(_without_identity(fake.body), _without_identity(real.body))


def _reason(body: Any) -> str:
    return str(body.get("message", ""))[:300]


def _without_identity(body: Any) -> Any:
    """A refusal without the identifiers that it quotes."""
    if body.get("kind") == "Status" and "UID in precondition" in str(body).replace(
        "the UID in the", "UID in"
    ):
        return {"reason": body.get("reason"), "code": body.get("code")}
    return body
