"""The plan of an apply: what becomes of each group, of what is left over, and what there is to say."""

from __future__ import annotations

from dataclasses import replace

from allotment.kubernetes.apply.admissible import quota_notes
from allotment.kubernetes.apply.grouping import Group
from allotment.kubernetes.apply.groups import (
    address,
    by_address,
)
from allotment.kubernetes.apply.pruning import prune_plans
from allotment.kubernetes.apply.scene import Scene, Wish
from allotment.kubernetes.apply.steps import GroupPlan, Plan, is_idle
from allotment.kubernetes.apply.wanted import wanted_of
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.render.context import Context


def plan_of(context: Context, wish: Wish, live: Snapshot) -> Plan:
    """What is to be done; AllotmentError for what cannot be rendered at all."""
    wanted = wanted_of(context, wish.repository, live, wish.mark)
    here = by_address(each for each in live.objects if each["metadata"].get("namespace") == context.namespace)
    makers: dict[tuple[str, str], list[str]] = {}
    for name, objects in wanted.groups.items():
        for each in objects:
            makers.setdefault(address(each), []).append(name)
    scene = Scene(context, wish, live, wanted, here, makers)
    groups = {name: Group(scene, name).plan() for name in wanted.groups}
    for name, refusals in wanted.refusals.items():
        groups[name] = GroupPlan(name, refusals=refusals)
    for name, campaign in wish.repository.campaigns.items():
        held = GroupPlan(
            f"campaigns/{name}", said=("paused: nothing of it is out",) if campaign.suspend else ()
        )
        groups.setdefault(f"campaigns/{name}", held)
    needed = {name for each in groups.values() if not each.refusals for name in each.pipelines}
    groups = {
        name: replace(each, steps=()) if is_idle(each, needed) else each for name, each in groups.items()
    }
    said = [f"{each}" for each in wanted.notes]
    said += dict.fromkeys(quota_notes(context, live))
    ordered = sorted(groups.values(), key=lambda each: (not each.group.startswith("pipelines/"), each.group))
    pruned = prune_plans(context, wish.repository, live, ordered, mark=wish.mark, prune=wish.prune)
    return Plan((*ordered, *(pruned if wish.is_whole else ())), tuple(said))
