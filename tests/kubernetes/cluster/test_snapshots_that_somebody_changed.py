"""A snapshot with anything put anywhere: it is told at its place, or whoever reads it can live with it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.forms.queues import as_text
from allotment.cli.forms.queues_data import as_data
from allotment.cli.rules import RULES
from allotment.devices.describe import parse_description
from allotment.errors import AllotmentError, FindingsError
from allotment.kubernetes.cluster.anonymous import anonymous
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.file_reading import snapshot_of
from allotment.kubernetes.cluster.kai_objects import duration
from allotment.kubernetes.cluster.packed import unpacked
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.planning.queues_of_cluster import shares_of_cluster
from tests.kubernetes.cluster.queue_objects import local_queue, made, of_kai, of_kueue, workload


def pod() -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    spec = {"nodeName": "oak", "containers": containers, "resourceClaims": [{"name": "g"}]}
    found = made("v1", "Pod", "p", spec, "team")
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    found["metadata"] |= {
        "annotations": {"pod-group-name": "g"},
        "ownerReferences": [{"name": "j", "uid": "u"}],
    }
    return found | {"status": {"phase": "Pending", "conditions": conditions}}


def admitted() -> dict[str, Any]:
    assigned = {"name": "main", "flavors": {"gpus": "any"}, "resourceUsage": {"gpus": "2"}}
    admission = {"clusterQueue": "q", "podSetAssignments": [assigned]}
    requests = [{"name": "main", "resources": {"gpus": "2"}}]
    return workload("w", "team", 2, status={"admission": admission, "resourceRequests": requests})


OWN = {"name": "any", "resources": [{"name": "gpus", "nominalQuota": "5"}]}
GROUPS = {"resourceGroups": [{"coveredResources": ["gpus"], "flavors": [OWN]}], "parentName": "top"}
ALLOCATED = {
    "allocation": {
        "devices": {"results": [{"device": "gpu-0", "driver": "d", "pool": "oak", "request": "r"}]}
    }
}
WHOLE: tuple[dict[str, Any], ...] = (
    of_kueue("q", 4, 2, borrow=2),
    made("kueue.x-k8s.io/v1beta2", "Cohort", "all", GROUPS),
    local_queue("team", "team", "q"),
    admitted(),
    workload("v", "team", 3),
    of_kai("k", 1, 2, allocated=1, requested=2),
    made("scheduling.run.ai/v2alpha2", "PodGroup", "g", {"queue": "k"}, "team"),
    pod(),
    made("resource.k8s.io/v1", "ResourceClaim", "c", {}, "team") | {"status": ALLOCATED},
    *(each.to_dict() for each in parse_description("1 x L4").slices),
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from places(each, (*path, number))


PLACES = [(number, path) for number, each in enumerate(WHOLE) for path in places(each)]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        0,
        -1,
        1.5,
        True,
        "",
        "text",
        "1e9999",
        [],
        {},
        [None],
        ["x"],
        [[]],
        [{}],
        {"x": None},
        {"name": 3},
    ]
)


@given(st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=3))
def test_nothing_that_is_put_anywhere_ends_in_a_defect(changes: list[tuple[Any, Any]]) -> None:
    objects = deepcopy(list(WHOLE))
    for (number, path), value in changes:
        _put(objects[number], path, value)
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    try:
        snapshot = snapshot_of(text.encode(), name="x", otherwise=0.0)
    except FindingsError:
        return
    for each in (snapshot, anonymous(snapshot)):
        assert snapshot_text(each)
        shares = shares_of_cluster(each)
        assert list(as_text(shares, 80, in_words=True))
        assert json.dumps(as_data(shares))
        world_of(each)


def _is_told(number: int, path: tuple[str | int, ...], value: Any, words: str) -> None:
    objects = deepcopy(list(WHOLE))
    _put(objects[number], path, value)
    with pytest.raises(FindingsError) as raised:
        snapshot_of(json.dumps({"kind": "List", "items": objects}).encode(), name="x", otherwise=0.0)
    assert words in str(raised.value)
    assert {finding.rule for finding in raised.value.findings} <= RULES.keys()


def _put(value: Any, path: tuple[str | int, ...], new: Any) -> None:
    for step in path[:-1]:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return
    last: Any = path[-1]
    if isinstance(value, dict) or (isinstance(value, list) and isinstance(last, int) and last < len(value)):
        value[last] = deepcopy(new)


@pytest.mark.parametrize(
    ("number", "path", "value", "words"),
    [
        (
            0,
            ("spec", "resourceGroups"),
            {},
            "`items[0].spec.resourceGroups` must be a list, and this is a mapping",
        ),
        (0, ("spec", "cohortName"), 3, "`3` is the number 3, and text is expected here"),
        (
            3,
            ("spec", "podSets", 0),
            "x",
            "`items[3].spec.podSets[0]` must be a mapping, and this is the text `x`",
        ),
        (
            3,
            ("status", "conditions"),
            "x",
            "`items[3].status.conditions` must be a list, and this is the text",
        ),
    ],
)
def test_a_part_of_another_kind_is_told(
    number: int, path: tuple[str | int, ...], value: Any, words: str
) -> None:
    _is_told(number, path, value, words)


def test_what_stands_there_as_it_should_is_no_finding() -> None:
    text = snapshot_text(Snapshot(0.0, WHOLE))
    assert len(snapshot_of(text.encode(), name="x", otherwise=0.0).objects) == len(WHOLE)


@pytest.mark.parametrize(
    ("kind", "spec", "place"),
    [
        ("Job", {"completions": -4}, "spec.completions"),
        ("Job", {"parallelism": True}, "spec.parallelism"),
        ("Deployment", {"replicas": "many"}, "spec.replicas"),
    ],
)
def test_a_number_that_no_server_hands_out_is_told_at_its_place(
    kind: str, spec: dict[str, Any], place: str
) -> None:
    value = made("batch/v1" if kind == "Job" else "apps/v1", kind, "j", spec, "team")
    with pytest.raises(FindingsError) as caught:
        snapshot_of(json.dumps(value).encode(), name="s.json", otherwise=0.0)
    assert place.rpartition(".")[2] in str(caught.value)
    assert "a number from 0 on" in str(caught.value)


def test_an_object_that_stands_there_twice_is_told() -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod(), pod(), pod()]}).encode()
    found = snapshot_of(text, name="s.json", otherwise=0.0)
    assert len(found.objects) == 1
    assert any(note.startswith("2 objects stand there more than once") for note in found.notes)


def test_a_small_file_that_stands_for_a_large_one_is_refused_before_it_is_unpacked() -> None:
    packed = gzip.compress(b" " * (80 << 20), 9)
    with pytest.raises(AllotmentError, match="unpacked, the snapshot has more than"):
        unpacked(packed, "s.gz")
    assert unpacked(gzip.compress(b" " * 1000), "s.gz") == b" " * 1000


@pytest.mark.parametrize(
    ("number", "path", "value", "words"),
    [
        (0, ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota"), "NaN", "a quantity"),
        (0, ("spec", "fairSharing"), {"weight": [1]}, "a quantity"),
        (3, ("spec", "podSets", 0, "count"), -1, "a number from 0 on"),
        (3, ("spec", "priority"), "high", "a whole number"),
        (5, ("spec", "resources", "gpu", "quota"), [None], "a number"),
        (5, ("spec", "preemptMinRuntime"), "soon", "a duration"),
        (5, ("metadata", "creationTimestamp"), "yesterday", "a time"),
        (7, ("spec", "overhead"), {"cpu": "much"}, "a quantity"),
        (7, ("spec", "containers", 0, "resources", "requests", "cpu"), "", "a quantity"),
        (7, ("spec", "affinity"), {"nodeAffinity": []}, "a mapping"),
        (7, ("spec", "tolerations"), [{"effect": ["NoSchedule"]}], "text"),
        (7, ("status", "startTime"), "abc", "a time"),
        (7, ("metadata", "name"), "p/q", "no API server takes"),
    ],
)
def test_a_value_that_schedulers_would_stumble_over_is_told_at_its_place(
    number: int, path: tuple[str | int, ...], value: Any, words: str
) -> None:
    _is_told(number, path, value, words)


@pytest.mark.parametrize(("version", "is_one"), [("1.36", True), ("v1.36.2-gke.1", True), ("new", False)])
def test_a_version_of_a_cluster_is_one(version: str, is_one: bool) -> None:
    text = json.dumps({"kind": "List", "format_version": 1, "kubernetes": version, "items": []}).encode()
    if is_one:
        assert world_of(snapshot_of(text, name="x", otherwise=0.0)).world.server.name == "1.36"
        return
    with pytest.raises(FindingsError, match="no version of Kubernetes"):
        snapshot_of(text, name="x", otherwise=0.0)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0.0), ("1h0m0s", 3600.0), ("500ms", 0.5), ("1.5h", 5400.0), ("-1s", -1.0)]
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)
