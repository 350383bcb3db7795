"""Files that are right for one machine, held against the platform of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.errors import Severity
from allotment.platform.model import Platform, Sources
from allotment.repository import load_repository
from allotment.repository.on_clusters import cluster_findings
from allotment.repository.rules import RULES

IMAGE = "image: registry.example.org/x@sha256:" + "3f" * 32 + "\n"
STEPS = "steps: [{step: checksum}]\n"
FOLDER = "{id: a, folder: scans/a}"
PREFIX = "{id: b, folder: s3://scans/b}"
SOURCES = Sources(buckets=("s3://scans",))
CLUSTER = Platform(engine="kubernetes", sources=SOURCES)


def told(root: Path, platform: Platform, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "scans/a").mkdir(parents=True, exist_ok=True)
    found = sorted(cluster_findings(load_repository(root, platform).repository, platform), key=str)
    assert {each.rule for each in found} <= RULES.keys()
    return [
        f"{Path(each.position.file).name}:{each.position.line} {each.rule} {each.severity.value}"
        for each in found
    ]


def over(*volumes: str) -> str:
    return "pipeline: p\nvolumes:\n" + "".join(f"  - {each}\n" for each in volumes)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pipelines/p.yaml": STEPS}, []),
        (
            {"pipelines/p.yaml": STEPS, "campaigns/c.yaml": over(PREFIX, FOLDER)},
            ["c.yaml:4 folder-not-in-pods warning", "p.yaml:1 no-image error"],
        ),
        ({"pipelines/p.yaml": IMAGE + STEPS, "campaigns/c.yaml": over(PREFIX)}, []),
        (
            {"fleets/f.yaml": "command: [serve]\n", "gangs/g.yaml": "command: [train]\nworkers: 2\n"},
            ["f.yaml:1 no-image error", "g.yaml:1 no-image error"],
        ),
    ],
)
def test_images_and_folders_are_looked_at(files: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    assert told(tmp_path, CLUSTER, files) == expected
    assert told(tmp_path, Platform(sources=SOURCES), files) == []


def test_many_folders_are_one_warning(tmp_path: Path) -> None:
    files = {
        "pipelines/p.yaml": IMAGE + STEPS,
        "campaigns/c.yaml": over(*(f"{{id: a{n}, folder: scans/a}}" for n in range(1200))),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    (tmp_path / "scans/a").mkdir(parents=True)
    repository = load_repository(tmp_path, CLUSTER).repository
    (found,) = cluster_findings(repository, CLUSTER)
    assert (found.severity, found.message[:20]) == (Severity.WARNING, "1,200 volumes lie in")
