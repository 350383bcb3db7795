"""What Kueue's manager is configured with, as far as decisions depend on it (``config.kueue.x-k8s.io``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from allotment.scheduling.kueue.gates import Gate, gates_of


class FairRule(StrEnum):
    """When fair sharing lets a workload be evicted from another queue."""

    FINAL = "LessThanOrEqualToFinalShare"
    INITIAL = "LessThanInitialShare"


BOTH_RULES: Final = (FairRule.FINAL, FairRule.INITIAL)


@dataclass(frozen=True, slots=True)
class UsageFairness:
    """Admission fair sharing: how past use fades, how often it is looked at, what each resource weighs."""

    half_life: float = 0.0
    interval: float = 300.0
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def fading(self, elapsed: float) -> float:
        """How much of the new value counts after this time."""
        return 0.0 if not self.half_life else 1.0 - float(0.5 ** (elapsed / self.half_life))


@dataclass(frozen=True, slots=True)
class Settings:
    """The manager's settings. ``fair`` is None where fair sharing is off."""

    gates: frozenset[Gate] = field(default_factory=gates_of)
    fair: tuple[FairRule, ...] | None = None
    usage_fairness: UsageFairness | None = None
    ignore_undeclared: bool = False
    block_admission: bool = False
    requeue_by_eviction: bool = True

    def on(self, gate: Gate) -> bool:
        """Whether a gate is on."""
        return gate in self.gates

    @property
    def fading(self) -> UsageFairness | None:
        """The settings of admission fair sharing, where it works."""
        return self.usage_fairness if Gate.ADMISSION_FAIR_SHARING in self.gates else None
