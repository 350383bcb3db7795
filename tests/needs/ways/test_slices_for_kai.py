"""KAI counts claims by the names of their classes: slices have one of ours there, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.classes import COUNTED_MIG_CLASS, GPU_CLASS, MIG_CLASS
from allotment.devices.describe import parse_description
from allotment.devices.fleet import Fleet, Placed
from allotment.needs.cards import COUNTED_SLICES, classes_for
from allotment.needs.claim import by_known_class, claim_for
from allotment.needs.ways.choosing import able
from allotment.needs.words import describe
from allotment.platform.model import Platform
from allotment.platform.need import Need

MIG = Need(sharing=("mig",))
SLICES = parse_description("1 x H100-SXM mig=1g.10gb*7, 1 x L4")


@pytest.mark.parametrize(
    ("scheduler", "engine", "expected"),
    [
        ("default", "kubernetes", MIG_CLASS),
        ("kueue", "kubernetes", MIG_CLASS),
        ("kai", "kubernetes", COUNTED_MIG_CLASS),
        ("both", "kubernetes", COUNTED_MIG_CLASS),
        ("kai", "local", MIG_CLASS),
    ],
)
def test_the_class_of_slices_is_the_schedulers(scheduler: str, engine: str, expected: str) -> None:
    platform = Platform(engine=engine, scheduler=scheduler, sharing=("whole", "mig"))
    claim = claim_for(MIG, by_class=engine == "kubernetes", able=able(platform))
    assert [each.exactly.device_class for each in claim.requests[0].alternatives] == [expected]
    whole = claim_for(Need(), by_class=engine == "kubernetes", able=able(platform))
    assert whole.requests[0].alternatives[0].exactly.device_class == GPU_CLASS


def test_it_is_counted_and_finds_the_same_devices() -> None:
    assert "gpu" in COUNTED_SLICES.name
    kai = able(Platform(engine="kubernetes", scheduler="kai", sharing=("whole", "mig")))
    counted, plain = claim_for(MIG, by_class=True, able=kai), claim_for(MIG)
    classes = {**SLICES.classes, **{each.name: each for each in classes_for({}, by_name=kai.by_name)}}
    places = [Fleet(replace(SLICES, classes=classes)).place(each) for each in (counted, plain)]
    devices = [each.allocation.ids for each in places if isinstance(each, Placed)]
    assert devices[0] == devices[1]
    assert by_known_class(counted) == plain
    assert describe(counted) == describe(plain) == "a partition of a card"


def test_alternatives_go_back_to_the_known_class_too() -> None:
    both = Need(sharing=("mig", "whole"))
    kai = replace(able(Platform(engine="kubernetes", scheduler="kai")), lists=True)
    counted = claim_for(both, by_class=True, able=kai)
    names = [each.exactly.device_class for each in counted.requests[0].alternatives]
    assert names == [COUNTED_MIG_CLASS, GPU_CLASS]
    assert by_known_class(counted) == claim_for(both)
