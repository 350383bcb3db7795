"""What waits for devices says which other runs hold some, whole or in shares, by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.ledger import Holder, Ledger, Part
from allotment.running.engine.filling import others_words

GI = 1 << 30
IDS = tuple(device for device, _ in parse_description("3 x L4").devices())


@pytest.mark.parametrize(
    ("campaign", "own", "words"),
    [
        ("books", {"letters"}, "other runs hold some of the devices: books of "),
        ("books", {"books"}, ""),
    ],
)
def test_a_device_that_another_run_holds(campaign: str, own: set[str], words: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    with ledger.locked() as view:
        hold = view.take(IDS[:1], Holder(campaign=campaign))
    with hold, ledger.locked() as view:
        said = others_words(view, frozenset(IDS), own)
    assert said.startswith(words)
    assert bool(said) == bool(words)


def test_a_share_counts_and_a_device_of_another_world_does_not(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    with ledger.locked() as view:
        shared = view.take(IDS[:1], Holder(campaign="books"), {IDS[0]: Part(GI, 22 * GI)})
    with shared, ledger.locked() as view:
        assert "books of " in others_words(view, frozenset(IDS), set())
        assert not others_words(view, frozenset(IDS[1:]), set())


def test_of_many_runs_a_few_are_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    holds = []
    with ledger.locked() as view:
        for number in range(5):
            part = {IDS[0]: Part(GI, 22 * GI)}
            holds.append(view.take(IDS[:1], Holder(campaign=f"c{number}"), part))
    with ledger.locked() as view:
        said = others_words(view, frozenset(IDS), set())
    for hold in holds:
        hold.close()
    assert "c2 of " in said
    assert said.endswith(" and 2 more")
