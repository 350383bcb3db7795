"""Settings of our own steps are found wrong by a check, at their place, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.running.steps.checking import READERS, settings_findings
from allotment.running.steps.loading import find_factory, labels


def findings(root: Path, steps: str) -> list[str]:
    """Findings about a pipeline of these steps, as text."""
    (root / "pipelines").mkdir()
    (root / "pipelines" / "p.yaml").write_text(f"steps:\n{steps}")
    loaded = load_repository(root, Platform())
    assert not loaded.errors
    return [str(finding) for finding in settings_findings(loaded.repository.pipelines["p"])]


@pytest.mark.parametrize(
    ("steps", "place", "said"),
    [
        ("  - step: command\n", "2:5", "run"),
        ("  - step: command\n    settings: {run: [echo]}\n", "3:15", "{page}"),
        ("  - step: checksum\n    settings: {fast: true}\n", "3:15", "no setting `fast`"),
        ("  - step: ocr\n    settings: {min_confidence: 2}\n", "3:15", "min_confidence"),
        ("  - step: ocr\n    settings: {langauge: sv}\n", "3:15", "did you mean `language`?"),
    ],
)
def test_wrong_settings(tmp_path: Path, steps: str, place: str, said: str) -> None:
    (finding,) = findings(tmp_path, steps)
    assert f"p.yaml:{place} error step-settings" in finding
    assert said in finding


def test_a_step_of_the_teams_own_is_not_imported(tmp_path: Path) -> None:
    assert findings(tmp_path, "  - step: nowhere:create\n    settings: {any: thing}\n") == []


def test_every_step_of_ours_has_its_settings_checked() -> None:
    for name in READERS:
        assert callable(find_factory(name))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ocr"], ("ocr",)),
        (["ocr", "ocr"], ("ocr", "ocr-2")),
        (["my_steps:create"], ("my_steps",)),
        (["team.my_steps:create"], ("my_steps",)),
        (["my_steps:count"], ("count",)),
        (["my_steps:Counter.count"], ("count",)),
    ],
)
def test_labels_under_which_outputs_are_kept(names: list[str], expected: tuple[str, ...]) -> None:
    assert labels(names) == expected
