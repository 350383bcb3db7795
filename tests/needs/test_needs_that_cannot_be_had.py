"""Needs that no way to share a card keeps, and that no claim can hold, are findings with their place."""

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


MPS = {"mps": {"threads": 25}}
SLICES = {"strategy": "TimeSlicing"}


def opaque(
    kind: str, more: dict[str, object] | None = None, driver: str = "gpu.nvidia.com"
) -> dict[str, object]:
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, **(more or {})}
    return {"opaque": {"driver": driver, "parameters": parameters}}


@pytest.mark.parametrize(
    ("need", "rule", "words"),
    [
        (
            Need(sharing=("mps", "fraction"), share=0.5, isolation="hardware"),
            "isolation-not-kept",
            "no way that",
        ),
        (Need(sharing=("mps",), isolation="hardware"), "isolation-not-kept", "limits on threads"),
        (
            Need(sharing=("fraction",), share=0.5, select="true"),
            "not-by-fraction",
            "a selector cannot be kept",
        ),
        (Need(sharing=("fraction",), share=0.5, same="pcie-root"), "not-by-fraction", "`same: pcie-root`"),
        (Need(sharing=("consumable",), share=0.5), "share-of-any-card", "`share: 0.5`"),
        (
            Need(sharing=("consumable",), share=0.5, card=("L4", "T4")),
            "share-of-any-card",
            "whose memory nobody",
        ),
        (Need(count=2, same="card"), "whole-same-card", "`whole` takes cards"),
        (Need(sharing=("mig", "whole"), count=2, same="card"), "whole-same-card", "slices of one card"),
        (Need(config=MPS), "config-mismatch", "`mps` is for `sharing: mps`, and `whole` is asked for"),
        (Need(sharing=("mig",), config={"time_slice": "Long"}), "config-mismatch", "`time_slice` is for"),
        (Need(sharing=("mps",), config={"mps": {"pinned_memory": 1024}}), "config-mismatch", "less than 1Mi"),
        (Need(config=opaque("MigDeviceConfig")), "config-mismatch", "takes a GpuConfig"),
        (Need(sharing=("mig",), config=opaque("GpuConfig")), "config-mismatch", "takes a MigDeviceConfig"),
        (
            Need(sharing=("mig", "whole"), config=opaque("GpuConfig")),
            "config-mismatch",
            "for slices and for cards",
        ),
        (Need(config=opaque("GpuConfi")), "config-mismatch", "no kind `GpuConfi`"),
        (Need(config=opaque("GpuConfig", {"shering": {}})), "config-mismatch", "no field `shering`"),
        (Need(config=opaque("GpuConfig", driver="gpu.amd.com")), "config-mismatch", "are for gpu.amd.com"),
        (
            Need(
                sharing=("mig",),
                config=opaque("MigDeviceConfig", {"sharing": {**SLICES, "timeSlicingConfig": 1}}),
            ),
            "config-mismatch",
            "has no field `timeSlicingConfig`",
        ),
        (
            Need(config=opaque("GpuConfig", {"sharing": {**SLICES, "mpsConfig": {}}})),
            "config-mismatch",
            "`mpsConfig` stands beside the strategy TimeSlicing",
        ),
        (
            Need(sharing=("fraction",), share=0.5, config=opaque("GpuConfig")),
            "config-mismatch",
            "a fraction is no claim",
        ),
    ],
)
def test_what_no_way_can_keep_is_an_error(need: Need, rule: str, words: str) -> None:
    found = need_findings(pipeline("gpu: {}\n", need))
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert [each.rule for each in errors][:1] == [rule]
    assert words in " ".join(each.message for each in errors)
    assert all(each.hint for each in errors)


@pytest.mark.parametrize(
    "need",
    [
        Need(MemoryRange(at_least=1), sharing=("mig", "whole"), isolation="hardware"),
        Need(sharing=("mps", "whole"), isolation="hardware"),
        Need(sharing=("fraction",), share="8Gi"),
        Need(sharing=("consumable",), share=0.5, card=("L4",)),
        Need(MemoryRange(at_least=1), sharing=("mig",), count=2, same="card"),
        Need(sharing=("mps",), config=MPS),
        Need(sharing=("time-slicing",), config={"time_slice": "Long"}),
        Need(
            MemoryRange(at_least=1),
            sharing=("mig",),
            config=opaque("MigDeviceConfig", {"sharing": {"strategy": "MPS"}}),
        ),
        Need(config=opaque("GpuConfig", {"sharing": SLICES})),
    ],
)
def test_what_its_way_keeps_is_no_finding(need: Need) -> None:
    assert need_findings(pipeline("gpu: {}\n", need)) == []


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
