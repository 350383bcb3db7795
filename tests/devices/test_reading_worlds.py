"""Worlds out of files: every version and kind, every field, and each finding at its place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.allocator import allocate
from allotment.devices.claims import AllocationMode, Constraint, ExactRequest, Toleration
from allotment.devices.funnel import NoFit
from allotment.devices.known_classes import CLASSES
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.reading import Reading, read_files
from allotment.devices.slices import Capacity, DeviceId, RequestPolicy, Taint, ValidRange, Version
from allotment.devices.taint_rules import tainted
from allotment.errors import FindingsError, Severity
from tests.devices.worlds import one

SAMPLES = Path(__file__).parent / "samples"


def read(name: str) -> Reading:
    return read_files([SAMPLES / name])


def said(reading: Reading) -> list[str]:
    return [
        f"{finding.position.line}:{finding.position.column} {finding.severity} {finding.rule}"
        for finding in reading.findings
    ]


@pytest.mark.parametrize(
    ("name", "devices", "findings"),
    [
        ("two-cards.yaml", 2, []),
        ("older-version.yaml", 2, []),
        ("mixed-kinds.yaml", 1, ["31:1 note kind-not-read"]),
        ("list.json", 1, ["11:68 warning unknown-field"]),
        (
            "pools.yaml",
            5,
            [
                "8:35 note pool-obsolete",
                "14:58 warning pool-incomplete",
                "21:33 warning pool-invalid",
                "30:21 warning unknown-counter-set",
            ],
        ),
        ("twice.yaml", 2, ["5:3 warning counted-twice", "9:5 warning listed-twice"]),
        (
            "broken.yaml",
            0,
            [
                "5:3 error api-limit",
                "6:3 warning unknown-field",
                "11:13 error wrong-type",
                "12:26 error yaml-trap",
                "13:13 error wrong-type",
                "14:20 error wrong-type",
                "15:23 error wrong-type",
                "17:15 error wrong-type",
                "18:22 error api-limit",
                "19:11 error api-limit",
                "20:5 warning unknown-field",
                "31:5 error wrong-version",
                "42:5 error wrong-version",
                "44:13 error unknown-version",
                "48:1 error unknown-kind",
                "52:1 error no-object",
            ],
        ),
    ],
)
def test_each_sample_with_its_findings(name: str, devices: int, findings: list[str]) -> None:
    reading = read(name)
    assert said(reading) == findings
    assert sum(1 for _ in reading.world.devices()) == devices


def test_a_published_slice_keeps_its_order_its_taints_and_its_metadata() -> None:
    world = read("two-cards.yaml").world
    (published,) = world.slices
    assert [device.name for device in published.devices] == ["gpu-1", "gpu-0"]
    assert published.devices[0].attributes["cudaComputeCapability"] == Version("8.9.0")
    assert published.devices[0].capacity == {"memory": Capacity("23034Mi")}
    assert published.devices[1].taints == (Taint("gpu.nvidia.com/xid", "None", "43"),)
    assert published.metadata["ownerReferences"][0]["name"] == "oak"
    assert (published.pool.generation, world.node) == (3, "oak")
    assert set(world.classes) == {"gpu.nvidia.com"}


def test_a_file_without_classes_has_those_of_the_drivers() -> None:
    assert set(read("older-version.yaml").world.classes) == {each.name for each in CLASSES}


def test_an_older_claim_holds_its_devices() -> None:
    world = read("older-version.yaml").world
    (claim,) = world.claims
    assert (claim.namespace, claim.users) == ("readers", ("reader-1",))
    assert claim.spec.requests[0].exactly == ExactRequest("any", tolerations=(Toleration("k", "Exists"),))
    assert world.held() == {DeviceId("gpu.example.org", "elm", "left"): claim}


def test_mixed_kinds_in_newer_versions() -> None:
    world = read("mixed-kinds.yaml").world
    (published,) = world.slices
    on_racks = Requirement("rack", "In", ("r1", "r2"))
    assert published.node_selector == NodeSelector((NodeSelectorTerm((on_racks,)),))
    (port,) = published.devices
    assert port.attributes == {"speeds": (25, 100)}
    policy = RequestPolicy("1G", valid_range=ValidRange("1G", None, "1G"))
    assert port.capacity == {"bandwidth": Capacity("100G", policy)}
    assert world.nodes["ash"].allocatable == {"cpu": "32", "memory": "128Gi"}
    (template,) = world.templates
    alternatives = template.spec.requests[0].alternatives
    assert [(sub.name, sub.exactly.count, sub.exactly.mode) for sub in alternatives] == [
        ("big", 2, AllocationMode.EXACT_COUNT),
        ("small", 1, AllocationMode.EXACT_COUNT),
    ]
    assert template.spec.constraints == (Constraint(("card",), "gpu.nvidia.com/productName"),)


def test_a_taint_rule_taints_what_it_selects() -> None:
    world = read("mixed-kinds.yaml").world
    (published,) = tainted(world.slices, world.taint_rules)
    assert published.devices[0].taints == (Taint("example.org/broken", "NoSchedule"),)
    assert tainted(world.slices, [replace(world.taint_rules[0], device="port-1")]) == world.slices


def test_a_device_that_a_rule_taints_is_not_given(tmp_path: Path) -> None:
    text = (SAMPLES / "two-cards.yaml").read_text()
    rule = """\
- apiVersion: resource.k8s.io/v1
  kind: DeviceTaintRule
  metadata: {name: all-of-oak}
  spec:
    deviceSelector: {pool: oak}
    taint: {key: example.org/drained, effect: NoSchedule}
"""
    (tmp_path / "f.yaml").write_text(text + rule)
    plain = read("two-cards.yaml").world
    ruled = read_files([tmp_path / "f.yaml"]).without_errors()
    assert not isinstance(allocate(one("gpu.nvidia.com"), plain, "oak"), NoFit)
    refused = allocate(one("gpu.nvidia.com"), ruled, "oak")
    assert isinstance(refused, NoFit)
    assert "2 tainted" in str(refused)


def test_an_unknown_field_is_kept() -> None:
    (published,) = read("list.json").world.slices
    assert published.devices[0].to_dict()["future"] == {"x": 1}


def test_a_world_with_errors_can_be_refused() -> None:
    with pytest.raises(FindingsError, match="wrong-version"):
        read("broken.yaml").without_errors()
    assert read("pools.yaml").without_errors().slices


def test_several_files_are_one_world_and_the_same_object_twice_is_one(tmp_path: Path) -> None:
    both = read_files([SAMPLES / "two-cards.yaml", SAMPLES / "older-version.yaml"])
    assert {published.name for published in both.world.slices} == {"oak-gpu", "elm"}
    copy = tmp_path / "copy.yaml"
    copy.write_bytes((SAMPLES / "two-cards.yaml").read_bytes())
    again = read_files([SAMPLES / "two-cards.yaml", copy])
    assert again.findings == ()
    assert len(again.world.slices) == 1
    copy.write_text(copy.read_text().replace("NVIDIA L4", "NVIDIA T4"))
    different = read_files([SAMPLES / "two-cards.yaml", copy])
    assert [finding.rule for finding in different.findings] == ["duplicate-object"]
    assert different.findings[0].severity is Severity.ERROR


def test_standard_input_is_a_file_too() -> None:
    text = (SAMPLES / "list.json").read_bytes()
    reading = read_files([Path("-")], standard_input=lambda: text)
    assert reading.findings[0].position.file == "standard input"
    assert len(reading.world.slices) == 1


def test_yaml_and_json_of_one_object_are_the_same(tmp_path: Path) -> None:
    (published,) = read("two-cards.yaml").world.slices
    (tmp_path / "x.json").write_text(json.dumps(published.to_dict()))
    assert read_files([tmp_path / "x.json"]).world.slices == (published,)


@pytest.mark.parametrize(
    ("selector", "tainted_devices"),
    [("{}", 2), ("{driver: gpu.nvidia.com, device: gpu-0}", 1), ("null", 0), ("{pool: elm}", 0)],
)
def test_what_a_taint_rule_selects(tmp_path: Path, selector: str, tainted_devices: int) -> None:
    (tmp_path / "rule.yaml").write_text(f"""\
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {{name: rule}}
spec:
  deviceSelector: {selector}
  taint: {{key: example.org/drained, effect: NoExecute}}
""")
    world = read_files([SAMPLES / "two-cards.yaml", tmp_path / "rule.yaml"]).without_errors()
    (published,) = tainted(world.slices, world.taint_rules)
    drained = [device for device in published.devices if any(taint.blocks for taint in device.taints)]
    assert len(drained) == tainted_devices


def test_a_taint_rule_that_selects_by_class_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text("""\
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {name: rule}
spec:
  deviceSelector: {deviceClassName: gpu.nvidia.com}
  taint: {key: example.org/drained, effect: NoExecute}
""")
    reading = read_files([tmp_path / "rule.yaml"])
    assert said(reading) == ["5:20 error unknown-field"]
    assert reading.world.taint_rules == ()
