"""Every rule on needs has an example that it fires on, and one like it that it leaves alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.world import World
from allotment.errors import Finding, Severity
from allotment.needs import need_findings
from allotment.needs.fit_findings import fit_findings
from allotment.needs.lints import lint_findings
from allotment.needs.rules import RULES
from allotment.needs.ways.here import findings_here
from allotment.platform.file import scan_platform
from allotment.repository import load_repository
from allotment.repository.measured import Measured, PageSeconds, scan_measured, written
from allotment.repository.model import StepCall
from allotment.repository.recipe import recipe_digest

GI: Final = 1 << 30
SMALL: Final = 1 / 1024
OLD_KUEUE: Final = "engine: kubernetes\nscheduler: kueue\nversions: {kueue: 0.17.0}\n"
SMALL_CARDS: Final = "cards: {small: {card: L4, class: gpu-small}}\n"
WAYS: Final = "sharing: [whole, mig, time-slicing, mps, fraction, consumable]\n"
RACKS: Final = "topology: [{name: rack, label: example.org/rack}]\n"
IN_RACKS: Final = "topology: {prefer: rack}"
CLUSTER: Final = f"engine: kubernetes\n{WAYS}"
KUEUE, KAI, BOTH = (f"{CLUSTER}scheduler: {each}\n" for each in ("kueue", "kai", "both"))
UNGUARDED: Final = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('1Gi')) >= 0"
LANES: Final = "lanes: {high: {value: 10}, low: {value: 0}}\n"
GUARDED: Final = (
    "device.capacity['gpu.nvidia.com'].?memory.orValue(quantity('0')).compareTo(quantity('1Gi')) >= 0"
)
CONFIG: Final = (
    "{opaque: {driver: gpu.nvidia.com, parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: %s}}}"
)
RECIPE: Final = recipe_digest(None, None, [StepCall("checksum")])


def versions(kubernetes: str) -> str:
    return f'{CLUSTER}versions: {{kubernetes: "{kubernetes}"}}\n'


def figures(peak: float = 6, *, steadiness: float = 0.95, pages: int = 100, longest: float = 9) -> Measured:
    seconds = PageSeconds(1, 2, longest)
    return Measured(
        "p", RECIPE, "L4", int(peak * GI), steadiness, 3, pages, seconds, 0.1, "2026-05-31T12:00:00Z"
    )


@dataclass(frozen=True)
class Files:
    """A repository with a pipeline and a campaign of it, its platform, and devices where they are known."""

    gpu: str = ""
    platform: str = f"engine: local\n{WAYS}"
    more: str = ""
    campaign: str = "window: 2"
    other: str = ""
    measured: tuple[Measured, ...] = ()
    world: str = ""
    shared: bool = False


STEADY: Final = (figures(),)
SHARED: Final = Files("{sharing: time-slicing}", measured=STEADY)
MIG_TWICE: Final = "{sharing: mig, memory: 9Gi, count: 2, same: card}"

LINTS: Final[dict[str, tuple[Files, Files]]] = {
    "claim-too-large": (Files("{count: 33}"), Files("{count: 32}")),
    "unknown-card": (Files("{card: h100}"), Files("{card: H100-SXM}")),
    "bad-select": (Files("{select: '1 +'}"), Files("{select: 'true'}")),
    "memory-of-cards": (Files("{memory: 80Gi}"), Files("{memory: 79.64Gi}")),
    "unguarded-key": (Files(f'{{select: "{UNGUARDED}"}}'), Files(f'{{select: "{GUARDED}"}}')),
    "way-twice": (
        Files("{sharing: [mig, mig, whole], memory: 9Gi}"),
        Files("{sharing: [mig, whole], memory: 9Gi}"),
    ),
    "same-of-one": (Files("{same: card-model}"), Files("{same: card-model, count: 2}")),
    "never-fits": (Files("{memory: 30Gi}", world="2 x L4"), Files("{memory: 20Gi}", world="2 x L4")),
    "isolation-not-kept": (
        Files("{sharing: mps, isolation: hardware}"),
        Files("{sharing: [mps, whole], isolation: hardware}"),
    ),
    "no-isolation": (
        Files("{sharing: [mps, whole]}", CLUSTER, measured=STEADY),
        Files("{sharing: [mig, whole]}", CLUSTER),
    ),
    "config-mismatch": (
        Files(f"{{sharing: mig, memory: 9Gi, config: {CONFIG % 'GpuConfig'}}}"),
        Files(f"{{sharing: mig, memory: 9Gi, config: {CONFIG % 'MigDeviceConfig'}}}"),
    ),
    "not-by-fraction": (
        Files("{sharing: fraction, share: 0.5, select: 'true'}", KAI),
        Files("{sharing: fraction, share: 0.5, card: L4}", KAI, measured=STEADY),
    ),
    "share-of-any-card": (
        Files("{sharing: consumable, share: 0.5}"),
        Files("{sharing: consumable, share: 0.5, card: L4}", measured=STEADY),
    ),
    "share-over-card": (
        Files("{sharing: consumable, share: 30Gi, card: L4}"),
        Files("{sharing: consumable, share: 20Gi, card: L4}", measured=STEADY),
    ),
    "whole-same-card": (Files("{count: 2, same: card}"), Files(MIG_TWICE)),
    "sharing-not-here": (
        Files("{sharing: mps, count: 2}", measured=STEADY),
        Files("{sharing: mps}", measured=STEADY),
    ),
    "way-given-up": (
        Files("{sharing: [fraction, mig], share: 8Gi, memory: 9Gi}", CLUSTER),
        Files("{sharing: [mig, whole], memory: 9Gi}", CLUSTER),
    ),
    "no-fractions-here": (
        Files("{sharing: fraction, share: 8Gi}", CLUSTER, measured=STEADY),
        Files("{sharing: fraction, share: 8Gi}", KAI, measured=STEADY),
    ),
    "gate-off": (
        Files("{sharing: consumable, share: 8Gi}", versions("1.35"), measured=STEADY),
        Files("{sharing: [mig, whole], memory: 9Gi}", versions("1.35")),
    ),
    "incompatible-gates": (
        Files("{sharing: mps}", CLUSTER, measured=STEADY, other="{sharing: consumable, share: 8Gi}"),
        Files("{sharing: mps}", CLUSTER, measured=STEADY, other="{sharing: time-slicing}"),
    ),
    "not-measured": (Files("{sharing: mps}", CLUSTER), Files("{sharing: mps}", CLUSTER, measured=STEADY)),
    "measured-elsewhere": (
        Files("{sharing: mps, card: [L4, H100-SXM]}", CLUSTER, measured=STEADY),
        Files("{sharing: mps, card: L4}", CLUSTER, measured=STEADY),
    ),
    "share-below-peak": (
        Files("{sharing: fraction, share: 6Gi}", KAI, measured=STEADY),
        Files("{sharing: fraction, share: 7Gi}", KAI, measured=STEADY),
    ),
    "strict-select": (
        Files("{select: \"device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('40Gi'))\"}"),
        Files("{select: \"device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('41Gi'))\"}"),
    ),
    "slice-is-whole-card": (
        Files("{sharing: mig, memory: 45Gi, card: H100-SXM}"),
        Files("{sharing: mig, memory: 39Gi, card: H100-SXM}"),
    ),
    "memory-of-slices": (Files("{sharing: mig, memory: 40Gi}"), Files("{sharing: mig, memory: 39.25Gi}")),
    "smallest-slice": (Files("{sharing: mig}"), Files("{sharing: mig, memory: 9Gi}")),
    "slices-apart": (Files("{sharing: mig, memory: 9Gi, count: 2}"), Files(MIG_TWICE)),
    "same-card-refused": (Files(MIG_TWICE, versions("1.36.2")), Files(MIG_TWICE, versions("1.36.3"))),
    "selector-fails": (
        Files(f'{{select: "{UNGUARDED}"}}', CLUSTER, world="2 x L4, 1 x GB10"),
        Files(f'{{select: "{UNGUARDED}"}}', CLUSTER, world="2 x L4"),
    ),
    "shared-card-not-whole": (
        Files("{memory: 9Gi}", CLUSTER, world="1 x L4", shared=True),
        Files("{sharing: consumable, share: 8Gi}", CLUSTER, measured=STEADY, world="1 x L4", shared=True),
    ),
    "one-claim-for-all": (SHARED, Files("{sharing: fraction, share: 8Gi}", KAI, measured=STEADY)),
    "too-many-share": (
        replace(SHARED, platform=CLUSTER, campaign="window: 4"),
        replace(SHARED, platform=CLUSTER, campaign="window: 3"),
    ),
    "kueue-refuses": (
        Files("{sharing: [mig, whole], memory: 9Gi}", KUEUE),
        Files("{sharing: mig, memory: 9Gi}", KUEUE),
    ),
    "not-counted-by-kueue": (
        Files("{card: L4}", KUEUE),
        Files("{card: L4}", f"{KUEUE}cards: {{small: {{card: L4, class: gpu-small}}}}\n"),
    ),
    "kueue-topology": (
        Files("{}", KUEUE + RACKS, IN_RACKS),
        Files("{}", KAI + RACKS, IN_RACKS),
    ),
    "kai-cannot": (Files("{sharing: mig, memory: 9Gi}", KAI), Files("{memory: 9Gi}", KAI)),
    "not-counted-by-kai": (
        Files("{}", f"{KAI}cards: {{small: {{card: L4, class: small}}}}\n"),
        Files("{}", f"{KAI}cards: {{small: {{card: L4, class: gpu-small}}}}\n"),
    ),
    "no-preemption": (
        Files("{}", CLUSTER, campaign="priority: interactive"),
        Files("{}", KUEUE, campaign="priority: interactive"),
    ),
    "two-quota-layers": (Files("{}", BOTH), Files("{}", KUEUE)),
    "elastic-window": (
        Files("{}", KUEUE, campaign="window: 8"),
        Files("{}", KUEUE, campaign="window: {min: 8, max: 8}"),
    ),
    "page-over-grace": (
        Files("{}", "defaults: {page_seconds: 900}\n"),
        Files("{}", "defaults: {page_seconds: 900, minimum_runtime: 15m}\n"),
    ),
    "driver-not-supported": (
        Files("{}", CLUSTER),
        Files("{sharing: fraction, share: 8Gi}", KAI, measured=STEADY),
    ),
}

FURTHER: Final[list[tuple[str, Files, Files]]] = [
    ("not-measured", Files("{sharing: mps}", measured=(figures(steadiness=0.5),)), Files("{sharing: mig}")),
    ("not-measured", Files("{sharing: mps}", CLUSTER, measured=(figures(pages=3),)), Files("{}", CLUSTER)),
    (
        "not-measured",
        Files("{sharing: mps}", CLUSTER, measured=(replace(figures(), recipe="0" * 12),)),
        Files("{sharing: [mig, mps], memory: 9Gi}", CLUSTER, measured=STEADY),
    ),
    ("gate-off", Files("{sharing: mps}", CLUSTER, measured=STEADY), replace(SHARED, platform=CLUSTER)),
    (
        "gate-off",
        replace(SHARED, platform=CLUSTER, gpu="{sharing: time-slicing, config: {time_slice: Long}}"),
        replace(SHARED, gpu="{sharing: time-slicing, config: {time_slice: Long}}"),
    ),
    (
        "gate-off",
        Files("{sharing: mig, memory: 9Gi}", versions("1.35"), world="1 x H100-SXM mig=on-demand"),
        Files("{sharing: mig, memory: 9Gi}", versions("1.36"), world="1 x H100-SXM mig=on-demand"),
    ),
    (
        "incompatible-gates",
        Files("{sharing: mps}", CLUSTER, measured=STEADY, world="1 x H100-SXM mig=on-demand"),
        Files("{sharing: mps}", CLUSTER, measured=STEADY, world="1 x H100-SXM"),
    ),
    (
        "incompatible-gates",
        Files("{sharing: mps}", CLUSTER, measured=STEADY, world="1 x L4", shared=True),
        Files("{sharing: time-slicing}", CLUSTER, measured=STEADY, world="1 x L4", shared=True),
    ),
    ("slice-is-whole-card", Files("{sharing: [mig, whole], memory: 200Gi}"), Files("{memory: 200Gi}")),
    ("same-card-refused", Files(MIG_TWICE, versions("1.36")), Files(MIG_TWICE, versions("1.37"))),
    (
        "not-measured",
        Files("{sharing: mps, isolation: hardware}", CLUSTER),
        Files("{sharing: mps, isolation: hardware}", CLUSTER, measured=STEADY),
    ),
    (
        "not-measured",
        Files("{sharing: time-slicing, config: {mps: {threads: 5}}}", CLUSTER),
        Files("{sharing: whole, config: {mps: {threads: 5}}}", CLUSTER),
    ),
    (
        "unknown-card",
        Files("{sharing: mps}", CLUSTER, measured=(*STEADY, replace(figures(), card="H100-SMX-80"))),
        Files("{sharing: mps}", CLUSTER, measured=(*STEADY, replace(figures(), card="H100-SXM-80 1g.10gb"))),
    ),
    (
        "measured-elsewhere",
        Files("{sharing: mps, memory: 30Gi}", CLUSTER, measured=STEADY),
        Files("{sharing: mps, memory: 22.49Gi..22.6Gi}", CLUSTER, measured=STEADY),
    ),
    ("kai-cannot", Files("{sharing: [whole, mig]}", KAI), Files("{sharing: [whole, mig]}", CLUSTER)),
    ("kueue-refuses", Files("{fallback: [{card: L4}]}", BOTH), Files("{fallback: [{card: L4}]}", CLUSTER)),
    ("kueue-refuses", Files("{memory: 9Gi}", OLD_KUEUE), Files("{memory: 9Gi}", KUEUE)),
    (
        "kueue-refuses",
        Files("{card: L4}", OLD_KUEUE),
        Files("{card: small}", OLD_KUEUE + SMALL_CARDS),
    ),
    (
        "kueue-refuses",
        Files(MIG_TWICE, f"{OLD_KUEUE}sharing: [mig]\n"),
        Files("{count: 2}", OLD_KUEUE),
    ),
    ("not-counted-by-kueue", Files("{memory: 9Gi}", KUEUE), Files("{}", KUEUE)),
    (
        "too-many-share",
        Files("{sharing: mps}", CLUSTER, campaign="window: 300", measured=(figures(SMALL),)),
        Files("{sharing: mps}", CLUSTER, campaign="window: 256", measured=(figures(SMALL),)),
    ),
    (
        "page-over-grace",
        Files("{}", CLUSTER, measured=(figures(longest=700),)),
        Files("{}", CLUSTER, measured=(figures(longest=300),)),
    ),
    ("no-preemption", Files("{}", CLUSTER, campaign="priority: interactive"), Files("{}", CLUSTER)),
    (
        "no-preemption",
        Files("{}", f"{CLUSTER}{LANES}", campaign="priority: high"),
        Files("{}", f"{CLUSTER}{LANES}"),
    ),
    (
        "config-mismatch",
        Files("{sharing: mps, config: {mps: {pinned_memory: 900Gi}}}", measured=STEADY),
        Files("{sharing: mps, config: {mps: {pinned_memory: 200Gi}}}", measured=STEADY),
    ),
    (
        "config-mismatch",
        Files("{sharing: mps, card: L4, config: {mps: {pinned_memory: 23Gi}}}", measured=STEADY),
        Files("{sharing: mps, card: L4, config: {mps: {pinned_memory: 20Gi}}}", measured=STEADY),
    ),
    (
        "config-mismatch",
        Files("{sharing: mps, memory: 20Gi, config: {mps: {pinned_memory: 21Gi}}}", measured=STEADY),
        Files("{sharing: mps, memory: 20Gi, config: {mps: {pinned_memory: 20Gi}}}", measured=STEADY),
    ),
]
CASES: Final = [*((rule, *pair) for rule, pair in LINTS.items()), *FURTHER]


def world_of(files: Files) -> World:
    """The devices; ``shared`` are such that several claims may hold them."""
    world = parse_description(files.world)
    if not files.shared:
        return world
    slices = tuple(
        replace(each, devices=tuple(replace(one, allow_multiple_allocations=True) for one in each.devices))
        for each in world.slices
    )
    return replace(world, slices=slices)


def findings_of(files: Files, root: Path) -> list[Finding]:
    """Everything that a check says of them, and what a run on this machine refuses."""
    for folder in ("pipelines", "campaigns", "scans/a"):
        (root / folder).mkdir(parents=True)
    steps = "steps: [{step: checksum}]\n"
    (root / "pipelines/p.yaml").write_text(f"gpu: {files.gpu}\n{steps}{files.more}\n")
    if files.other:
        (root / "pipelines/q.yaml").write_text(f"gpu: {files.other}\n{steps}")
    (root / "campaigns/c.yaml").write_text(
        f"pipeline: p\n{files.campaign}\nvolumes: [{{id: a, folder: scans/a}}]\n"
    )
    (root / "site.yaml").write_text(files.platform)
    (root / "measured.yaml").write_text(
        written(files.measured) if files.measured else "format: 1\nmeasured: []\n"
    )
    platform, found = scan_platform(root / "site.yaml", "site.yaml")
    loaded = load_repository(root, platform)
    assert not [*found, *loaded.findings]
    measured, about_measured = scan_measured(root)
    assert not about_measured
    world = world_of(files) if files.world else None
    findings = lint_findings(loaded.repository, platform, "site.yaml", measured, world)
    for pipeline in loaded.repository.pipelines.values():
        findings += need_findings(pipeline, platform.cards)
        findings += findings_here(pipeline) if platform.engine == "local" else []
        findings += fit_findings(pipeline, world, platform.cards) if world is not None else []
    return findings


def test_every_rule_has_an_example() -> None:
    assert set(LINTS) == RULES.keys() - {"not-in-this-version"}


@pytest.mark.parametrize(("rule", "files"), [(rule, fires) for rule, fires, _ in CASES])
def test_a_rule_fires(rule: str, files: Files, tmp_path: Path) -> None:
    found = [each for each in findings_of(files, tmp_path) if each.rule == rule]
    assert found
    for each in found:
        assert each.message
        assert each.hint or rule in {"never-fits"}
        assert each.position.line >= 1


@pytest.mark.parametrize(("rule", "files"), [(rule, clean) for rule, _, clean in CASES])
def test_a_rule_leaves_alone_what_is_right(rule: str, files: Files, tmp_path: Path) -> None:
    assert rule not in {each.rule for each in findings_of(files, tmp_path)}


@pytest.mark.parametrize(
    ("rule", "severity", "evidence"),
    [
        ("selector-fails", Severity.ERROR, "gpu-0 of node-2: CEL runtime error: no such key: memory"),
        ("memory-of-slices", Severity.WARNING, "H100-SXM-80 3g.40gb: 39.50Gi (40448Mi)"),
        ("slice-is-whole-card", Severity.ERROR, "H100-SXM-80 3g.40gb: 39.50Gi (40448Mi)"),
        ("gate-off", Severity.WARNING, "DRAConsumableCapacity (on by default from Kubernetes 1.36)"),
        ("share-below-peak", Severity.ERROR, "peak 6Gi over 100 pages of 3 volumes"),
        ("incompatible-gates", Severity.WARNING, "p: MPSSupport"),
        ("not-counted-by-kai", Severity.WARNING, "small"),
        ("one-claim-for-all", Severity.NOTE, "claim `p`, at most 2 pods"),
        ("not-measured", Severity.ERROR, None),
        ("no-isolation", Severity.NOTE, None),
    ],
)
def test_a_finding_has_its_weight_and_its_evidence(
    rule: str, severity: Severity, evidence: str | None, tmp_path: Path
) -> None:
    found = [each for each in findings_of(LINTS[rule][0], tmp_path) if each.rule == rule]
    assert severity in {each.severity for each in found}
    assert evidence is None or evidence in [line for each in found for line in each.evidence]


@pytest.mark.parametrize(
    ("gpu", "card", "severity"),
    [
        ("{sharing: mps}", "H100-SXM-80", Severity.WARNING),
        ("{sharing: mps, card: [L4, A10]}", "L4", Severity.WARNING),
        ("{sharing: mps, memory: 22Gi}", "L4", Severity.NOTE),
    ],
)
def test_a_smaller_card_than_was_measured_weighs_more(
    gpu: str, card: str, severity: Severity, tmp_path: Path
) -> None:
    files = Files(gpu, CLUSTER, measured=(replace(figures(), card=card),))
    (found,) = [each for each in findings_of(files, tmp_path) if each.rule == "measured-elsewhere"]
    assert found.severity is severity


TWO_SIZES = "{memory: 80Gi, fallback: [{memory: 40Gi}]}"


@pytest.mark.parametrize(
    ("gpu", "kept"),
    [
        (TWO_SIZES, "a card of at least 80Gi alone is claimed"),
        ("{sharing: [mig, whole], memory: 9Gi}", "`mig` alone is claimed"),
    ],
)
def test_kueue_is_told_which_alternative_is_claimed(gpu: str, kept: str, tmp_path: Path) -> None:
    (found,) = [each for each in findings_of(Files(gpu, KUEUE), tmp_path) if each.rule == "kueue-refuses"]
    assert kept in found.message


@pytest.mark.parametrize(("world", "told"), [("2 x L4", 0), ("2 x H100-SXM", 1), ("2 x H200", 0)])
def test_an_alternative_that_kueue_would_have_to_give_up_is_named_where_only_it_fits(
    world: str, told: int, tmp_path: Path
) -> None:
    found = findings_of(Files(TWO_SIZES, KUEUE, world=world), tmp_path)
    would = [each for each in found if "never fits here, and a card of at least 40Gi" in each.message]
    assert len(would) == told
