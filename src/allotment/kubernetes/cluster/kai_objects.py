"""KAI's own objects as its model's values: Queue, PodGroup, and the settings of a shard.

A number that a Queue leaves out is nothing, no default. What the scheduler writes about a group it writes
into annotations. Facts: KAI 0.17, ``scheduling.run.ai/v2`` Queue, ``scheduling.run.ai/v2alpha2`` PodGroup,
``kai.scheduler/v1`` SchedulingShard with its flags under ``args``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from allotment.scheduling.kai import Action, Settings, Spreading, placement
from allotment.scheduling.kai.grouping import PRIORITIES
from allotment.scheduling.state.pod_groups import DEFAULT, PodGroup, SubGroup, Together
from allotment.scheduling.state.read_workloads import seconds
from allotment.scheduling.state.share_queues import Allotted, ShareQueue

Raw = Mapping[str, Any]
STARTED: Final = "kai.scheduler/last-start-timestamp"
EVICTED: Final = "kai.scheduler/last-eviction-timestamp"
STALE: Final = "kai.scheduler/stale-podgroup-timestamp"
SHARD: Final = "default"
_FIRM: Final = 100
"""From this priority on a group may not be preempted, where it does not say so itself."""
_SATURATION: Final = "relcaimerSaturationMultiplier"  # spelt so in KAI
_FALSE: Final = frozenset({"false", "0", "f"})
_PRIORITY: Final = 100
"""Of a queue that says none."""
_DURATION: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_UNITS: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0
}  # fmt: skip


def read_queue(raw: Raw) -> ShareQueue:
    """A Queue."""
    meta, spec = raw["metadata"], raw.get("spec") or {}
    told = spec.get("resources") or {}
    return ShareQueue(
        name=meta["name"],
        parent=spec.get("parentQueue") or None,
        priority=_PRIORITY if spec.get("priority") is None else int(spec["priority"]),
        created=when(meta.get("creationTimestamp")) or 0.0,
        cpu=_allotted(told.get("cpu")),
        memory=_allotted(told.get("memory")),
        gpu=_allotted(told.get("gpu")),
        reclaim_min_runtime=duration(spec.get("reclaimMinRuntime")),
        preempt_min_runtime=duration(spec.get("preemptMinRuntime")),
    )


def _allotted(raw: Raw | None) -> Allotted:
    told = raw or {}
    return Allotted(*(float(told.get(key) or 0) for key in ("quota", "limit", "overQuotaWeight")))


def read_group(raw: Raw, priorities: Mapping[str, int]) -> PodGroup:
    """A PodGroup without its pods; ``priorities`` are the values of priority classes."""
    meta, spec = raw["metadata"], raw.get("spec") or {}
    notes = meta.get("annotations") or {}
    named = str(spec.get("priorityClassName") or "")
    priority = priorities.get(named, PRIORITIES.get(named, PRIORITIES["train"]))
    stated = spec.get("preemptibility")
    return PodGroup(
        name=meta["name"],
        namespace=meta.get("namespace") or "",
        queue=str(spec.get("queue") or ""),
        tree=tree_of(spec),
        priority=priority,
        preemptible=stated == "preemptible" if stated else priority < _FIRM,
        created=when(meta.get("creationTimestamp")) or 0.0,
        started=when(notes.get(STARTED)),
        evicted=when(notes.get(EVICTED)),
        stale_since=when(notes.get(STALE)),
        delay=duration(spec.get("preemptionDelay")),
        grace=duration(spec.get("stalenessGracePeriod")),
    )


def tree_of(spec: Raw) -> SubGroup:
    """The tree of a group's sub-groups; one without any has one leaf."""
    together = _together(spec.get("topologyConstraint"))
    parts: dict[str, Raw] = {str(each["name"]): each for each in spec.get("subGroups") or ()}
    if not parts:
        least = spec.get("minMember")
        leaf = SubGroup(DEFAULT, 1 if least is None else int(least), leaf=True)
        return SubGroup(children=(leaf,), together=together)
    below: dict[str | None, list[str]] = {}
    for name, each in parts.items():
        below.setdefault(each.get("parent") or None, []).append(name)
    children = tuple(_part(name, parts, below, frozenset()) for name in below.get(None, ()))
    least = spec.get("minSubGroup")
    return SubGroup("", None if least is None else int(least), children, together=together)


def _part(
    name: str, parts: Mapping[str, Raw], below: Mapping[str | None, list[str]], above: frozenset[str]
) -> SubGroup:
    if name in above:
        raise ValueError(f"sub-group {name} is its own parent")
    raw = parts[name]
    together = _together(raw.get("topologyConstraint"))
    if name not in below:
        return SubGroup(name, int(raw.get("minMember") or 0), leaf=True, together=together)
    least = raw.get("minSubGroup")
    children = tuple(_part(each, parts, below, above | {name}) for each in below[name])
    return SubGroup(name, None if least is None else int(least), children, together=together)


def _together(raw: Raw | None) -> Together | None:
    if not raw or not raw.get("topology"):
        return None
    return Together(
        str(raw["topology"]),
        raw.get("requiredTopologyLevel") or None,
        raw.get("preferredTopologyLevel") or None,
    )


def settings_of(shard: Raw | None) -> Settings:
    """What a shard's scheduler runs with; None: as KAI is installed."""
    spec = (shard or {}).get("spec") or {}
    placed = spec.get("placementStrategy") or {}
    base = placement(Spreading(placed.get("gpu") or "binpack"), Spreading(placed.get("cpu") or "binpack"))
    args, least = spec.get("args") or {}, spec.get("minRuntime") or {}
    fairness = ((spec.get("plugins") or {}).get("proportion") or {}).get("arguments") or {}
    depth = {Action(name): int(most) for name, most in (spec.get("queueDepthPerAction") or {}).items()}
    relocations = args.get("max-consolidation-preemptees")
    return replace(
        base,
        k=float(spec.get("kValue") or base.k),
        saturation=max(1.0, float(fairness.get(_SATURATION) or base.saturation)),
        reclaim_min_runtime=duration(least.get("reclaimMinRuntime")) or 0.0,
        preempt_min_runtime=duration(least.get("preemptMinRuntime")) or 0.0,
        relocations=base.relocations if relocations is None else int(relocations),
        signatures=_is_on(args.get("use-scheduling-signatures"), default=base.signatures),
        consolidating_reclaim=_is_on(
            args.get("allow-consolidating-reclaim"), default=base.consolidating_reclaim
        ),
        grace=duration(args.get("default-staleness-grace-period"), base.grace) or 0.0,
        depth=depth,
    )


def _is_on(text: object, *, default: bool) -> bool:
    return default if text is None else str(text).lower() not in _FALSE


def when(text: str | None) -> float | None:
    """A time of the API in seconds; None where it is not said."""
    return seconds(text) if text else None


def duration(text: object, default: float | None = None) -> float | None:
    """A duration as Go writes it (``10m0s``); a negative one is for ever."""
    if text is None or text == "":
        return default
    said = str(text).removeprefix("+")
    if said.startswith("-"):
        return -1.0
    parts = _DURATION.findall(said)
    if said != "0" and (not parts or "".join(map("".join, parts)) != said):
        raise ValueError(f"`{said}` is no duration")
    return float(sum(float(number) * _UNITS[unit] for number, unit in parts))
