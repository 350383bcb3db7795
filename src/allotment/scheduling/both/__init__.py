"""Kueue and KAI together as a pure function: Kueue admits, and KAI places what it admitted.

Quota is enforced by one of them only. KAI's queues are without bounds and what it places is taken from by
nobody, so that a workload is evicted by Kueue alone, and whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from allotment.scheduling import kai, kueue
from allotment.scheduling.both.placing import admitted_pods, placed_only, unlimited
from allotment.scheduling.state.pod_groups import PodGroup
from allotment.scheduling.state.state import State

__all__ = ["Decision", "Memory", "Ties", "admitted_pods", "decide", "placed_only", "unlimited"]

Decision = kueue.Decision | kai.Decision


@dataclass(frozen=True, slots=True)
class Memory:
    """What both remember."""

    kueue: kueue.Memory = field(default_factory=kueue.Memory)
    kai: kai.Memory = field(default_factory=kai.Memory)


@dataclass(frozen=True, slots=True)
class Ties:
    """The tie rule of KAI; that of Kueue is its own."""

    kai: kai.Ties = kai.Ties.FIRST_USED


def decide(
    state: State, memory: Memory, now: float, ties: Ties | None = None
) -> tuple[tuple[Decision, ...], Memory]:
    """A cycle of Kueue, and a round of KAI over what is admitted after it."""
    rule = ties or Ties()
    admitting, kueue_memory = kueue.decide(state, memory.kueue, now)
    after = kueue.applied(state, admitting, now)
    pods = admitted_pods(after.workloads.values())
    seen = replace(
        after,
        share_queues=unlimited(after.share_queues),
        pod_groups=after.pod_groups.put(_changed(after.pod_groups, pods)),
    )
    placing, kai_memory = kai.decide(seen, memory.kai, now, rule.kai)
    return (*admitting, *placing), Memory(kueue_memory, kai_memory)


def _changed(groups: Mapping[str, PodGroup], pods: Mapping[str, int]) -> dict[str, PodGroup | None]:
    pairs: Iterable[tuple[PodGroup, PodGroup, str]] = (
        (group, placed_only(group, pods.get(key, 0)), key) for key, group in groups.items()
    )
    return {key: new for old, new, key in pairs if new is not old}
