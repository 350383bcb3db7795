"""What a scheduler is configured with: a ``SchedulingShard`` and its flags, as far as they decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Action(StrEnum):
    """What a cycle consists of."""

    ALLOCATE = "allocate"
    CONSOLIDATION = "consolidation"
    RECLAIM = "reclaim"
    PREEMPT = "preempt"
    STALE = "stalegangeviction"


class Spreading(StrEnum):
    """How pods are laid on nodes and GPUs."""

    PACK = "binpack"
    SPREAD = "spread"


class Resolve(StrEnum):
    """From where on the minimum runtime is looked for when something is reclaimed."""

    LCA = "lca"
    QUEUE = "queue"


ALL_ACTIONS: Final = tuple(Action)


@dataclass(frozen=True, slots=True)
class Plugins:
    """Which of the plugins are on that there is a reason to switch off."""

    fairness: bool = True
    order: bool = True
    predicates: bool = True
    minimum_runtime: bool = True
    topology: bool = True
    availability: bool = True
    sharing_order: bool = True
    resource_type: bool = True
    solving: bool = True
    gpus: Spreading | None = Spreading.PACK
    placement: bool = True


@dataclass(frozen=True, slots=True)
class Settings:
    """A shard's settings; ``relocations`` is how many jobs consolidation looks at (None: all)."""

    actions: tuple[Action, ...] = ALL_ACTIONS
    plugins: Plugins = Plugins()
    gpu_placement: Spreading = Spreading.PACK
    cpu_placement: Spreading = Spreading.PACK
    k: float = 1.0
    saturation: float = 1.0
    reclaim_min_runtime: float = 0.0
    preempt_min_runtime: float = 0.0
    resolve: Resolve = Resolve.LCA
    relocations: int | None = 16
    signatures: bool = True
    consolidating_reclaim: bool = True
    grace: float = 60.0
    depth: Mapping[Action, int] = field(default_factory=dict, hash=False)
    shard: str = "default"


def placement(gpu: Spreading, cpu: Spreading = Spreading.PACK) -> Settings:
    """A shard with this placement; where anything is spread, nothing is consolidated."""
    spreads = Spreading.SPREAD in {gpu, cpu}
    actions = tuple(action for action in Action if not (spreads and action is Action.CONSOLIDATION))
    pack = gpu is Spreading.PACK
    return Settings(
        actions=actions,
        plugins=Plugins(gpus=gpu, sharing_order=pack),
        gpu_placement=gpu,
        cpu_placement=cpu,
    )
