"""Changes without effect and draws without chance are told, so that nobody takes them for an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.planning.compare.alike import all_alike, idle_changes
from allotment.planning.compare.comparison import Cell, Column
from allotment.planning.compare.rows import FAIRNESS, MAKESPAN, USE
from allotment.simulation.quantiles import spread


def column(scheduler: str, *changes: str, values: tuple[float, ...] = (1.0, 2.0)) -> Column:
    name = f"{scheduler} with {'; '.join(changes)}" if changes else scheduler
    return Column(name, scheduler, changes, {"makespan": Cell(spread(values), values)})


@pytest.mark.parametrize(
    ("scheduler", "change", "words"),
    [
        ("default", "quota.local=8", ": the default scheduler knows no quotas"),
        ("kai", "controller=off", ": only under Kueue the window controller moves a window"),
        ("kai", "versions.kueue=0.20", ""),
    ],
)
def test_a_change_without_effect_is_told_with_its_reason(scheduler: str, change: str, words: str) -> None:
    found = [*idle_changes([column(scheduler), column(scheduler, change)])]
    assert found == [f"`{change}` changes nothing under {scheduler}{words}"]


def test_what_changes_anything_is_not_told() -> None:
    assert not [*idle_changes([column("kai"), column("kai", "window=2", values=(1.0, 3.0))])]
    assert not [*idle_changes([column("default"), column("kai", "window=2")])]
    refused = replace(column("kai", "window=2"), refused="no")
    assert not [*idle_changes([column("kai"), refused])]


def test_a_change_of_what_teams_deserve_alone_is_told_as_one() -> None:
    fair, unfair = (
        replace(each, cells={**each.cells, FAIRNESS.key: Cell(spread((part, part)), (part, part))})
        for each, part in ((column("default"), 0.9), (column("default", "quota.lab=0"), 0.5))
    )
    (words,) = idle_changes([fair, unfair])
    said = "`quota.lab=0` changes nothing under default, but for what fairness is counted by: "
    assert words.startswith(said)
    assert not [*idle_changes([fair, replace(unfair, cells={})])]


def test_draws_that_are_one_are_told() -> None:
    rows, still = [MAKESPAN, USE], column("default", values=(3.0,) * 6)
    (words,) = all_alike([still, column("kai", values=(2.0,) * 6)], rows)
    assert words.startswith("all 6 draws came out alike, because hardly anything here is left to chance")
    assert not [*all_alike([still, column("kai", values=(2.0, 300.0))], rows)]
    assert not [*all_alike([column("default", values=(3.0,))], rows)]
    busy = replace(still, cells={**still.cells, USE.key: Cell(spread((0.5, 0.6)), (0.5, 0.6))})
    assert [*all_alike([busy], rows)]
