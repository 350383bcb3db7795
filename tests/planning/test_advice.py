"""What a pipeline should ask for by its measured use, with figures: need, size, slice, part of a card."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.planning.advice import Advice, Kind, advice_for, asked_memory
from allotment.planning.figures import read_figures
from allotment.planning.measure import measures_of
from allotment.platform.model import Platform, Size
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import GI, MI, parse_bytes
from tests.planning.manifests import H100, KEYS, bucket_with, manifest, on

SIZES = {
    "small": Size(Need(memory=MemoryRange(at_least=10 * GI))),
    "large": Size(Need(memory=MemoryRange(at_least=40 * GI))),
}


def advice(
    peaks: list[int], need: Need | None = None, card: str = H100, wait: float = 0.0
) -> dict[Kind, Advice]:
    pages = [on(card, peak, wait=wait) for peak in peaks]
    figures = read_figures(bucket_with({"v1": manifest(pages), "v2": manifest(pages)}), KEYS)
    (measure,) = measures_of("read", KEYS.recipe, figures)
    return {each.kind: each for each in advice_for(measure, need, Platform(sizes=SIZES))}


def test_a_steady_use_gets_every_kind_of_advice() -> None:
    found = advice([8 * GI] * 20)
    assert found[Kind.MEMORY].write == "gpu: {memory: 9Gi}"
    assert found[Kind.SIZE].write == "size: small"
    assert "1g.10gb" in found[Kind.SLICE].message
    assert found[Kind.FRACTION].write == "gpu: {sharing: fraction, share: 9012Mi}"
    assert "(9 workers on one card)" in found[Kind.FRACTION].message
    assert Kind.NO_FRACTION not in found


@pytest.mark.parametrize(
    ("peaks", "words"),
    [([8 * GI] * 5, "only 10 pages were measured"), ([2 * GI] * 19 + [8 * GI], "25% of the peak of 8.00Gi")],
)
def test_a_part_of_a_card_is_not_advised_without_a_steady_use(peaks: list[int], words: str) -> None:
    found = advice(peaks)
    assert Kind.FRACTION not in found
    assert words in found[Kind.NO_FRACTION].message


def test_a_need_far_above_or_below_the_peak_is_said() -> None:
    above = advice([8 * GI] * 20, Need(memory=MemoryRange(at_least=40 * GI)))
    below = advice([8 * GI] * 20, Need(memory=MemoryRange(at_least=4 * GI)))
    assert "It asks for 40.00Gi now, 31.19Gi more than that" in above[Kind.MEMORY].message
    assert "It asks for 4.00Gi now, which may be too little" in below[Kind.MEMORY].message


def test_a_card_that_waits_is_said() -> None:
    assert "75% of the time" in advice([GI] * 20, wait=3.0)[Kind.WAIT].message


def test_a_card_that_nobody_knows_gets_no_part_of_it() -> None:
    found = advice([8 * GI] * 20, card="A Card Of Tomorrow")
    assert {Kind.SLICE, Kind.FRACTION} & found.keys() == set()


@pytest.mark.parametrize(
    ("room", "sizes", "asked"),
    [
        (9012 * MI, [], "9Gi"),
        (22 * GI + 1, [23034 * MI], "22.49Gi"),
        (22 * GI + 1, [22 * GI], "23Gi"),
        (79 * GI + 600 * MI, [81559 * MI], "79.64Gi"),
        (22 * GI + 500 * MI, [22 * GI + 501 * MI], "23028Mi"),
    ],
)
def test_memory_is_rounded_so_that_no_card_with_room_is_left_out(
    room: int, sizes: list[int], asked: str
) -> None:
    assert asked_memory(room, sizes) == asked


@given(st.integers(1, 200 * GI), st.lists(st.integers(1, 200 * GI), max_size=5))
def test_what_is_asked_for_has_room_and_leaves_nobody_out(room: int, sizes: list[int]) -> None:
    asked = parse_bytes(asked_memory(room, sizes))
    assert asked >= room
    rounding = MI  # a card is no nearer to the peak than that
    assert all(size >= asked for size in sizes if size >= room + rounding)
