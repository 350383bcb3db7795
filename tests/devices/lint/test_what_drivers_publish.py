"""The lint of what drivers publish: for every rule an example that fires, and the same one put right."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from allotment.devices.catalogue import cards
from allotment.devices.describe import parse_description
from allotment.devices.lint import Linted, lint_files, lint_slices
from allotment.devices.lint.rules import RULES
from allotment.errors import Severity

Object = dict[str, Any]
Change = Callable[[Object], None]


def card(name: str, uuid: str = "GPU-1", **more: Any) -> Object:
    attributes = {
        "type": {"string": "gpu"},
        "uuid": {"string": uuid},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "driverVersion": {"version": "580.126.20"},
        "resource.kubernetes.io/pciBusID": {"string": "0000:3b:00.0"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:3a"},
    }
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": "81559Mi"}}, **more}


def partition(name: str, number: int, counters: str = "") -> Object:
    found = card(name)
    found["attributes"] |= {
        "type": {"string": "mig"},
        "parentUUID": {"string": "GPU-1"},
        "uuid": {"string": f"MIG-{number}"},
        "profile": {"string": "1g.10gb"},
    }
    if counters:
        found["consumesCounters"] = [{"counterSet": counters, "counters": {"slots": {"value": "1"}}}]
    return found


def published(*devices: Object, node: str = "node-a", driver: str = "gpu.nvidia.com", **spec: Any) -> Object:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    whole = {"driver": driver, "nodeName": node, "pool": pool, "devices": list(devices), **spec}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}"},
        "spec": whole,
    }


def with_counters(sets: Object, *devices: Object) -> list[Object]:
    pool = {"name": "node-a", "generation": 1, "resourceSliceCount": 2}
    listed = [{"name": name, "counters": {"slots": {"value": value}}} for name, value in sets.items()]
    shared = published(pool=pool, sharedCounters=listed)
    shared["spec"].pop("devices")
    shared["metadata"]["name"] = "counters"
    return [shared, published(*devices, pool=pool)]


def lint(tmp_path: Path, *objects: Object) -> Linted:
    path = tmp_path / "slices.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}, indent=1))
    return lint_files([path])


def attribute(key: str, value: Any) -> Change:
    return lambda device: device["attributes"].update({key: value})


def without(*path: str) -> Change:
    def change(device: Object) -> None:
        inner = device
        for step in path[:-1]:
            inner = inner[step]
        del inner[path[-1]]

    return change


def memory(value: str) -> Change:
    return lambda device: device["capacity"].update({"memory": {"value": value}})


def both(*changes: Change) -> Change:
    def change(device: Object) -> None:
        for each in changes:
            each(device)

    return change


def renamed(name: str) -> Change:
    return lambda device: device.update({"name": name})


def more(**fields: Any) -> Change:
    return lambda device: device.update(fields)


ON_A_CARD: dict[str, tuple[Change, Change, str]] = {
    "no-memory": (without("capacity"), memory("1Gi"), "gpu-0: NVIDIA H100 80GB HBM3, capacity: none"),
    "zero-memory": (memory("0"), memory("81559Mi"), "gpu-0: NVIDIA H100 80GB HBM3, memory 0"),
    "memory-unit": (memory("81559"), memory("80Gi"), "gpu-0: NVIDIA H100 80GB HBM3, memory 81559"),
    "bare-device": (
        both(without("attributes"), without("capacity")),
        without("attributes", "driverVersion"),
        "gpu-0: no attributes, no capacity",
    ),
    "attribute-type": (
        attribute("driverVersion", {"string": "580.126.20"}),
        attribute("driverVersion", {"version": "1.0.0"}),
        'gpu-0: driverVersion is string "580.126.20", not a version',
    ),
    "attribute-form": (
        attribute("resource.kubernetes.io/pciBusID", {"string": "0000:3B:00.0"}),
        attribute("resource.kubernetes.io/pciBusID", {"string": "000f:01:00.0"}),
        'gpu-0: resource.kubernetes.io/pciBusID is "0000:3B:00.0", not of the form 0000:3b:00.0',
    ),
    "nonstandard-attribute": (
        both(
            without("attributes", "resource.kubernetes.io/pciBusID"),
            attribute("pcieBusID", {"string": "0000:3b:00.0"}),
        ),
        attribute("pcieBusID", {"string": "0000:3b:00.0"}),
        'gpu-0: pcieBusID is string "0000:3b:00.0"; resource.kubernetes.io/pciBusID is missing',
    ),
    "empty-attribute": (
        attribute("serial", {"string": ""}),
        attribute("serial", {"string": "1"}),
        'gpu-0: serial is string ""',
    ),
    "list-attribute": (
        attribute("links", {"strings": ["a", "b"]}),
        attribute("links", {"string": "a"}),
        'gpu-0: links is a list: string "a", string "b"',
    ),
    "no-pcie-root": (
        without("attributes", "resource.kubernetes.io/pcieRoot"),
        attribute("address", {"string": "0000:3b:00.0"}),
        "gpu-0: resource.kubernetes.io/pciBusID is 0000:3b:00.0; resource.kubernetes.io/pcieRoot is missing",
    ),
    "no-uuid": (
        both(without("attributes", "uuid"), without("attributes", "resource.kubernetes.io/pciBusID")),
        without("attributes", "uuid"),
        "gpu-0: NVIDIA H100 80GB HBM3: neither uuid nor resource.kubernetes.io/pciBusID",
    ),
    "old-name": (
        renamed("gpu-0-mig-19-4-1"),
        renamed("gpu-0-mig-1g10gb-19-4"),
        "gpu-0-mig-19-4-1: profile not told",
    ),
    "virtual-card": (
        attribute("brand", {"string": "NvidiaVCS"}),
        attribute("brand", {"string": "Nvidia"}),
        "gpu-0: NVIDIA H100 80GB HBM3, brand NvidiaVCS, memory 81559Mi",
    ),
    "tainted-device": (
        more(taints=[{"key": "gpu.nvidia.com/xid", "value": "43", "effect": "None"}]),
        more(taints=[]),
        "gpu-0: gpu.nvidia.com/xid=43:None (information only)",
    ),
    "capacity-without-policy": (
        more(allowMultipleAllocations=True),
        more(allowMultipleAllocations=False),
        "gpu-0: memory 81559Mi, without requestPolicy",
    ),
}


@pytest.mark.parametrize("rule", sorted(ON_A_CARD))
def test_a_rule_on_a_device_fires_with_its_evidence(rule: str, tmp_path: Path) -> None:
    odd, _, seen = ON_A_CARD[rule]
    device = card("gpu-0")
    odd(device)
    (finding,) = lint(tmp_path, published(device)).findings
    assert (finding.rule, finding.evidence) == (rule, (seen,))
    assert finding.hint
    assert device["name"] in finding.message
    assert finding.position.line > 1


@pytest.mark.parametrize("rule", sorted(ON_A_CARD))
def test_a_rule_on_a_device_does_not_fire_where_all_is_well(rule: str, tmp_path: Path) -> None:
    _, right, _ = ON_A_CARD[rule]
    device = card("gpu-0")
    right(device)
    assert rule not in {finding.rule for finding in lint(tmp_path, published(device)).findings}


def generation(value: int | None) -> Object:
    pool = {"name": "node-a", "resourceSliceCount": 1, **({} if value is None else {"generation": value})}
    return published(card("gpu-0"), pool=pool)


def older(version: str) -> Object:
    found = published(card("gpu-0"))
    found["apiVersion"] = f"resource.k8s.io/{version}"
    if version == "v1beta1":
        found["spec"]["devices"] = [
            {"name": device.pop("name"), "basic": device} for device in found["spec"]["devices"]
        ]
    return found


def pool_named(name: str) -> Object:
    return published(card("gpu-0"), pool={"name": name, "generation": 1, "resourceSliceCount": 1})


def two_nodes(pool: str) -> list[Object]:
    spec = {"generation": 1, "resourceSliceCount": 2 if pool else 1}
    return [
        published(card(f"gpu-{node}", f"GPU-{node}"), node=node, pool={"name": pool or node, **spec})
        for node in ("node-a", "node-ab")
    ]


def node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


EIGHT = [partition(f"gpu-0-mig-1g10gb-19-{number}", number) for number in range(8)]
TAKING = [partition(f"gpu-0-mig-1g10gb-19-{number}", number, "set-0") for number in range(8)]
WHOLE = card("gpu-0", consumesCounters=[{"counterSet": "set-0", "counters": {"slots": {"value": "8"}}}])
GREEDY = card("gpu-0", consumesCounters=[{"counterSet": "set-0", "counters": {"slots": {"value": "9"}}}])
OTHER = card("gpu-0")
OTHER["attributes"]["serial"] = {"int": 7}
SERIAL = card("gpu-1", "GPU-2")
SERIAL["attributes"]["serial"] = {"string": "7"}
SERIAL["attributes"]["resource.kubernetes.io/pciBusID"] = {"string": "0000:4b:00.0"}
ALIKE = deepcopy(SERIAL)
ALIKE["attributes"]["serial"] = {"int": 8}

TOGETHER: dict[str, tuple[list[Object], list[Object]]] = {
    "no-generation": ([generation(None)], [generation(0)]),
    "old-version": ([older("v1beta1")], [older("v1")]),
    "nothing-published": ([published()], [published(card("gpu-0"))]),
    "pool-name": ([pool_named("pool")], [pool_named("node-a-gpus")]),
    "pool-of-two-nodes": (two_nodes("node-a"), two_nodes("")),
    "duplicate-uuid": (
        [published(card("gpu-0")), published(card("gpu-0"), node="node-b")],
        [published(card("gpu-0")), published(card("gpu-0", "GPU-2"), node="node-b")],
    ),
    "counters-dropped": ([published(*EIGHT)], [published(*EIGHT[:7])]),
    "counter-too-small": (with_counters({"set-0": "8"}, GREEDY), with_counters({"set-0": "8"}, WHOLE)),
    "unused-counter-set": (
        with_counters({"set-0": "8", "set-1": "8"}, WHOLE),
        with_counters({"set-0": "8"}, WHOLE),
    ),
    "partitions-only": (
        with_counters({"set-0": "8"}, *TAKING),
        with_counters({"set-0": "8"}, WHOLE, *TAKING),
    ),
    "no-node": ([published(card("gpu-0")), node("node-b")], [published(card("gpu-0")), node("node-a")]),
    "attribute-type-varies": ([published(OTHER, SERIAL)], [published(OTHER, ALIKE)]),
}


@pytest.mark.parametrize("rule", sorted(TOGETHER))
def test_a_rule_on_slices_fires_with_evidence(rule: str, tmp_path: Path) -> None:
    found = [each for each in lint(tmp_path, *TOGETHER[rule][0]).findings if each.rule == rule]
    assert len(found) == 1
    assert found[0].evidence
    assert found[0].hint
    assert found[0].severity is not Severity.ERROR


@pytest.mark.parametrize("rule", sorted(TOGETHER))
def test_a_rule_on_slices_does_not_fire_where_all_is_well(rule: str, tmp_path: Path) -> None:
    assert rule not in {each.rule for each in lint(tmp_path, *TOGETHER[rule][1]).findings}


def test_every_rule_has_its_examples() -> None:
    assert {*ON_A_CARD, *TOGETHER} == set(RULES)


def test_like_devices_are_told_in_one_finding(tmp_path: Path) -> None:
    devices = [card(f"gpu-{number}", f"GPU-{number}") for number in range(10)]
    for number, device in enumerate(devices):
        device["attributes"]["resource.kubernetes.io/pciBusID"] = {"string": f"0000:{number:02x}:00.0"}
        device.pop("capacity")
    (finding,) = lint(tmp_path, published(*devices)).findings
    assert finding.message.startswith("10 devices (`gpu-0`, `gpu-1`, `gpu-2`, …): no memory")
    assert finding.evidence[-1] == "… and 3 more"
    assert len(finding.evidence) == 8


def test_a_finding_stands_where_a_device_of_v1beta1_says_it(tmp_path: Path) -> None:
    found = older("v1beta1")
    found["spec"]["devices"][0]["basic"]["capacity"]["memory"]["value"] = "0"
    path = tmp_path / "old.yaml"
    path.write_text(json.dumps(found, indent=1))
    zero = next(each for each in lint_files([path]).findings if each.rule == "zero-memory")
    assert (
        '"memory"' in path.read_text().splitlines()[zero.position.line - 2]
        or '"value": "0"' in (path.read_text().splitlines()[zero.position.line])
    )


def test_what_no_version_has_may_still_be_empty(tmp_path: Path) -> None:
    found = published()
    found["apiVersion"] = "resource.k8s.io/v1alpha3"
    found["spec"]["devices"] = None
    assert {each.rule for each in lint(tmp_path, found).findings} == {"unknown-version", "nothing-published"}


def test_empty_devices_of_a_slice_that_cannot_be_read(tmp_path: Path) -> None:
    found = published()
    found["apiVersion"] = "resource.k8s.io/v1beta1"
    found["spec"].pop("pool")
    found["spec"]["devices"] = [{"name": "gpu-0", "basic": None}]
    rules = {each.rule for each in lint(tmp_path, found).findings}
    assert rules == {"old-version", "missing-key", "bare-device"}


@pytest.mark.parametrize("driver", ["dra.net", "dra.cpu", "tpu.example.com", "compute-domain.nvidia.com"])
def test_what_is_no_card_need_have_no_memory(driver: str, tmp_path: Path) -> None:
    device = {"name": "one", "attributes": {"kind": {"string": "link"}}}
    assert lint(tmp_path, published(device, driver=driver)).findings == ()


def test_obsolete_slices_are_compared_with_nothing(tmp_path: Path) -> None:
    old, new = published(card("gpu-0")), published(card("gpu-0"))
    old["metadata"]["name"] = "old"
    new["spec"]["pool"] = {"name": "node-a", "generation": 2, "resourceSliceCount": 1}
    assert {each.rule for each in lint(tmp_path, old, new).findings} == {"pool-obsolete"}


@pytest.mark.parametrize("each", [card for card in cards() if card.memory], ids=lambda card: card.id)
def test_described_cards_are_clean(each: Any) -> None:
    cut = f" mig={each.mig.profiles[0].name}" if each.mig else ""
    for text in (f"2 nodes of 2 x {each.id}", f"1 x {each.id}{cut}"):
        rules = {
            finding.rule for finding in lint_slices(parse_description(text).slices, "described").findings
        }
        unknown = cut in text and each.mig and each.mig.profiles[0].memory.value is None
        assert rules <= ({"virtual-card"} | ({"no-memory"} if unknown else set()))


@pytest.mark.parametrize(
    "text", ["", "[]", "kind: ResourceSlice", "{kind: ResourceSlice, apiVersion: 3}", "a: [1"]
)
def test_any_file_is_told_of_and_breaks_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "any.yaml"
    path.write_text(text)
    assert lint_files([path]).devices == 0
