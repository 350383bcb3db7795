"""What a repository is on the cluster, given what is live there: rendered, marked, group by group.

Which parts of a campaign are out, and which campaigns have a Job, is learnt from the live objects. Campaigns
with frozen things that changed are left out, with their reasons; the others are rendered as if those were not
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.kubernetes.apply.frozen import (
    OutPart,
    parts_out,
    pipeline_faults,
    recipe_faults,
    volume_faults,
)
from allotment.kubernetes.apply.groups import group_of, labels, marked
from allotment.kubernetes.apply.memory import CAMPAIGN, ending_of, is_prepare
from allotment.kubernetes.apply.outcome import Refusal
from allotment.kubernetes.apply.settling import WINDOW_NOTE
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.kinds import CONFIG_MAP, JOB, Object
from allotment.kubernetes.render import Note
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.repository_objects import repository_objects
from allotment.repository.model import Campaign, Repository


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rendered objects by group, in order; notes of rendering; what is refused for what is frozen."""

    groups: Mapping[str, tuple[Object, ...]]
    notes: tuple[Note, ...] = ()
    refusals: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)


def wanted_of(context: Context, repository: Repository, live: Snapshot, mark: str | None) -> Wanted:
    """The repository's objects; AllotmentError for what cannot be had."""
    own = [each for each in live.of(JOB, context.namespace) if not is_prepare(each)]
    maps = live.of(CONFIG_MAP, context.namespace)
    out = parts_out(maps)
    refusals = _frozen(repository, own, maps, out)
    kept = {name: each for name, each in repository.campaigns.items() if f"campaigns/{name}" not in refusals}
    used = {name: [part.volumes for part in parts] for name, parts in out.items() if name in kept}
    there = {labels(each)[CAMPAIGN] for each in own if CAMPAIGN in labels(each) and ending_of(each) is None}
    chosen = replace(repository, campaigns=kept)
    rendered = repository_objects(context, chosen, used, there)
    groups: dict[str, list[Object]] = {}
    for each in rendered.objects:
        value = marked(each, mark)
        groups.setdefault(group_of(value), []).append(_with_window(value, kept))
    refused_pipelines = {name for name in refusals if name.startswith("pipelines/")}
    found = {name: tuple(each) for name, each in groups.items() if name not in refused_pipelines}
    return Wanted(found, rendered.notes, refusals)


def _frozen(
    repository: Repository,
    jobs: Sequence[Object],
    maps: Sequence[Object],
    out: Mapping[str, Sequence[OutPart]],
) -> Mapping[str, tuple[Refusal, ...]]:
    found: dict[str, tuple[Refusal, ...]] = {}
    of_pipelines = {
        name: tuple(recipe_faults(pipeline, jobs, maps)) for name, pipeline in repository.pipelines.items()
    }
    for name, campaign in repository.campaigns.items():
        told = [*pipeline_faults(campaign, maps), *of_pipelines.get(campaign.pipeline, ())]
        told += volume_faults(campaign, out.get(name, ()))
        if told:
            found[f"campaigns/{name}"] = tuple(told)
    found |= {f"pipelines/{name}": told for name, told in of_pipelines.items() if told}
    return found


def _with_window(value: Object, campaigns: Mapping[str, Campaign]) -> Object:
    """A campaign's Job says its window, which whoever moves it reads."""
    campaign = campaigns.get(labels(value).get(CAMPAIGN, ""))
    if value["kind"] != "Job" or campaign is None or is_prepare(value):
        return value
    metadata: Mapping[str, Any] = value["metadata"]
    said = {
        **(metadata.get("annotations") or {}),
        WINDOW_NOTE: f"{campaign.window.min}..{campaign.window.max}",
    }
    return {**value, "metadata": {**metadata, "annotations": said}}
