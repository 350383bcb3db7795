"""Lints of the platform and all needs together: what no single file shows.

Facts: README of NVIDIA's DRA driver for GPUs and release notes of GPU Operator 26.7.0; feature gates that the
driver refuses together; KAI 0.17 on which classes count as cards; the seed platform's list of what to watch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from allotment.errors import Finding, Position, Severity
from allotment.needs.lints.looked import Looked
from allotment.needs.rules import INCOMPATIBLE_GATES, KAI_UNCOUNTED, PAGE_OVER_GRACE, TWO_LAYERS, UNSUPPORTED
from allotment.needs.ways import Scope
from allotment.platform.model import Platform

AllLint = Callable[[Platform, Position, Sequence[Looked]], Iterator[Finding]]

_KUBERNETES: Final = "kubernetes"
_GPU: Final = "gpu"


def driver_not_supported(platform: Platform, origin: Position, needs: Sequence[Looked]) -> Iterator[Finding]:
    """Claims for cards, of which a driver's own chart says that they are not supported."""
    claimed = [each.name for each in needs if each.choice.scope is not Scope.ANNOTATION and each.ways]
    if platform.engine == _KUBERNETES and claimed:
        message = (
            "cards are claimed from NVIDIA's DRA driver, whose README does not call that supported; GPU "
            "Operator "
            "26.7 supports whole cards and slices that are set up in advance, and every other way is alpha"
        )
        hint = (
            "install it with the GPU Operator, or with resources.gpus.enabled and gpuResourcesEnabledOverride"
        )
        yield _note(origin, UNSUPPORTED, message, hint, f"claimed by {_few(claimed)}")


def two_quota_layers(platform: Platform, origin: Position, _needs: Sequence[Looked]) -> Iterator[Finding]:
    """Kueue and KAI at once."""
    if platform.engine == _KUBERNETES and platform.scheduler == "both":
        message = "Kueue and KAI both hold quotas, and work waits for the stricter of two that disagree"
        hint = (
            "leave quota to Kueue: KAI's queues are rendered without limits, and only place what was admitted"
        )
        yield _note(origin, TWO_LAYERS, message, hint, "scheduler: both")


def not_counted_by_kai(platform: Platform, origin: Position, _needs: Sequence[Looked]) -> Iterator[Finding]:
    """Classes that KAI does not take for cards."""
    if platform.engine != _KUBERNETES or platform.scheduler not in {"kai", "both"}:
        return
    classes = [kind.device_class for kind in platform.cards.values() if _GPU not in kind.device_class.lower()]
    if classes:
        message = (
            f"KAI counts a claim when the name of its class has `gpu` in it, and {_few(classes)} does not"
        )
        hint = f"name it gpu-{classes[0]}"
        yield Finding(origin, KAI_UNCOUNTED, message, hint, Severity.WARNING, tuple(classes))


def incompatible_gates(_platform: Platform, _origin: Position, needs: Sequence[Looked]) -> Iterator[Finding]:
    """Ways to share a card that one installation of the driver cannot do together."""
    wanted = {
        gate.name: (gate, each)
        for each in needs
        if each.on_cluster
        for way in each.ways
        if way.scope is not Scope.ANNOTATION and way.word != "mig" and way.wants_gates(each.need)
        for gate in way.driver_gates
    }
    for name, (gate, each) in wanted.items():
        for other in gate.refuses:
            if other in wanted and name < other:
                rival = wanted[other][1]
                message = f"the driver does not do {name} and {other} at once, which `{rival.name}` needs"
                hint = "use one of the two ways, or keep nodes apart that are set up differently"
                evidence = (f"{each.name}: {name}", f"{rival.name}: {other}")
                place = each.file.position("gpu", "sharing")
                yield Finding(place, INCOMPATIBLE_GATES, message, hint, Severity.WARNING, evidence)


def page_over_grace(platform: Platform, origin: Position, _needs: Sequence[Looked]) -> Iterator[Finding]:
    """A time for pages that neither the grace period nor the minimum runtime covers."""
    defaults = platform.defaults
    if defaults.page_seconds > max(defaults.grace_seconds, defaults.minimum_runtime):
        message = (
            f"a page may take {defaults.page_seconds} s, longer than the {defaults.grace_seconds} s that a "
            "pod is "
            f"given to end and the {defaults.minimum_runtime} s that it is left alone: a reclaim can lose it "
            "again "
            "and again"
        )
        hint = f"write `minimum_runtime: {defaults.page_seconds}s`, or lower `page_seconds`"
        yield Finding(origin, PAGE_OVER_GRACE, message, hint, Severity.WARNING)


def _note(origin: Position, rule: str, message: str, hint: str, evidence: str) -> Finding:
    return Finding(origin, rule, message, hint, Severity.NOTE, (evidence,))


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3:,} more"


ALL_LINTS: Final[tuple[AllLint, ...]] = (
    driver_not_supported,
    two_quota_layers,
    not_counted_by_kai,
    incompatible_gates,
    page_over_grace,
)
