"""A pipeline may say what its authors think a page takes: for plans, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.platform.model import Platform
from allotment.repository import Loaded, load_repository
from allotment.repository.model import Estimate, Pipeline
from allotment.repository.recipe import recipe_of


def load(root: Path, estimate: str) -> Loaded:
    (root / "pipelines").mkdir(exist_ok=True)
    (root / "pipelines/read.yaml").write_text(f"steps: [{{step: ocr}}]\n{estimate}\n")
    return load_repository(root, Platform())


def pipeline(root: Path, estimate: str = "") -> Pipeline:
    return load(root, estimate).checked().pipelines["read"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{page: 4s, pages: 300, load: 30s}", Estimate(4.0, 300, 30.0)),
        ("{page: 1.5}", Estimate(1.5)),
        ("{page: 800ms, load: 1m30s}", Estimate(0.8, None, 90.0)),
        ("{page: 2.25s}", Estimate(2.25)),
        ("null", None),
    ],
)
def test_an_estimate_is_read(tmp_path: Path, written: str, read: Estimate | None) -> None:
    assert pipeline(tmp_path, f"estimate: {written}").estimate == read


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("{pages: 300}", "missing-key"),
        ("{page: 0s}", "bad-duration"),
        ("{page: -1}", "bad-duration"),
        ("{page: .nan}", "yaml-trap"),
        ("{page: soon}", "bad-duration"),
        ("{page: 30d}", "bad-duration"),
        ("{page: true}", "wrong-type"),
        ("{page: 4s, pages: 0}", "out-of-range"),
        ("{page: 4s, volume: 3h}", "unknown-key"),
        ("4s", "wrong-type"),
    ],
)
def test_a_wrong_estimate_is_found(tmp_path: Path, written: str, rule: str) -> None:
    assert rule in {finding.rule for finding in load(tmp_path, f"estimate: {written}").findings}


def test_an_estimate_is_no_part_of_the_recipe(tmp_path: Path) -> None:
    assert recipe_of(pipeline(tmp_path)) == recipe_of(pipeline(tmp_path, "estimate: {page: 4s}"))
