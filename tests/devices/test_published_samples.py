"""Slices that real drivers published, from a folder beside the project: read, or refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.devices.reading import read_files
from tests.conformance.slices import SAMPLES, verdict


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_is_read_or_refused_for_the_right_reason(name: str, data_folder: Path) -> None:
    path = data_folder / "slices" / f"{name}.yaml"
    reading = read_files([path])
    assert verdict(reading) == SAMPLES[name]
    for finding in reading.findings:
        assert finding.position.file == str(path)
        assert finding.position.line > 1
        assert finding.message


def test_no_sample_is_left_out(data_folder: Path) -> None:
    assert {path.stem for path in (data_folder / "slices").glob("*.yaml")} <= set(SAMPLES)
