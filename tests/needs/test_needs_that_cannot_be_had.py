"""Keys that this version cannot honour, and needs that no claim can hold, are findings with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.documents import read_text
from allotment.errors import Severity
from allotment.needs import need_findings
from allotment.platform.need import NO_RESOURCES, MemoryRange, Need, Resources
from allotment.repository.model import Pipeline, StepCall

STEPS = (StepCall("checksum"),)


def pipeline(text: str, gpu: Need | None, resources: Resources = NO_RESOURCES) -> Pipeline:
    document = read_text(text, name="pipelines/p.yaml")
    return Pipeline(
        "p", STEPS, gpu=gpu, resources=resources, path=Path("pipelines/p.yaml"), document=document
    )


def told(found: Pipeline) -> list[str]:
    return [
        f"{each.position.line}:{each.position.column} {each.severity} {each.rule}"
        for each in need_findings(found)
    ]


@pytest.mark.parametrize(
    ("key", "need", "hint"),
    [
        ("sharing: mig", Need(sharing=("mig",)), "whole"),
        ("sharing: [mig, whole]", Need(sharing=("mig", "whole")), "whole"),
        ("share: 0.5", Need(share=0.5), "whole card"),
        ("config: {time_slice: Short}", Need(config={"time_slice": "Short"}), "whole card"),
    ],
)
def test_what_this_version_cannot_run_yet_is_an_error_at_its_place(key: str, need: Need, hint: str) -> None:
    found = need_findings(pipeline(f"gpu:\n  {key}\n", need))
    assert [(each.rule, each.position.line, each.severity) for each in found] == [
        ("not-in-this-version", 2, Severity.ERROR)
    ]
    assert f"`{key.partition(':')[0]}`" in found[0].message
    assert hint in found[0].hint


@pytest.mark.parametrize(
    "need",
    [
        None,
        Need(),
        Need(isolation="hardware"),
        Need(MemoryRange(at_least=1), count=32, fallback=(Need(cpu=32),)),
        Need(fallback=(Need(cpu=1),) * 7),
    ],
)
def test_what_can_be_had_is_no_finding(need: Need | None) -> None:
    assert need_findings(pipeline("gpu: {}\n", need)) == []


def test_all_faults_are_found_at_once_in_fallbacks_too() -> None:
    text = "gpu:\n  count: 33\n  fallback:\n    - {select: '1 +', card: [L4, b]}\n    - cpu: 40\n"
    need = Need(count=33, fallback=(Need(select="1 +", card=("L4", "b")), Need(cpu=40)))
    assert told(pipeline(text, need)) == [
        "2:10 error claim-too-large",
        "4:34 error unknown-card",
        "4:16 error bad-select",
        "5:12 error claim-too-large",
    ]


def test_more_alternatives_than_a_claim_holds_are_an_error() -> None:
    text = "gpu:\n  fallback: [" + ", ".join(["{cpu: 1}"] * 8) + "]\n"
    found = need_findings(pipeline(text, Need(fallback=(Need(cpu=1),) * 8)))
    assert [each.message for each in found] == [
        "8 fallbacks make 9 alternatives, and a claim holds at most 8"
    ]


def test_more_cores_than_a_claim_holds_are_a_warning() -> None:
    found = pipeline("resources:\n  cpu: 64\n", None, Resources(cpu=64))
    assert told(found) == ["2:8 warning claim-too-large"]
    assert told(pipeline("resources:\n  cpu: 64\n", Need(), Resources(cpu=64))) == []
