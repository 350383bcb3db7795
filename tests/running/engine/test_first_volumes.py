"""A campaign stops when its first volumes all fail alike, and only then."""

from __future__ import annotations

import pytest

from allotment.running.engine.alike import FirstVolumes


@pytest.mark.parametrize(
    ("window", "endings", "stops_at"),
    [
        (1, ["no-folder", "no-folder", "no-folder"], 2),
        (5, ["no-folder"] * 6, 4),
        (1, ["no-folder", "complete", "no-folder", "no-folder", "no-folder"], None),
        (1, ["no-folder", "step-failed", "no-folder", "no-folder", "no-folder"], None),
        (2, ["complete", "x", "x", "x", "x"], None),
    ],
)
def test_stopping(window: int, endings: list[str], stops_at: int | None) -> None:
    first = FirstVolumes(window)
    stopped = None
    for place, ending in enumerate(endings):
        if ending == "complete":
            first.completed()
        elif first.failed(ending):
            stopped = place
            break
    assert stopped == stops_at
