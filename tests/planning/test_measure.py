"""What manifests say of a pipeline's use of a card: peak, steadiness, times, waits, and what is not known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.planning.figures import read_figures
from allotment.planning.measure import CardMeasure, known_card, measures_of, page_seconds
from allotment.quantities import GI, MI
from tests.planning.manifests import H100, KEYS, L4, bucket_with, manifest, on, page


def measured(**volumes: object) -> tuple[CardMeasure, ...]:
    return measures_of("read", KEYS.recipe, read_figures(bucket_with(volumes), KEYS))  # type: ignore[arg-type]


def test_the_peak_is_the_most_of_any_page_and_steadiness_the_middle_against_it() -> None:
    pages = [on(H100, amount * GI) for amount in (8, 8, 9, 10)]
    (found,) = measured(v1=manifest(pages), v2=manifest([on(H100, 10 * GI)]))
    assert found.entry is not None
    assert (found.entry.card, found.entry.peak, found.entry.pages, found.entry.volumes) == (
        "H100-SXM-80",
        10 * GI,
        5,
        2,
    )
    assert found.entry.steadiness == 0.9
    assert found.entry.measured == "2026-05-28T20:26:40Z"


def test_the_lowest_volume_counts_for_steadiness_too() -> None:
    many = [on(H100, 10 * GI)] * 9
    (found,) = measured(v1=manifest(many), v2=manifest([on(H100, 4 * GI)]))
    assert found.entry is not None
    assert found.entry.steadiness == 0.4
    assert found.evidence[1] == "volumes peak between 4.00Gi (v2) and 10.00Gi (v1), 60% apart"


def test_what_loading_used_counts_for_the_volume() -> None:
    (found,) = measured(
        v1=manifest(
            [on(H100, 4 * GI)], card=H100, peak_device_memory_bytes=6 * GI, device_memory_told_by="process"
        )
    )
    assert found.entry is not None
    assert found.entry.peak == 6 * GI


def test_each_kind_of_card_is_told_apart_and_pages_without_one_come_last() -> None:
    pages = [on(L4, 2 * GI), on(H100, 3 * GI), page(seconds=9.0)]
    found = measured(v1=manifest(pages))
    assert [(each.card.name, each.pages) for each in found] == [("H100-SXM-80", 1), ("L4", 1), ("", 1)]
    assert found[2].entry is None
    assert found[2].page_seconds.max == 9.0
    assert "processors" in found[2].unknown[0]


def test_the_wait_is_the_part_of_the_time_in_which_the_card_had_no_page() -> None:
    (found,) = measured(
        v1=manifest([on(H100, GI, seconds=1.0, wait=3.0), on(H100, GI, seconds=3.0, wait=1.0)])
    )
    assert found.device_wait == 0.5


@pytest.mark.parametrize(
    ("volumes", "words"),
    [
        ({"v1": manifest([on(H100, GI, by="card")])}, "the driver did not name the workers' processes"),
        ({"v1": manifest([on(H100, GI)])}, "how far volumes differ: only one was measured"),
        ({"v1": manifest([on(H100, GI)], failed=2)}, "what the 2 pages that failed would have used"),
        ({"v1": manifest([on(H100, GI)]), "v2": b"{"}, "what stands in a manifest that could not be read"),
        ({"v1": manifest([page(card=H100)])}, "the driver told nothing of device memory"),
    ],
)
def test_what_is_not_known_is_said(volumes: dict[str, object], words: str) -> None:
    assert any(words in sentence for sentence in measured(**volumes)[0].unknown)


def test_only_named_volumes_count_where_some_are_named() -> None:
    bucket = bucket_with({"v1": manifest([on(H100, GI)]), "v2": manifest([on(H100, 2 * GI)])})
    figures = read_figures(bucket, KEYS, {"v1", "v9"})
    assert [volume.volume for volume in figures.volumes] == ["v1"]


def test_nothing_measured_is_nothing_told() -> None:
    assert measured() == ()


@pytest.mark.parametrize(
    ("product", "name", "memory", "is_slice"),
    [
        (H100, "H100-SXM-80", 81559 * MI, False),
        (f"{H100} MIG 1g.10gb", "H100-SXM-80 1g.10gb", None, True),
        ("A Card Of Tomorrow", "A Card Of Tomorrow", None, False),
    ],
)
def test_a_card_is_named_as_the_catalogue_has_it(
    product: str, name: str, memory: int | None, is_slice: bool
) -> None:
    card = known_card(product)
    assert (card.name, card.is_slice) == (name, is_slice)
    assert memory is None or card.memory == memory


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300))
def test_times_are_among_those_measured_and_in_order(seconds: list[float]) -> None:
    seconds.sort()
    found = page_seconds(seconds)
    assert found.p50 <= found.p95 <= found.max
    assert {found.p50, found.p95, found.max} <= {round(each, 3) for each in seconds}
    assert sum(each <= found.p95 + 0.001 for each in seconds) >= 0.95 * len(seconds)
