"""Files held to the server of one version: what it refuses and what it takes out, with the place of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.devices.reading import Reading, read_files
from allotment.devices.validation import ANY_SERVER, Server

SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: oak
  pool: {name: oak, generation: 1, resourceSliceCount: 1}
  devices:
  - name: a
    attributes:
      speeds: {ints: [25, 100]}
    taints:
    - {key: k, effect: NoSchedule}
"""
OLDER = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: oak
  pool: {name: oak, generation: 1, resourceSliceCount: 1}
  devices:
  - name: a
    basic:
      capacity:
        bad-name: {value: 40Gi}
"""
CLAIMS = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: A
      count: -1
      selectors:
      - cel: {expression: device.driver ==}
    constraints:
    - requests: [b]
      matchAttribute: x.example/a
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: used}
spec:
  devices:
    requests:
    - name: a
      exactly: {deviceClassName: gpu.example.com, allocationMode: Exact}
status:
  reservedFor:
  - {name: reader-1}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f.yaml"


def said(reading: Reading) -> list[str]:
    return [
        f"{each.position.line}:{each.position.column} {each.severity} {each.rule}"
        for each in reading.findings
    ]


@pytest.mark.parametrize(
    ("server", "findings", "devices"),
    [
        (ANY_SERVER, [], 1),
        (Server.of("1.37", {"DRAListTypeAttributes": True}), [], 1),
        (Server.of("1.36"), ["11:15 error api-limit", "11:16 warning gated-field"], 0),
        (
            Server.of("1.34"),
            ["11:15 error api-limit", "11:16 warning gated-field", "12:5 warning gated-field"],
            0,
        ),
    ],
)
def test_a_slice(file: Path, server: Server, findings: list[str], devices: int) -> None:
    file.write_text(SLICE)
    reading = read_files([file], server=server)
    assert said(reading) == findings
    assert sum(1 for _ in reading.world.devices()) == devices


def test_a_place_in_an_older_version(file: Path) -> None:
    file.write_text(OLDER)
    reading = read_files([file])
    assert said(reading) == ["12:19 error api-limit"]
    assert reading.findings[0].message.startswith("spec.devices[0].capacity: `bad-name`")


def test_everything_that_is_wrong_is_told_at_once(file: Path) -> None:
    file.write_text(CLAIMS)
    reading = read_files([file])
    assert said(reading) == [
        "7:7 error missing-key",
        "7:13 error api-limit",
        "8:14 error api-limit",
        "10:27 error api-limit",
        "12:18 error api-limit",
        "22:67 error unknown-word",
        "25:3 warning api-limit",
        *["25:5 warning api-limit"] * 2,
    ]
    assert reading.world.claims == ()
