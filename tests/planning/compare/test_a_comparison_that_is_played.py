"""Variants are played under the same seeds, and held against the first."""

from __future__ import annotations

import json

import click
import pytest

from allotment.cli.forms.compared import as_markdown, as_text
from allotment.cli.forms.compared_data import as_data
from allotment.errors import UsageError
from allotment.planning.compare.comparing import Play, Variant, compare
from allotment.planning.compare.comparison import Comparison, Told
from tests.planning.compare.played import PAGES, QUOTA, little, scene


@pytest.fixture(scope="module")
def found() -> Comparison:
    return little()


def test_more_cards_end_sooner_beyond_chance(found: Comparison) -> None:
    cell = found.columns[1].cells["makespan"]
    assert cell.difference is not None
    assert cell.difference.told is Told.BETTER
    assert len(cell.values) == 8


def test_the_same_seeds_give_the_same_comparison(found: Comparison) -> None:
    assert as_data(little()) == as_data(found)
    assert as_data(little(seed=7)) != as_data(found)


def test_what_all_columns_assume_is_said_once(found: Comparison) -> None:
    assert found.assumptions == (PAGES,)
    assert found.columns[1].assumptions == (QUOTA,)


def test_a_column_that_cannot_be_played_says_why(found: Comparison) -> None:
    assert [column.name for column in found.played] == ["one node", "two nodes"]
    assert "kai cannot do it: there is no KAI here" in "\n".join(as_text(found))


def test_the_first_decision_that_differs_is_told(found: Comparison) -> None:
    (differs,) = found.differs
    assert differs.sentence.startswith("after ")
    assert "two nodes" in differs.sentence


def test_the_table_fits_a_hundred_columns(found: Comparison) -> None:
    lines = [click.unstyle(line) for line in as_text(found)]
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("all that ends is over") for line in lines)


def test_more_columns_than_fit_stand_below_each_other() -> None:
    variants = [Variant(f"variant {n}", "simple", scene=scene(1 + n % 2, PAGES)) for n in range(9)]
    lines = [click.unstyle(line) for line in as_text(compare(variants, Play(draws=6)))]
    assert max(map(len, lines)) <= 100
    assert sum(line.startswith("all that ends") for line in lines) == 2


def test_what_is_the_same_does_not_differ() -> None:
    found = compare(
        [Variant(name, "simple", scene=scene(1, PAGES)) for name in ("kai", "both")], Play(draws=6)
    )
    told = {cell.difference.told for cell in found.columns[1].cells.values() if cell.difference is not None}
    assert told == {Told.SAME}
    assert found.differs == ()


def test_what_does_not_end_is_told_with_the_reason() -> None:
    none = scene(0, PAGES)
    found = compare(
        [Variant("kai", "simple", scene=none), Variant("both", "simple", scene=none)], Play(draws=1)
    )
    assert len(found.unended) == 2
    assert found.unended[0].startswith("books can never begin under kai, both: ")
    assert "What does not end" in "\n".join(as_text(found))
    assert "**What does not end**" in "\n".join(as_markdown(found))


def test_markdown_has_a_table_and_says_the_assumptions(found: Comparison) -> None:
    text = "\n".join(as_markdown(found))
    assert "|  | one node | two nodes |" in text
    assert "<details><summary>2 assumptions</summary>" in text


def test_data_can_be_written_down(found: Comparison) -> None:
    data = json.loads(json.dumps(as_data(found)))
    assert data["format_version"] == 1
    assert data["columns"][1]["cells"]["makespan"]["difference"]["told"] == "better"


def test_nothing_that_can_be_played_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="there is no KAI here"):
        compare([Variant("kai", "kai", refused="there is no KAI here")], Play())
