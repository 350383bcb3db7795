"""The best packing: never worse than first fit, and equal to looking at everything."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.catalogue import find
from allotment.devices.mig import packing
from allotment.devices.mig.cuts import fit_together
from allotment.devices.mig.first_fit import first_fit
from allotment.devices.mig.fleet import FleetCard
from allotment.devices.mig.load import Load, load_of, parse_load
from allotment.devices.mig.packing import best_packing
from allotment.devices.mig.seats import Seat, slots_of, stretches

KINDS = ("H100-SXM-80", "A100-40", "A30", "L4")
PARTS = ("4Gi", "9.5Gi", "19Gi", "39Gi", "70Gi", "whole", "1g.5gb", "1g.10gb+me", "3g.40gb", "10Gi..20Gi")


def fleet(*names: str) -> list[FleetCard]:
    return [FleetCard("node-1", number, find(name)) for number, name in enumerate(names)]


def served(seats: Sequence[Seat], load: Load) -> tuple[int, ...]:
    return tuple(sum(seat.part == number for seat in seats) for number in range(len(load.parts)))


def everything(cards: Sequence[FleetCard], load: Load) -> tuple[int, int]:
    """The most pods, then the fewest cards, by trying every seat of every pod: slow, and plainly right."""
    pods = [number for number, count in enumerate(load.counts) for _ in range(count)]
    best = (0, 0)

    def look(at: int, used: tuple[int, ...], media: tuple[bool, ...], count: int) -> None:
        nonlocal best
        best = max(best, (count, -sum(map(bool, used))))
        if at == len(pods) or count + len(pods) - at < best[0]:
            return
        for place, each in enumerate(cards):
            for stretch in stretches(each.card, load.parts[pods[at]]):
                slots = ((1 << stretch.size) - 1) << stretch.start
                if not used[place] & slots and not (media[place] and stretch.media):
                    look(
                        at + 1,
                        (*used[:place], used[place] | slots, *used[place + 1 :]),
                        (*media[:place], media[place] or stretch.media, *media[place + 1 :]),
                        count + 1,
                    )
        look(at + 1, used, media, count)

    look(0, (0,) * len(cards), (False,) * len(cards), 0)
    return best


def is_possible(seats: Sequence[Seat], cards: Sequence[FleetCard], load: Load) -> bool:
    if any(count > most for count, most in zip(served(seats, load), load.counts, strict=True)):
        return False
    for at, each in enumerate(cards):
        here = [seat for seat in seats if seat.card == at]
        cuts = [seat.cut for seat in here if seat.cut is not None]
        if len(cuts) < len(here) and len(here) > 1:
            return False
        if not fit_together(cuts) or not all(
            load.parts[s.part].served_by(each.card, s.profile) for s in here
        ):
            return False
    return True


loads = st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 4)), min_size=1, max_size=3).map(
    lambda entries: load_of([(parse_load(words).parts[0], count) for words, count in entries])
)
small_loads = loads.filter(lambda load: load.total <= 5)
fleets = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3).map(lambda names: fleet(*names))


@settings(max_examples=150, deadline=None)
@given(fleets, small_loads)
def test_the_best_is_what_looking_at_everything_finds(cards: list[FleetCard], load: Load) -> None:
    if len(cards) * load.total > 10:
        cards = cards[:2]
    found = best_packing(cards, load)
    assert found.exact
    assert is_possible(found.seats, cards, load)
    count, cards_left = everything(cards, load)
    assert len(found.seats) == count
    if not any(part.whole or part.profile for part in load.parts) and len(load.parts) == 1:
        assert -len({seat.card for seat in found.seats}) == cards_left


@settings(max_examples=150, deadline=None)
@given(fleets, loads, st.booleans(), st.booleans())
def test_the_best_is_never_worse_than_first_fit(
    cards: list[FleetCard], load: Load, every_kind: bool, roughly: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if roughly:
            patch.setattr(packing, "MOST_STEPS", 0)
        found = best_packing(cards, load, every_kind=every_kind)
    by_scheduler = first_fit(cards, load)
    assert is_possible(found.seats, cards, load)
    assert is_possible(by_scheduler, cards, load)
    assert found.exact != roughly
    if every_kind:
        kinds = [sum(map(bool, served(seats, load))) for seats in (found.seats, by_scheduler)]
        assert kinds[0] >= kinds[1]
        if kinds[0] > kinds[1]:
            return
    assert len(found.seats) >= len(by_scheduler)


@pytest.mark.parametrize(
    ("cards", "words", "first", "best"),
    [
        (("H100-SXM",) * 2, "1 x 1g.10gb, 1 x 4g.40gb, 1 x 3g.40gb, 1 x whole", (1, 1, 1, 0), (0, 1, 1, 1)),
        (("H100-SXM",) * 2, "1 x 1g.10gb, 1 x 4g.40gb, 1 x whole", (1, 1, 0), (1, 1, 1)),
        (("H100-SXM",), "3 x 9.5Gi, 1 x 4g.40gb", (3, 0), (3, 1)),
        (("H100-SXM",), "8 x 9.5Gi", (7,), (7,)),
        (("H100-SXM",), "8 x 10Gi", (4,), (4,)),
        (("A30",), "1 x 5Gi, 1 x 11Gi, 1 x 5Gi", (2, 1), (2, 1)),
        (("L4", "H100-SXM"), "1 x 20Gi, 1 x whole", (1, 1), (1, 1)),
    ],
)
def test_first_fit_beside_the_best(
    cards: tuple[str, ...], words: str, first: tuple[int, ...], best: tuple[int, ...]
) -> None:
    load = parse_load(words)
    assert served(first_fit(fleet(*cards), load), load) == first
    assert served(best_packing(fleet(*cards), load).seats, load) == best


def test_a_layout_that_stays_gives_every_kind_a_seat() -> None:
    load, cards = parse_load("7 x 9.5Gi, 1 x 39Gi"), fleet("H100-SXM")
    assert served(best_packing(cards, load).seats, load) == (7, 0)
    assert served(best_packing(cards, load, every_kind=True).seats, load) == (4, 1)


def test_one_small_pod_sits_where_it_hinders_nobody() -> None:
    (seat,) = best_packing(fleet("H100-SXM"), parse_load("1 x 1g.10gb")).seats
    assert seat.start == 6


def test_a_large_fleet_is_packed_in_passing() -> None:
    cards = fleet(*["H100-SXM"] * 800)
    load = parse_load("2000 x 9.5Gi, 900 x 19Gi, 600 x 39Gi, 50 x whole")
    found = best_packing(cards, load)
    assert len(found.seats) >= len(first_fit(cards, load))
    assert slots_of(cards[0].card) == 8
