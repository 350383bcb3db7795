"""Which rows a comparison has, and what stands in them where something never begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.planning.compare.comparison import Row
from allotment.planning.compare.rows import figures_of
from allotment.simulation.metrics import Metrics, Spent, Waiting
from allotment.simulation.over_time import OverTime
from allotment.simulation.work import Kind

NOTHING = OverTime()
METRICS = Metrics(
    over=100.0,
    makespan=100.0,
    unfinished=0,
    finishes={"books": 100.0},
    waits=(),
    use=0.5,
    served=1.0,
    given=50.0,
    available=100.0,
    free_nodes=0.0,
    fairness=None,
    reclaims=0,
    lost_pages=0,
    lost=0.0,
    spent=(Spent("archive", "books", "L4", 3600.0, 2.0), Spent("archive", "chat", "L4", 7200.0, 4.0)),
    in_use=NOTHING,
    nodes_free=NOTHING,
    asked={},
    shares={},
    deserved={},
)


def values(metrics: Metrics) -> dict[str, float | None]:
    return {key: value for key, (_, value) in figures_of(metrics).items()}


@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (Waiting("lab", Kind.GANG, 1, 60.0, 60.0, 60.0), {"wait.lab.gang.max": 60.0}),
        (Waiting("lab", Kind.GANG, 1, 900.0, 900.0, 900.0, never=1), {"wait.lab.gang.max": None}),
        (
            Waiting("lab", Kind.CAMPAIGN, 4, 60.0, 90.0, 900.0, never=1),
            {"wait.lab.campaign.p50": 60.0, "wait.lab.campaign.max": None},
        ),
        (
            Waiting("lab", Kind.FLEET, 10, 60.0, 90.0, 95.0),
            {"wait.lab.fleet.p50": 60.0, "wait.lab.fleet.p90": 90.0, "wait.lab.fleet.max": 95.0},
        ),
    ],
)
def test_waits_have_as_many_rows_as_say_something(wait: Waiting, expected: dict[str, float | None]) -> None:
    found = values(replace(METRICS, waits=(wait,)))
    assert {key: value for key, value in found.items() if key.startswith("wait.")} == expected


def test_what_never_ends_costs_by_how_long_one_looks_and_is_no_cost_of_the_work() -> None:
    found = values(METRICS)
    assert (found["gpu-hours"], found["money"]) == (1.0, 2.0)


def test_without_a_price_there_is_no_cost() -> None:
    spent = (replace(METRICS.spent[0], money=None),)
    assert "money" not in values(replace(METRICS, spent=spent))


def test_hours_are_told_by_team_where_there_are_several() -> None:
    spent = (*METRICS.spent, Spent("lab", "maps", "L4", 1800.0))
    assert values(replace(METRICS, spent=spent))["gpu-hours.lab"] == 0.5
    assert "gpu-hours.archive" not in values(METRICS)


PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "compare.md"
LEAST = {
    "seconds": {60.0: "a minute", 90.0: "90 seconds"},
    "count": {1.0: "one"},
    "nodes": {0.25: "a quarter of a node"},
    "part": {0.10: "ten points"},
}


def counts_from(row: Row) -> str:
    """From when a difference of a row counts, in the words of the page."""
    if row.counts.of:
        return "a tenth of all GPU-hours"
    least = LEAST.get(row.unit, {}).get(row.counts.least, "")
    return ", and ".join(part for part in ("a tenth" if row.counts.part == 0.1 else "", least) if part)


def test_the_page_says_from_when_each_row_counts() -> None:
    lines = [line.strip("|").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    said = {cells[0].strip(): cells[-1].strip() for cells in lines if len(cells) == 3}
    words = {title.strip(): said[cell] for cell in said for title in cell.split(",")}
    waits = (Waiting("lab", Kind.GANG, 1, 60.0, 60.0, 60.0),)
    rows = [row for row, _ in figures_of(replace(METRICS, waits=waits, fairness=1.0)).values()]
    for row in rows:
        title = row.title.partition(" (")[0].removesuffix(" of what ends").removesuffix(" of lab's gang")
        if title in words:
            assert counts_from(row) == words[title], row.key
    assert {row.key for row in rows} >= {"makespan", "wait.lab.gang.max", "lost", "money", "free-nodes"}
    assert sum(row.title.partition(" (")[0] in words for row in rows) >= 8
