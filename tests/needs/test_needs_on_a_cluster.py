"""A need as a cluster can have it, and needs that nothing in a world can meet as findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.classes import DeviceClass
from allotment.devices.describe import parse_description
from allotment.documents import read_text
from allotment.needs.cluster import for_cluster
from allotment.needs.fit_findings import fit_findings
from allotment.platform.model import Card
from allotment.platform.need import MemoryRange, Need
from allotment.repository.model import Pipeline, StepCall

GI = 1 << 30
BIG, SMALL = Need(memory=MemoryRange(at_least=80 * GI)), Need(memory=MemoryRange(at_least=8 * GI))


@pytest.mark.parametrize(
    ("need", "kept", "words"),
    [
        (None, None, "it needs no device"),
        (Need(cpu=1), None, "it needs 1 core: on a cluster that is a plain request for cpu"),
        (Need(cpu=4, fallback=(SMALL,)), None, "it needs 4 cores"),
        (BIG, BIG, ""),
        (Need(fallback=(SMALL,)), Need(fallback=(SMALL,)), ""),
        (Need(fallback=(Need(cpu=2),)), Need(), "the fallback to processors is dropped on a cluster"),
        (
            Need(fallback=(SMALL, Need(cpu=2), BIG)),
            Need(fallback=(SMALL,)),
            "and with it what comes after (1)",
        ),
    ],
)
def test_processors_are_given_up_aloud(need: Need | None, kept: Need | None, words: str) -> None:
    found, said = for_cluster(need)
    assert found == kept
    assert words in " ".join(said)
    assert bool(said) is bool(words)


def pipeline(need: Need | None, text: str = "gpu:\n  memory: 80Gi\n") -> Pipeline:
    document = read_text(text, name="pipelines/p.yaml")
    return Pipeline("p", (StepCall("checksum"),), gpu=need, path=Path("pipelines/p.yaml"), document=document)


def test_a_need_that_nothing_can_meet_is_an_error_with_the_nearest_and_the_value() -> None:
    world = parse_description("8 x H100-SXM")
    (finding,) = fit_findings(pipeline(BIG), world, where="in the described fleet")
    assert str(finding) == (
        "pipelines/p.yaml:2:11 error never-fits: nothing in the described fleet will ever do: the nearest is "
        "gpu-0 of node-1 (NVIDIA H100 80GB HBM3): it has 79.64Gi (81559Mi) of memory, and at least 80Gi is "
        "asked for (write `memory: 79.64Gi`, and 8 devices would do)"
    )


@pytest.mark.parametrize(
    "need",
    [
        SMALL,
        Need(memory=BIG.memory, fallback=(SMALL,)),
        Need(cpu=99),
        None,
        Need(card=("no-such-card",)),
        Need(select="1 +"),
    ],
)
def test_a_need_that_can_be_met_or_makes_no_claim_is_no_finding(need: Need | None) -> None:
    assert fit_findings(pipeline(need), parse_description("1 x L4")) == []


def test_a_fallback_to_processors_does_not_count_on_a_cluster() -> None:
    need = Need(memory=BIG.memory, fallback=(Need(cpu=1),))
    assert [each.rule for each in fit_findings(pipeline(need), parse_description("1 x L4"))] == ["never-fits"]


def test_a_cluster_with_the_platforms_class_alone_is_enough_and_decides_what_the_class_is() -> None:
    kinds = {"small": Card("L4", "gpu-small")}
    need = pipeline(Need(card=("small",)))
    world = parse_description("2 x L4")
    selectors = ("device.driver == 'gpu.nvidia.com'",)
    there = replace(world, classes={"gpu-small": DeviceClass("gpu-small", selectors)})
    assert fit_findings(need, there, kinds) == []
    nobody = replace(world, classes={"gpu-small": DeviceClass("gpu-small", ("false",))})
    assert [each.rule for each in fit_findings(need, nobody, kinds)] == ["never-fits"]
    assert fit_findings(need, replace(world, classes={}), kinds) == []
