"""`allot measure`: figures, a picture and advice from a bucket's manifests, and `measured.yaml`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from allotment.buckets.keys import RecipeKeys
from allotment.cli import invoke
from allotment.cli.pictures import histogram, sparkline
from allotment.quantities import GI
from allotment.repository.measured import FILE, scan_measured
from allotment.repository.model import StepCall
from allotment.repository.recipe import recipe_digest
from tests.planning.manifests import H100, manifest, on, page

RECIPE = recipe_digest(None, None, [StepCall("checksum")])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "platform.yaml").write_text("engine: local\n")
    for folder in ("pipelines", "campaigns", "scans"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pipelines" / "read.yaml").write_text("gpu: {memory: 40Gi}\nsteps: [{step: checksum}]\n")
    (tmp_path / "campaigns" / "one.yaml").write_text("pipeline: read\nvolumes:\n- {id: v1, folder: scans}\n")
    return tmp_path


def complete(root: Path, volume: str, value: Mapping[str, Any], recipe: str = RECIPE) -> None:
    """Let a volume have this manifest."""
    path = root / "results" / RecipeKeys("local", "read", recipe).volume(volume).manifest
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(value))


def steady(root: Path) -> None:
    complete(root, "v1", manifest([on(H100, 8 * GI, seconds=1 + place / 10) for place in range(30)]))
    complete(root, "v2", manifest([on(H100, 7 * GI, seconds=2.0)] * 10))


def measure(root: Path, *words: str) -> int:
    platform = root / "platform.yaml"
    return invoke(["measure", "-C", str(root), "--platform", str(platform), *words])


def test_a_person_reads_figures_a_picture_and_advice(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steady(root)
    complete(root, "v1", manifest([page()]), recipe="0" * 12)
    assert measure(root) == 0
    said = capsys.readouterr().out
    assert "H100-SXM-80: 40 pages" in said
    assert "peak memory  █▇ 7.00Gi to 8.00Gi" in said
    assert "write  gpu: {memory: 9Gi}" in said
    assert "write  gpu: {sharing: fraction, share: 9012Mi}" in said
    assert "results of another recipe are left out" in said


def test_a_campaign_s_volumes_alone_count_where_it_is_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steady(root)
    assert measure(root, "one", "-o", "json") == 0
    (pipeline,) = json.loads(capsys.readouterr().out)["pipelines"]
    (card,) = pipeline["cards"]
    assert card["peaks"] == {"v1": 8 * GI}
    assert (card["steady"], card["pages"]) == (True, 30)


def test_what_is_written_is_what_a_check_reads(root: Path) -> None:
    steady(root)
    assert measure(root, "read", "--write", str(root / FILE)) == 0
    assert measure(root, "read", "--write", str(root / FILE)) == 0
    found, findings = scan_measured(root)
    assert findings == []
    (entry,) = found.of_recipe("read", RECIPE)
    assert (entry.card, entry.peak, entry.steadiness) == ("H100-SXM-80", 8 * GI, 0.875)


def test_a_broken_file_is_left_as_it_is(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steady(root)
    (root / FILE).write_text("format: 7\n")
    assert measure(root, "--write", str(root / FILE)) == 1
    assert (root / FILE).read_text() == "format: 7\n"
    assert "unknown-format" in capsys.readouterr().err


def test_nothing_measured_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(root, "v1", manifest([page()]))
    assert measure(root, "--write", str(root / FILE)) == 0
    assert not (root / FILE).exists()
    assert "nothing is written" in capsys.readouterr().err


def test_an_empty_bucket_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure(root) == 0
    assert "no complete volume yet" in capsys.readouterr().out


def test_manifests_that_cannot_be_read_are_counted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(root, "v1", {"format_version": 1, "measured": "much"})
    assert measure(root) == 0
    assert "1 manifest could not be read, and nothing here is of them" in capsys.readouterr().out


def test_an_unknown_name_is_refused_with_the_closest(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure(root, "raed") == 2
    assert "did you mean `read`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([1], "█"), ([0, 1, 2], " ▅█"), ([1.0] * 100, "█" * 40), ([0, 0], "  ")],
)
def test_heights_are_from_nothing_up(values: list[float], line: str) -> None:
    assert sparkline(values) == line


@pytest.mark.parametrize(
    ("values", "line"), [([], ""), ([3.0, 3.0], "█"), ([1, 1, 1, 1, 2, 5], "█▃  ▃"), ([1, 2], "█ █")]
)
def test_a_histogram_counts_equal_parts(values: list[float], line: str) -> None:
    assert histogram(values) == line
