"""Whatever object of the API is written out is read back as it was, in every version that has its fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allotment.devices.claim_objects import ResourceClaim, ResourceClaimTemplate
from allotment.devices.claims import (
    AllocationMode,
    ClaimSpec,
    Constraint,
    ExactRequest,
    Request,
    SubRequest,
    Toleration,
)
from allotment.devices.classes import DeviceClass, OpaqueConfig
from allotment.devices.limits import slice_problems
from allotment.devices.nodes import Node, NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.reading import Reading, read_world
from allotment.devices.slices import (
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    Pool,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
    Version,
)
from allotment.devices.taint_rules import DeviceTaintRule
from allotment.documents.stream import scan_stream_bytes

names = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
keys = st.from_regex(r"([a-z]{1,5}\.example/)?[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
label_keys = st.from_regex(r"([a-z]{1,5}\.example/)?[A-Za-z]([A-Za-z0-9_]{0,7}[A-Za-z0-9])?", fullmatch=True)
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=16)
amounts = st.sampled_from(["0", "1", "40Gi", "81559Mi", "1k", "500m", "0.5Gi", "1e3"])
integers = st.integers(-(2**63), 2**63 - 1)
versions = st.builds("{}.{}.{}".format, *[st.integers(0, 999)] * 3).map(Version)
scalars = st.one_of(st.booleans(), integers, words, versions)
lists = st.one_of(
    *(
        st.lists(each, min_size=1, max_size=3).map(tuple)
        for each in (st.booleans(), integers, words, versions)
    )
)
plain = st.recursive(st.one_of(st.booleans(), integers, words), lambda below: st.dictionaries(names, below))


def many(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


def _overhead(amount: str) -> dict[str, Any]:
    return {"overhead": {"perPod": amount}}


policies = st.one_of(
    st.none(),
    st.builds(RequestPolicy, amounts, st.lists(amounts, min_size=1, max_size=3).map(tuple)),
    st.builds(
        RequestPolicy,
        amounts,
        valid_range=st.builds(ValidRange, amounts, st.none() | amounts, st.none() | amounts),
    ),
)
taints = st.builds(
    Taint,
    label_keys,
    st.sampled_from(["NoSchedule", "NoExecute", "None"]),
    names,
    st.none() | st.just("2026-01-02T03:04:05Z"),
)
requirements = st.builds(
    Requirement, names, st.just("In"), st.lists(names, min_size=1, max_size=2).map(tuple)
)
terms = st.builds(NodeSelectorTerm, many(requirements, 2), many(requirements, 1))
selectors = st.builds(NodeSelector, st.lists(terms, min_size=1, max_size=1).map(tuple))
counters = st.dictionaries(names, amounts, min_size=1, max_size=3)
devices = st.builds(
    Device,
    name=names,
    attributes=st.dictionaries(keys, scalars | lists, max_size=4),
    capacity=st.dictionaries(keys, st.builds(Capacity, amounts, policies), max_size=3),
    consumes_counters=many(st.builds(CounterConsumption, names, counters), 2),
    taints=many(taints, 2),
    node_name=st.none() | names,
    node_selector=st.none() | selectors,
    all_nodes=st.booleans(),
    binds_to_node=st.booleans(),
    binding_conditions=many(names, 2),
    binding_failure_conditions=many(names, 2),
    allow_multiple_allocations=st.booleans(),
    node_allocatable=st.dictionaries(
        st.sampled_from(["cpu", "memory"]), st.builds(_overhead, amounts), max_size=2
    ),
)
metadata = st.dictionaries(st.sampled_from(["uid", "creationTimestamp", "finalizers"]), plain, max_size=2)
slices = st.builds(
    ResourceSlice,
    name=names,
    driver=names,
    pool=st.builds(Pool, names, st.integers(0, 9), st.integers(1, 9)),
    node_name=st.none() | names,
    node_selector=st.none() | selectors,
    all_nodes=st.booleans(),
    per_device_node_selection=st.booleans(),
    devices=many(devices),
    shared_counters=many(st.builds(CounterSet, names, counters), 2),
    partition_type_attribute=st.none() | names,
    skip_node_operations=many(names, 2),
    metadata=metadata,
)
configs = st.builds(OpaqueConfig, names, st.dictionaries(names, plain, max_size=2))
expressions = st.sampled_from(["true", "device.driver == 'a.example'", "'x' in device.attributes"])
classes = st.builds(
    DeviceClass, names, many(expressions, 2), many(configs, 1), st.none() | st.just("a.example/b"), metadata
)
effects = st.sampled_from(["", "NoSchedule", "NoExecute", "None"])
tolerations = st.builds(Toleration, names, st.just("Equal"), names, effects, st.none() | st.integers(0, 99))
tolerations |= st.builds(Toleration, names, st.just("Exists"))
exact = st.builds(
    ExactRequest,
    names,
    many(expressions, 2),
    st.integers(1, 9),
    tolerations=many(tolerations, 2),
    capacity=st.dictionaries(keys, amounts, max_size=2),
) | st.builds(ExactRequest, names, mode=st.just(AllocationMode.ALL), admin_access=st.booleans())
subs = st.lists(st.builds(SubRequest, names, exact), min_size=1, max_size=2, unique_by=lambda sub: sub.name)
requests = st.builds(Request, names, exact) | st.builds(Request, names, first_available=subs.map(tuple))
specs = st.builds(
    ClaimSpec,
    st.lists(requests, max_size=3, unique_by=lambda request: request.name).map(tuple),
    many(st.builds(Constraint, many(names, 0), st.just("a.example/b")), 1),
    many(st.builds(OpaqueConfig, names, st.dictionaries(names, plain, max_size=1)), 1),
)
claims = st.builds(ResourceClaim, names, names, specs, st.dictionaries(names, plain, max_size=2), metadata)
labels: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.fixed_dictionaries(
    {"labels": st.dictionaries(names, names, max_size=2)}
)
templates = st.builds(ResourceClaimTemplate, names, names, specs, labels, metadata)
rules = st.builds(DeviceTaintRule, names, taints, *[st.none() | names] * 3)
rules |= st.builds(DeviceTaintRule, names, taints, selects=st.just(False))
nodes = st.builds(
    Node,
    names,
    st.dictionaries(names, words, max_size=2),
    st.dictionaries(names, amounts, max_size=2),
    many(st.fixed_dictionaries({"key": names, "effect": names}), 2),
    st.booleans(),
    metadata,
)
relaxed = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def read_json(value: dict[str, Any]) -> Reading:
    documents, findings = scan_stream_bytes(json.dumps(value, ensure_ascii=False).encode(), name="x.json")
    assert findings == []
    return read_world(documents)


def read_yaml(value: dict[str, Any]) -> Reading:
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    documents, findings = scan_stream_bytes(text.encode(), name="x.yaml")
    assert findings == []
    return read_world(documents)


@relaxed
@given(published=slices)
@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_a_slice(read: Callable[[dict[str, Any]], Reading], published: ResourceSlice) -> None:
    reading = read(published.to_dict())
    if slice_problems(published):  # then it is left out, and why is said, or of the pool as a whole
        assert reading.findings
    else:
        assert reading.world.slices == (published,)


@relaxed
@given(device=devices)
def test_a_device_of_every_version(device: Device) -> None:
    newest = ResourceSlice("s", "d.example", Pool("p"), "n", devices=(device,))
    older = newest.to_dict()
    fields = older["spec"]["devices"][0]
    older["spec"]["devices"] = [{"name": fields.pop("name"), "basic": fields}]
    for version, value in (("v1", newest.to_dict()), ("v1beta2", newest.to_dict()), ("v1beta1", older)):
        value["apiVersion"] = f"resource.k8s.io/{version}"
        assert read_json(value).world.slices == (() if slice_problems(newest) else (newest,))


@relaxed
@given(found=st.one_of(classes, claims, templates, rules, nodes))
def test_every_other_kind(found: Any) -> None:
    world = read_json(found.to_dict()).world
    others: dict[type, list[Any]] = {
        DeviceClass: list(world.classes.values()),
        ResourceClaim: list(world.claims),
        ResourceClaimTemplate: list(world.templates),
        DeviceTaintRule: list(world.taint_rules),
        Node: list(world.nodes.values()),
    }
    assert others[type(found)] == [found]


@relaxed
@given(claim=claims)
def test_a_claim_of_the_older_version(claim: ResourceClaim) -> None:
    older = claim.to_dict()
    older["apiVersion"] = "resource.k8s.io/v1beta1"
    for request in older["spec"].get("devices", {}).get("requests", ()):
        request.update(request.pop("exactly", {}))
    assert read_json(older).world.claims == (claim,)
