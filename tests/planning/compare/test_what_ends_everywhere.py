"""Columns in which works are left behind are held against others by the works that end in all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from allotment.planning.compare.comparison import Row
from allotment.planning.compare.ending import Draw, everywhere
from allotment.planning.compare.rows import HOURS, MAKESPAN, PRICE, UNFINISHED, Ended, Figure


def draw(**finished: float | None) -> Draw:
    """A draw of works that take an hour each, at 2 EUR."""
    ends = {name: Ended(at, 1.0, 2.0) for name, at in finished.items()}
    lasts = [at for at in finished.values() if at is not None]
    rows: dict[Row, float | None] = {
        MAKESPAN: max(lasts) if len(lasts) == len(ends) else None,
        UNFINISHED: float(len(ends) - len(lasts)),
        HOURS: float(len(ends)),
        PRICE: 2.0 * len(ends),
    }
    figures: dict[str, Figure] = {row.key: (row, value) for row, value in rows.items()}
    return Draw(figures, ends)


def values(found: Draw) -> tuple[float | None, ...]:
    return tuple(found.figures[row.key][1] for row in (MAKESPAN, UNFINISHED, HOURS, PRICE))


def test_where_all_ends_nothing_is_changed() -> None:
    columns = [[draw(books=60.0, maps=90.0)], [draw(books=30.0, maps=99.0)]]
    assert everywhere(columns) == columns


def test_figures_are_of_what_ends_in_all_columns_and_the_rest_is_counted() -> None:
    (one,), (other,) = everywhere([[draw(books=60.0, maps=None)], [draw(books=30.0, maps=99.0)]])
    assert values(one) == (60.0, 1.0, 1.0, 2.0)
    assert values(other) == (30.0, 0.0, 1.0, 2.0)
    assert one.figures[MAKESPAN.key][0].title == "what ends everywhere is over"
    assert one.figures[HOURS.key][0].title == "GPU-hours of what ends everywhere"


def test_one_work_that_ends_nowhere_leaves_the_others_their_figures() -> None:
    (one,), (other,) = everywhere([[draw(books=60.0, maps=None)], [draw(books=30.0, maps=None)]])
    assert (values(one)[0], values(other)[0]) == (60.0, 30.0)


def test_where_nothing_ends_everywhere_each_has_its_own() -> None:
    columns = [[draw(books=60.0)], [draw(books=None)]]
    assert [values(column[0])[0] for column in everywhere(columns)] == [60.0, None]


def test_titles_are_the_same_in_all_draws() -> None:
    (first, second), _ = everywhere(
        [
            [draw(books=60.0, maps=9.0), draw(books=60.0, maps=None)],
            [draw(books=60.0, maps=9.0), draw(books=60.0, maps=9.0)],
        ]
    )
    assert first.figures[MAKESPAN.key][0] == second.figures[MAKESPAN.key][0]


TIMES = st.one_of(st.none(), st.floats(0, 1000))


@given(
    st.lists(
        st.lists(st.tuples(TIMES, TIMES), min_size=2, max_size=2).map(
            lambda draws: [draw(books=books, maps=maps) for books, maps in draws]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_nobody_takes_fewer_hours_by_leaving_work_behind(columns: list[list[Draw]]) -> None:
    for place in range(2):
        seed = [column[place] for column in everywhere(columns)]
        ends = [{work for work, each in found.ends.items() if each.finished is not None} for found in seed]
        if set.intersection(*ends):
            assert len({found.figures[HOURS.key][1] for found in seed}) == 1
