"""Devices that publish nothing, less than nothing or a byte of memory: an API server takes all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from allotment.cli import invoke
from allotment.devices.describe import parse_description
from tests.planning.scene_files import node

PIPELINE = """image: registry.example.org/htr@sha256:{digest}
estimate: {{page: 3s, load: 60s, pages: 100}}
gpu: {need}
steps: [{{step: ocr}}]
"""
PLATFORM = """engine: kubernetes
scheduler: {scheduler}
bucket: ./results
images: [registry.example.org/htr]
sharing: [whole, fraction, consumable]
teams: {{a: {{queue: {{quota: 2}}}}}}
sources: {{template: "scans/{{ref}}"}}
"""


@pytest.fixture
def snapshot(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    world = parse_description("2 x H100-SXM")
    slices = [each.to_dict() for each in world.slices]
    for published in slices:
        for device in published["spec"]["devices"]:
            device["capacity"]["memory"] = {"value": request.param}
            device["allowMultipleAllocations"] = True
    classes = [each.to_dict() for each in world.classes.values()]
    nodes = [node(each.node_name or "") for each in world.slices]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *slices, *classes]}))
    return file


@pytest.mark.parametrize("snapshot", ["-1", "-40Gi", "0", "1", "1n"], indirect=True)
@pytest.mark.parametrize(
    ("scheduler", "need"),
    [
        ("default", "{memory: 40Gi}"),
        ("default", "{sharing: consumable, share: 8Gi}"),
        ("kai", "{sharing: fraction, share: 0.5}"),
        ("kai", "{sharing: fraction, share: 8Gi}"),
    ],
)
def test_commands_answer_and_offer_nothing_that_is_nothing(
    snapshot: Path, scheduler: str, need: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("pipelines", "campaigns"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pipelines/p.yaml").write_text(PIPELINE.format(digest="1f" * 32, need=need))
    (tmp_path / "campaigns/c.yaml").write_text("pipeline: p\nvolumes: [R1]\n")
    (tmp_path / "platform.yaml").write_text(PLATFORM.format(scheduler=scheduler))
    where = ["-C", str(tmp_path), "--platform", str(tmp_path / "platform.yaml"), "--snapshot", str(snapshot)]
    for command in (["check"], ["why", "c"], ["plan", "--draws", "1"], ["compare", "--draws", "1"]):
        assert invoke([*command, *where]) in {0, 1}, command
        told = "".join(capsys.readouterr())
        assert not re.search(r"campaigns/c.yaml\S* error", told)
        assert not re.search(r"(share|memory): -|(share|memory): 0(\.00)?Gi", told)
