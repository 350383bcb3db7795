from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.pictures.lanes import (
    BINS,
    MOST_BARS,
    MOST_ROWS,
    Bar,
    Row,
    drawn_rows,
    folded_rows,
)
from allotment.pictures.ticks import Extent
from allotment.pictures.timeline import Mark, Timeline, timeline
from tests.pictures.reading import HOSTILE, parsed, words

DAY = 86_400.0


def rows(nodes: int, cards: int = 4, kind: str = "a100-80gb") -> tuple[Row, ...]:
    return tuple(
        Row(f"{node}/{card}", f"gpu-{card}", f"node-{node}", kind)
        for node in range(nodes)
        for card in range(cards)
    )


def busy(on: Sequence[Row], count: int, length: float = 600.0, works: int = 3) -> tuple[Bar, ...]:
    chance = random.Random(7)
    ends = {row.key: 0.0 for row in on}
    bars = []
    for number in range(count):
        row = on[number % len(on)]
        start = ends[row.key] + 1
        ends[row.key] = start + length * chance.random()
        work = f"work-{number % works}"
        label = f"{work} {number}"
        bars.append(
            Bar(
                row.key,
                work,
                start,
                ends[row.key],
                start + 5,
                number % 9 == 0,
                label,
                "7",
                "complete, 3 pages",
            )
        )
    return tuple(bars)


def picture(on: Sequence[Row], bars: Sequence[Bar], until: float = DAY) -> str:
    return timeline(Timeline("Cards", tuple(on), tuple(bars), Extent(0.0, until)), "t").svg


@pytest.mark.parametrize(
    ("nodes", "count", "until"),
    [(0, 0, 0), (1, 0, DAY), (1, 1, DAY), (1, 1, 0), (3, 50, DAY), (50, 10_000, DAY), (1000, 10_000, DAY)],
)
def test_a_picture_is_whole_and_not_large_however_much_there_is(nodes: int, count: int, until: float) -> None:
    on = rows(nodes)
    made = picture(on, busy(on, count) if on else (), until)
    svg = parsed(made)[0]
    assert svg.get("role") == "img"
    assert len(made) < 700_000
    assert "nan" not in made
    assert made == picture(on, busy(on, count) if on else (), until)


def test_what_is_shown_is_said_in_words_too() -> None:
    on = rows(2)
    chart = timeline(
        Timeline("Cards", on, busy(on, 20), Extent(0, DAY), (("work-1", "mine"),), (Mark(60, "begins"),)), "t"
    )
    text = words(parsed(chart.svg))
    assert "20 runs of 3 works on 8 cards. 3 of them lost their card to others." in text
    assert "begins" in text
    assert "node-0 · 4 × a100-80gb" in text
    assert [key for _, key in chart.legend] == [
        "mine",
        "work-2",
        "work-0",
        "paler: starts, loads its model",
        "card taken back",
    ]
    assert chart.table is not None
    assert len(chart.table.rows) == 20


def test_every_job_of_a_trace_may_be_a_work_of_its_own() -> None:
    on = rows(400)
    made = picture(on, busy(on, 20_000, works=20_000))
    assert len(made) < 300_000


def test_works_beyond_the_colours_share_one_and_the_longest_have_their_own() -> None:
    on = rows(1, 1)
    bars = tuple(Bar(on[0].key, f"w{n:02}", n * 100.0, n * 100.0 + n, label="x") for n in range(20))
    chart = timeline(Timeline("Cards", on, bars, Extent(0, 2000)), "t")
    assert [key for _, key in chart.legend][:2] == ["w19", "w18"]
    assert chart.legend[-1][1] == "12 others"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_from_outside_stay_text(text: str) -> None:
    on = (Row("k", text, text, text),)
    bars = (Bar("k", text, 0, 50, 5, label=text, said=text),)
    chart = timeline(Timeline(text, on, bars, Extent(0, 100), ((text, text),), (Mark(1, text),)), "t")
    tags = {each.tag for each in parsed(chart.svg).iter()}
    assert tags <= {"parts", "svg", "title", "desc", "defs", "pattern", "rect", "path", "line", "text"}


bars_of_rows = st.lists(
    st.builds(
        lambda row, work, start, length: Bar(f"0/{row}", f"w{work}", start, start + length),
        st.integers(0, 3),
        st.integers(0, 2),
        st.floats(0, 1000),
        st.floats(0, 400),
    ),
    max_size=60,
)


@given(bars_of_rows)
def test_bars_of_a_lane_do_not_touch_and_few_lanes_do(bars: list[Bar]) -> None:
    drawn = drawn_rows(rows(1), bars, Extent(0, 1400))
    assert sum(bar.runs for each in drawn for lane in each.lanes for bar in lane) <= len(bars)
    for each in drawn:
        own = [bar for bar in bars if bar.row == each.row.key]
        moments = [bar.start for bar in own]
        most = max((sum(bar.start <= at < bar.end for bar in own) for at in moments), default=0)
        for lane in each.lanes:
            assert all(one.end <= other.start for one, other in itertools.pairwise(lane))
        assert len(each.lanes) <= max(most, 1) + sum(bar.start == bar.end for bar in own)


def test_thin_runs_of_a_work_are_drawn_as_one() -> None:
    on = rows(4)
    drawn = drawn_rows(on, busy(on, 20_000, 20.0, works=1), Extent(0, DAY))
    shown = [bar for each in drawn for lane in each.lanes for bar in lane]
    assert len(shown) <= MOST_BARS
    assert sum(bar.runs for bar in shown) == 20_000


@given(bars_of_rows)
def test_folded_rows_keep_how_much_is_busy(bars: list[Bar]) -> None:
    extent = Extent(0, 1400)
    (folded,) = folded_rows(rows(1), bars, extent, lambda work: int(work[1:]))
    bin_ = extent.length / BINS
    for paint, levels in folded.layers:
        own = math.fsum(bar.end - bar.start for bar in bars if bar.work == f"w{paint}")
        assert sum(levels) * bin_ == pytest.approx(own, abs=0.001 * BINS * bin_)


def test_many_cards_are_a_row_a_node_and_very_many_a_row_a_kind() -> None:
    extent = Extent(0, 100)
    assert [each.label for each in folded_rows(rows(2), (), extent, len)] == ["node-0", "node-1"]
    many = (*rows(MOST_ROWS + 1), Row("x", "gpu", "other", "l4-24gb"))
    assert [(each.label, each.size) for each in folded_rows(many, (), extent, len)] == [
        ("a100-80gb", 4 * (MOST_ROWS + 1)),
        ("l4-24gb", 1),
    ]
