"""Where live objects are not what the platform's file becomes."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.answers import State
from allotment.kubernetes import kinds
from tests.kubernetes.ready.alterations import (
    NOTE,
    PROBLEM,
    Alter,
    Case,
    lacking,
    setting,
    told,
)
from tests.kubernetes.ready.clusters import (
    answers,
    said,
    seen_of,
    without,
)

CASES: list[Case] = [
    (
        "kueue",
        "queues",
        setting(
            "ClusterQueue",
            "archive",
            "3",
            "spec",
            "resourceGroups",
            0,
            "flavors",
            0,
            "resources",
            0,
            "nominalQuota",
        ),
        PROBLEM,
        "ClusterQueue archive:",
    ),
    (
        "kueue",
        "queues",
        setting("ClusterQueue", "archive", "Never", "spec", "preemption", "reclaimWithinCohort"),
        PROBLEM,
        "spec.preemption.reclaimWithinCohort is Never, and should be Any",
    ),
    (
        "kueue",
        "queues",
        setting(
            "ClusterQueue",
            "archive",
            "2",
            "spec",
            "resourceGroups",
            0,
            "flavors",
            0,
            "resources",
            0,
            "lendingLimit",
        ),
        NOTE,
        "lendingLimit is 2, of which the platform's file says nothing",
    ),
    (
        "kueue",
        "queues",
        lambda seen: without(seen, "LocalQueue"),
        PROBLEM,
        "1 LocalQueue is not there: archive/archive",
    ),
    (
        "kueue",
        "roles",
        lambda seen: without(without(seen, "Role"), "ClusterRoleBinding"),
        PROBLEM,
        "1 Role and 2 ClusterRoleBindings are not there: archive/allotment-apply; allotment-",
    ),
    (
        "kai",
        "queues",
        setting("Queue", "archive", 9, "spec", "resources", "gpu", "quota"),
        PROBLEM,
        "Queue archive: spec.resources.gpu.quota is 9, and should be 4",
    ),
    (
        "default",
        "priorities",
        setting("PriorityClass", "allotment-bulk", 7, "value"),
        PROBLEM,
        "PriorityClass allotment-bulk: value is 7, and should be 0",
    ),
    (
        "kueue",
        "admission",
        lambda seen: without(seen, "ValidatingAdmissionPolicyBinding", "allotment-pods"),
        PROBLEM,
        "1 ValidatingAdmissionPolicyBinding is not there: allotment-pods",
    ),
    (
        "kueue",
        "admission",
        setting("ValidatingAdmissionPolicy", "allotment-pods", "Ignore", "spec", "failurePolicy"),
        PROBLEM,
        "spec.failurePolicy is Ignore, and should be Fail",
    ),
    (
        "kueue",
        "admission",
        setting(
            "ValidatingAdmissionPolicy",
            "allotment-pods",
            [{"name": "x", "expression": "false"}],
            "spec",
            "matchConditions",
        ),
        PROBLEM,
        "spec.matchConditions[x] is",
    ),
    (
        "default",
        "namespaces",
        setting("Namespace", "archive", ..., "metadata", "labels", "pod-security.kubernetes.io/enforce"),
        PROBLEM,
        "metadata.labels.pod-security.kubernetes.io/enforce is nothing, and should be",
    ),
    (
        "default",
        "namespaces",
        setting("Namespace", "archive", "laboratory", "metadata", "labels", "allotment/team"),
        PROBLEM,
        "metadata.labels.allotment/team is laboratory, and should be archive",
    ),
    (
        "default",
        "going",
        setting("Namespace", "archive", "2026-11-30T00:00:00Z", "metadata", "deletionTimestamp"),
        PROBLEM,
        "namespace archive is being deleted",
    ),
    (
        "default",
        "roles",
        setting("Role", "allotment-apply", [], "rules"),
        PROBLEM,
        "Role archive/allotment-apply: rules is nothing",
    ),
]


@pytest.mark.parametrize(("scheduler", "check", "alter", "state", "words"), CASES)
def test_it_is_told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    told(scheduler, check, alter, state, words)


def test_a_kind_that_could_not_be_read_is_not_called_missing() -> None:
    seen = lacking(kinds.DEVICE_CLASS, kinds.CLUSTER_QUEUE)(seen_of("kueue"))
    assert answers(seen, "classes") == []
    assert "ClusterQueue" not in said(answers(seen, "queues"))


@pytest.mark.parametrize(
    ("kind", "name", "path", "value", "words"),
    [
        (
            "PriorityClass",
            "allotment-bulk",
            ("value",),
            7,
            "priorityclasses.scheduling.k8s.io allotment-bulk",
        ),
        (
            "RoleBinding",
            "allotment-apply",
            ("roleRef", "name"),
            "other",
            "-n archive rolebindings.rbac.authorization.k8s.io allotment-apply",
        ),
        ("PriorityClass", "allotment-bulk", ("description",), "other", None),
        ("Role", "allotment-apply", ("rules",), [], None),
    ],
)
def test_what_cannot_be_changed_in_place_is_to_be_deleted_first(
    kind: str, name: str, path: tuple[str, ...], value: Any, words: str | None
) -> None:
    seen = setting(kind, name, value, *path)(seen_of("default"))
    check = "roles" if kind.startswith("Role") else "priorities"
    (found,) = [each for each in answers(seen, check) if each.state is PROBLEM]
    assert ("kubectl delete" in found.remedy) == (words is not None)
    assert f"{words or ''}" in found.remedy
    assert "allot render --platform-objects" in found.remedy
