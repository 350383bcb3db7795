"""A shelf is a dictionary that never changes, in all of its copies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from allotment.scheduling.state.shelf import Shelf

CHANGES = st.dictionaries(st.integers(0, 5), st.none() | st.integers(0, 3), max_size=3)


def changed(known: dict[int, int], changes: dict[int, int | None]) -> dict[int, int]:
    kept = {key: value for key, value in known.items() if key not in changes}
    return kept | {key: value for key, value in changes.items() if value is not None}


@given(st.dictionaries(st.integers(0, 5), st.integers(0, 3)), st.lists(st.tuples(st.integers(0, 9), CHANGES)))
def test_every_copy_stays_as_it_was(
    start: dict[int, int], steps: list[tuple[int, dict[int, int | None]]]
) -> None:
    shelves, plain = [Shelf(start)], [dict(start)]
    for which, changes in steps:  # a copy of any of them, not only of the newest
        index = which % len(shelves)
        shelves.append(shelves[index].put(changes))
        plain.append(changed(plain[index], changes))
    for shelf, known in zip(shelves, plain, strict=True):
        assert dict(shelf) == known
        assert len(shelf) == len(known)
        assert all(shelf.get(key) == known.get(key) for key in range(6))
        assert all((key in shelf) == (key in known) for key in range(6))
    for old, old_known in zip(shelves, plain, strict=True):
        for new, new_known in zip(shelves, plain, strict=True):
            told = {key: (before, after) for key, before, after in new.changes(old)}
            keys = {key for key in range(6) if old_known.get(key) != new_known.get(key)}
            assert keys == {key for key, (before, after) in told.items() if before != after}
            assert all(pair == (old_known.get(key), new_known.get(key)) for key, pair in told.items())


def test_a_shelf_can_be_changed_while_it_is_gone_through() -> None:
    shelf = Shelf({1: 1, 2: 2})
    for key in shelf:
        shelf.put({key: None, 9: 9})
    assert dict(shelf) == {1: 1, 2: 2}
