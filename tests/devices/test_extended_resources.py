"""Cards through extended resources: the class for each, the claim of a pod, and what each container gets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.classes import DeviceClass
from allotment.devices.extended_resources import (
    PREFIX,
    Container,
    ExtendedClaim,
    Served,
    classes_by_resource,
    containers_of,
    extended_claim,
    resource_names,
    served_by,
)
from allotment.devices.limits import claim_problems

GPU = "example.com/gpu"
NIC = f"{PREFIX}nic"
CLASSES = classes_by_resource([DeviceClass("gpu", extended_resource_name=GPU), DeviceClass("nic")])


def container(name: str, **wanted: int) -> Container:
    names = {"gpu": GPU, "nic": NIC, "cpu": "cpu"}
    kind, _, _ = name.partition("-")
    requests = {names[key]: str(count) for key, count in wanted.items()}
    return Container(name, requests, kind in {"init", "side"}, kind == "side")


def asked(claim: ExtendedClaim) -> dict[str, int]:
    return {each.name: each.exactly.count for each in claim.spec.requests if each.exactly is not None}


def served(claim: ExtendedClaim) -> list[str]:
    return [f"{each.container} {each.request}" for each in claim.mappings]


@pytest.mark.parametrize(
    ("containers", "requests", "mappings"),
    [
        ([container("main", gpu=2)], {"container-0-request-0": 2}, ["main container-0-request-0"]),
        ([container("main", cpu=1, gpu=2)], {"container-0-request-1": 2}, ["main container-0-request-1"]),
        ([container("main", gpu=0)], {}, []),
        ([container("main")], {}, []),
        (
            [container("a", gpu=1), container("b", gpu=1)],
            {"container-0-request-0": 1, "container-1-request-0": 1},
            ["a container-0-request-0", "b container-1-request-0"],
        ),
        # an init container uses what the others have, and asks for the rest
        (
            [container("init-a", gpu=1), container("main", gpu=2)],
            {"container-1-request-0": 2},
            ["main container-1-request-0", "init-a container-1-request-0"],
        ),
        (
            [container("init-a", gpu=3), container("main", gpu=2)],
            {"container-0-request-0": 1, "container-1-request-0": 2},
            [
                "main container-1-request-0",
                "init-a container-1-request-0",
                "init-a container-0-request-0",
            ],
        ),
        # two init containers one after the other: the larger rest serves both
        (
            [container("init-a", gpu=3), container("init-b", gpu=5), container("main", gpu=2)],
            {"container-1-request-0": 3, "container-2-request-0": 2},
            [
                "main container-2-request-0",
                "init-a container-2-request-0",
                "init-a container-1-request-0",
                "init-b container-2-request-0",
                "init-b container-1-request-0",
            ],
        ),
        # a sidecar goes on, so that only what comes after an init container can lend to it
        (
            [container("side-a", gpu=1), container("init-b", gpu=1), container("main", gpu=1)],
            {"container-0-request-0": 1, "container-2-request-0": 1},
            [
                "side-a container-0-request-0",
                "main container-2-request-0",
                "init-b container-2-request-0",
            ],
        ),
        (
            [container("main", gpu=1, nic=2)],
            {"container-0-request-0": 2, "container-0-request-1": 1},
            ["main container-0-request-0", "main container-0-request-1"],
        ),
    ],
)
def test_the_claim_of_a_pod(
    containers: list[Container], requests: dict[str, int], mappings: list[str]
) -> None:
    claim = extended_claim(containers, [GPU, NIC], CLASSES)
    assert asked(claim) == requests
    assert served(claim) == mappings


def test_requests_are_in_the_order_of_their_names() -> None:
    many = [container(f"c{number}", gpu=1) for number in range(11)]
    claim = extended_claim(many, [GPU], CLASSES)
    assert [each.name for each in claim.spec.requests][:3] == [
        "container-0-request-0",
        "container-1-request-0",
        "container-10-request-0",
    ]


def test_containers_out_of_a_pod() -> None:
    spec: dict[str, Any] = {
        "initContainers": [
            {"name": "i", "resources": {"limits": {GPU: 1}}},
            {"name": "s", "restartPolicy": "Always"},
        ],
        "containers": [
            {"name": "m", "resources": {"limits": {GPU: "2", "cpu": "1"}, "requests": {"cpu": "500m"}}}
        ],
    }
    assert containers_of(spec) == (
        Container("i", {GPU: "1"}, is_init=True),
        Container("s", {}, is_init=True, is_sidecar=True),
        Container("m", {GPU: "2", "cpu": "500m"}),
    )
    assert resource_names(containers_of(spec)) == (GPU,)


def test_only_extended_resources_are_looked_at() -> None:
    wanted = {GPU: "1", NIC: "1", "cpu": "1", "hugepages-2Mi": "1", "a.kubernetes.io/b": "1", "x.y/z": "0"}
    assert resource_names([Container("m", wanted)]) == (NIC, GPU)


def test_each_class_stands_for_its_own_name() -> None:
    assert {key: each.name for key, each in CLASSES.items()} == {
        GPU: "gpu",
        f"{PREFIX}gpu": "gpu",
        NIC: "nic",
    }


@pytest.mark.parametrize(
    ("ages", "chosen"),
    [
        ({"a": "2026-01-01T00:00:00Z", "b": "2026-01-02T00:00:00Z"}, "b"),
        ({"a": "2026-01-02T00:00:00Z", "b": "2026-01-01T00:00:00Z"}, "a"),
        ({"a": "2026-01-01T00:00:00Z", "b": "2026-01-01T00:00:00Z"}, "a"),
        ({"b": None, "a": None}, "a"),
        ({"a": None, "b": "2026-01-01T00:00:00Z"}, "b"),
    ],
)
def test_of_two_classes_the_newer_one(ages: dict[str, str | None], chosen: str) -> None:
    classes = [
        DeviceClass(name, extended_resource_name=GPU, metadata={"creationTimestamp": age} if age else {})
        for name, age in ages.items()
    ]
    assert classes_by_resource(classes)[GPU].name == chosen


@pytest.mark.parametrize(
    ("allocatable", "expected"),
    [
        ({}, Served(by_class=(GPU,), missing=("x.y/z",))),
        ({GPU: "0"}, Served(by_class=(GPU,), missing=("x.y/z",))),
        ({GPU: "4", "x.y/z": "1"}, Served(by_plugin=(GPU, "x.y/z"))),
        ({"x.y/z": "0"}, Served(by_class=(GPU,), by_plugin=("x.y/z",))),
    ],
)
def test_a_device_plugin_goes_before_a_class(allocatable: dict[str, str], expected: Served) -> None:
    assert served_by([GPU, "x.y/z"], CLASSES, allocatable) == expected


def test_the_object_that_a_scheduler_creates() -> None:
    claim = extended_claim([container("main", gpu=1)], [GPU], CLASSES)
    assert claim.to_dict("p", "n", "u") == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": "p-extended-resources-",
            "namespace": "n",
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
            ],
        },
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "container-0-request-0",
                        "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1},
                    }
                ]
            }
        },
    }
    assert claim.mappings[0].to_dict() == {
        "containerName": "main",
        "resourceName": GPU,
        "requestName": "container-0-request-0",
    }


pods = st.lists(
    st.builds(
        Container,
        st.sampled_from(["a", "b", "c"]),
        st.dictionaries(st.sampled_from([GPU, NIC, "cpu"]), st.integers(0, 5).map(str)),
        st.booleans(),
        st.booleans(),
    ),
    max_size=6,
)


@given(pods)
def test_every_container_is_served_with_enough(containers: list[Container]) -> None:
    ordered = sorted(containers, key=lambda each: not each.is_init)
    named = [
        Container(f"c{n}", each.requests, each.is_init, each.is_sidecar) for n, each in enumerate(ordered)
    ]
    claim = extended_claim(named, [GPU, NIC], CLASSES)
    counts = asked(claim)
    for each in named:
        for resource in (GPU, NIC):
            mine = [one.request for one in claim.mappings if one[:2] == (each.name, resource)]
            assert len(set(mine)) == len(mine)
            assert sum(counts[name] for name in mine) >= each.count(resource)
    lasting = sum(each.count(GPU) + each.count(NIC) for each in named if not each.ends_early)
    assert sum(counts.values()) >= lasting
    assert claim_problems(claim.spec) == ()
