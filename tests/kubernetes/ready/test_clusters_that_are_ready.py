"""A cluster that has what the platform's file becomes is ready, and each check that applies says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.answers import State, examine
from allotment.kubernetes.ready import CHECKS, Secret, checks
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.ready.clusters import answers, said, seen_of, with_more

OF_SCHEDULERS = {
    "default": set(),
    "kueue": {"kueue", "kueue's configuration", "queues", "active queues"},
    "kai": {"kai", "queues", "kai's queues"},
}
OF_SCHEDULERS["both"] = OF_SCHEDULERS["kueue"] | OF_SCHEDULERS["kai"]
ALWAYS = {
    "cluster",
    "kubernetes",
    "gates",
    "driver",
    "slices",
    "taints",
    "layout",
    "classes",
    "kinds of card",
    "priorities",
    "admission",
}
ALWAYS |= {"namespaces", "roles", "credentials", "limits"}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_nothing_is_in_the_way(scheduler: str) -> None:
    seen = replace(seen_of(scheduler), secrets={"archive": Secret(frozenset({"credentials"}))}, skew=0.4)
    found = list(examine(checks(seen)))
    assert [each for each in found if each.state is State.PROBLEM] == []
    notes = {each.check for each in found if each.state is State.NOTE}
    assert notes == {"gates", "kinds of card"}, "a gate of the driver cannot be seen, and there is no L4"
    assert {each.check for each in found} == ALWAYS | OF_SCHEDULERS[scheduler] | {"clock"}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_an_empty_cluster_breaks_no_check(scheduler: str) -> None:
    seen = seen_of(scheduler)
    empty = replace(seen, snapshot=replace(seen.snapshot, objects=(), version=""), served=frozenset())
    for name in CHECKS:
        for each in answers(empty, name):
            assert each.said
            assert each.state is State.FINE or each.remedy or "cannot be told" in each.said


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_objects_that_say_nothing_break_no_check(scheduler: str) -> None:
    seen = seen_of(scheduler)
    bare = tuple(
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": {
            key: each["metadata"][key] for key in ("name", "namespace") if key in each["metadata"]
        }}
        for each in seen.snapshot.objects
    )  # fmt: skip
    found = list(examine(checks(replace(seen, snapshot=replace(seen.snapshot, objects=bare)))))
    assert not [each for each in found if "could not be looked at" in each.said]


def test_what_of_a_server_is_beside_changes_nothing() -> None:
    seen = seen_of("both")
    other = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "others"}}
    assert "others" not in said(answers(with_more(seen, other), "queues"))
