"""The queues of both schedulers, by the fields and rules that their documentation and webhooks have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.render.platform.kai import TEAMS, gpu_numbers
from allotment.kubernetes.render.platform.kueue import device_class_mappings, nominal_quota, weight_text
from allotment.platform.model import Card, Platform, Queue, Team
from tests.kubernetes.stored import Case

CLUSTER_QUEUE = {
    "cohortName",
    "queueingStrategy",
    "namespaceSelector",
    "resourceGroups",
    "flavorFungibility",
    "preemption",
    "fairSharing",
    "stopPolicy",
}


def of_kind(scheduler: str, kind: str) -> dict[str, Any]:
    objects = Case("cluster", scheduler, of_platform=True).rendered().objects
    return {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == kind}


@pytest.mark.parametrize("scheduler", ["kueue", "both"])
def test_cluster_queues_say_every_default(scheduler: str) -> None:
    queues = of_kind(scheduler, "ClusterQueue")
    assert list(queues) == ["archive", "laboratory"]
    for name, spec in queues.items():
        assert set(spec) == CLUSTER_QUEUE
        assert spec["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": name}}
        (group,) = spec["resourceGroups"]
        for flavor in group["flavors"]:
            assert [each["name"] for each in flavor["resources"]] == group["coveredResources"]
    first = queues["archive"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    assert first == {"name": "gpus", "nominalQuota": "4", "borrowingLimit": "8"}
    second = queues["laboratory"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    assert second == {"name": "gpus", "nominalQuota": "4"}


@pytest.mark.parametrize("scheduler", ["kai", "both"])
def test_kai_queues_say_all_nine_numbers(scheduler: str) -> None:
    queues = of_kind(scheduler, "Queue")
    assert list(queues) == ["allotment-teams", "archive", "laboratory"]
    for name, spec in queues.items():
        assert list(spec["resources"]) == ["cpu", "memory", "gpu"]
        for numbers in spec["resources"].values():
            assert set(numbers) == {"quota", "overQuotaWeight", "limit"}
        assert spec.get("parentQueue") == (None if name == TEAMS else TEAMS)
    runtimes = {spec.get("reclaimMinRuntime") for name, spec in queues.items() if name != TEAMS}
    assert runtimes == ({"600s"} if scheduler == "kai" else {None})


def test_beside_kueue_kai_limits_nothing() -> None:
    for spec in of_kind("both", "Queue").values():
        for numbers in spec["resources"].values():
            assert numbers["quota"] == numbers["limit"] == -1
    alone = of_kind("kai", "Queue")["archive"]["resources"]["gpu"]
    assert alone == {"quota": 4, "overQuotaWeight": 2, "limit": 12}


@pytest.mark.parametrize(
    ("queue", "kueue", "kai"),
    [
        (Queue(4), 4, {"quota": 4, "overQuotaWeight": 1, "limit": -1}),
        (Queue(0), 0, {"quota": 0, "overQuotaWeight": 1, "limit": -1}),
        (Queue(2.5, 0.5, 3), 2, {"quota": 2.5, "overQuotaWeight": 0.5, "limit": 3}),
        (Queue(), 1_000_000, {"quota": -1, "overQuotaWeight": 1, "limit": -1}),
        (Queue(limit=6), 6, {"quota": -1, "overQuotaWeight": 1, "limit": 6}),
    ],
)
def test_a_queue_in_the_words_of_both(queue: Queue, kueue: int, kai: dict[str, float]) -> None:
    assert nominal_quota(queue) == kueue
    assert gpu_numbers(queue) == kai


@pytest.mark.parametrize(("weight", "text"), [(1, "1"), (2.0, "2"), (0.5, "500m"), (0, "0")])
def test_weights_are_quantities(weight: float, text: str) -> None:
    assert weight_text(weight) == text


def test_every_counted_class_is_mapped_once() -> None:
    platform = Case("cluster", "kueue", of_platform=True).platform
    (mapping,) = device_class_mappings(platform)
    assert mapping["name"] == "gpus"
    assert mapping["deviceClassNames"] == ["gpu.nvidia.com", "mig.nvidia.com", "gpu-a100-80", "gpu-l4"]


def test_more_classes_than_a_mapping_holds_are_told() -> None:
    cards = {f"kind-{number}": Card("L4", f"gpu-{number}") for number in range(9)}
    platform = Platform(scheduler="kueue", cards=cards, teams={"a": Team("a")})
    (mapping,) = device_class_mappings(platform)
    assert len(mapping["deviceClassNames"]) == 8
    notes = [note for note in render_platform(platform).notes if note.about == "cards"]
    assert "gpu-8 are refused" in notes[0].text


def test_settings_are_printed_and_never_objects() -> None:
    rendered = Case("cluster", "both", of_platform=True).rendered()
    assert [setting.value["kind"] for setting in rendered.settings] == ["Configuration", "SchedulingShard"]
    assert not {"Configuration", "SchedulingShard"} & {each["kind"] for each in rendered.objects}


def test_a_class_that_kai_would_not_count_is_told() -> None:
    cards = {"big": Card("L4", "large-cards")}
    for scheduler, told in (("kai", 1), ("both", 1), ("kueue", 0)):
        platform = Platform(scheduler=scheduler, cards=cards)
        assert sum("KAI does not count" in note.text for note in render_platform(platform).notes) == told


@pytest.mark.parametrize(("version", "named"), [("1.35", False), ("1.36", True), ("1.37", True)])
def test_extended_resources_are_named_where_they_are_known(version: str, named: bool) -> None:
    case = replace(Case("cluster", "default", of_platform=True), version=version)
    specs = [each["spec"] for each in case.rendered().objects if each["kind"] == "DeviceClass"]
    assert [spec.get("extendedResourceName") for spec in specs] == (
        ["allotment/gpu-a100-80", "allotment/gpu-l4"] if named else [None, None]
    )


def test_no_secret_is_ever_rendered() -> None:
    for scheduler in ("default", "kueue", "kai", "both"):
        for of_platform in (False, True):
            rendered = Case("cluster", scheduler, of_platform=of_platform).rendered()
            assert "Secret" not in {each["kind"] for each in rendered.objects}
