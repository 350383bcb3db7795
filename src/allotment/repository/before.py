"""What was used before, and what a change may not do to it: pure comparison of values.

A used campaign's volumes are append-only: what is appended becomes a further part, and nothing else may
differ, for running Jobs work through the list by index. A used pipeline's image, ``prepare`` and steps are
frozen, for its results lie under one recipe; its need is not, for a page is the same on any card.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.documents.checking import shown
from allotment.documents.positions import Loc
from allotment.errors import Finding, Position, Severity
from allotment.repository.model import (
    Campaign,
    FolderSource,
    ImagesSource,
    ManifestSource,
    Pipeline,
    PrefixSource,
    ReferenceSource,
    Repository,
    Source,
    StepCall,
    Volume,
)

MOST_TOLD: Final = 20
ADD_AT_THE_END: Final = "keep what was there as it was, and add new volumes at the end"


@dataclass(frozen=True, slots=True)
class CampaignBefore:
    """A campaign as it was used. ``origin`` says where that is written."""

    pipeline: str
    volumes: tuple[Volume, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class RecipeBefore:
    """What of a pipeline makes its results, as it was used."""

    image: str | None
    prepare: StepCall | None
    steps: tuple[StepCall, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Before:
    """Campaigns as they were, and the recipes of pipelines, by name; files that could not be read."""

    campaigns: Mapping[str, CampaignBefore] = field(default_factory=dict)
    recipes: Mapping[str, RecipeBefore] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def users(self, pipeline: str) -> list[str]:
        """The campaigns that used a pipeline."""
        return [name for name, campaign in self.campaigns.items() if campaign.pipeline == pipeline]


def change_findings(before: Before, now: Repository) -> Iterator[Finding]:
    """What of the repository may not be as it is, because of what was, and notes on what is new."""
    for name, campaign in now.campaigns.items():
        if (was := before.campaigns.get(name)) is not None:
            yield from _campaign_findings(was, campaign)
    for name, pipeline in now.pipelines.items():
        recipe, users = before.recipes.get(name), before.users(name)
        if recipe is not None and users:
            yield from _recipe_findings(recipe, pipeline, users)


def removal_findings(
    before: Before, now: Repository, there: Collection[str], path_of: Callable[[str], str]
) -> Iterator[Finding]:
    """Campaigns whose files are gone or renamed; ``there`` are the names of all files of campaigns."""
    new = {name: campaign for name, campaign in now.campaigns.items() if name not in before.campaigns}
    for name, was in before.campaigns.items():
        if name in there:
            continue
        heir = next((each for each in new.values() if _goes_on(was, each)), None)
        if heir is not None:
            yield Finding(
                Position(str(heir.path)),
                "campaign-renamed",
                f"this is `{name}` of {was.origin} under another name, and starts as a new campaign",
                "volumes that are done are not done again; to go on where it was, keep the old name",
                Severity.WARNING,
            )
        else:
            yield Finding(
                Position(path_of(name)),
                "campaign-removed",
                f"the campaign of {was.origin} is gone: what runs of it is ended, and its results stay",
                "to hold it for a while, say `suspend: true` instead",
                Severity.WARNING,
            )


def _goes_on(was: CampaignBefore, campaign: Campaign) -> bool:
    return was.pipeline == campaign.pipeline and _places(was.volumes) == _places(
        campaign.volumes[: len(was.volumes)]
    )


def _campaign_findings(was: CampaignBefore, campaign: Campaign) -> Iterator[Finding]:
    if was.pipeline != campaign.pipeline:
        yield Finding(
            campaign.position("pipeline"),
            "campaign-pipeline-changed",
            f"this campaign runs `{was.pipeline}` in {was.origin}, and a used campaign keeps its pipeline",
            f"put it back, and write a new campaign for `{shown(campaign.pipeline)}`",
        )
    before, now = was.volumes, campaign.volumes
    if now[: len(before)] != before and _places(before) != _places(now[: len(before)]):
        yield from _told(_volume_faults(before, now, was.origin), campaign)
    elif len(now) > len(before):
        count = len(now) - len(before)
        volumes = "one volume is new and becomes" if count == 1 else f"{count:,} volumes are new and become"
        message = (
            f"{volumes} a further part of the campaign; the {len(before):,} of {was.origin} stay as they are"
        )
        yield Finding(
            campaign.position("volumes", len(before)), "volumes-appended", message, severity=Severity.NOTE
        )


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault of a campaign's list, at a place in it."""

    rule: str
    index: int
    message: str
    hint: str = ADD_AT_THE_END


def _told(faults: Iterator[_Fault], campaign: Campaign) -> Iterator[Finding]:
    """The first faults of each kind as findings; of very many more only how many they are."""
    by_rule: dict[str, list[_Fault]] = {}
    for fault in faults:
        by_rule.setdefault(fault.rule, []).append(fault)
    last = len(campaign.volumes) - 1
    for rule, all_of_it in by_rule.items():
        for number, fault in enumerate(all_of_it[:MOST_TOLD], 1):
            more = len(all_of_it) - MOST_TOLD if number == MOST_TOLD else 0
            message = f"{fault.message} (and {more:,} more like it)" if more > 0 else fault.message
            yield Finding(campaign.position("volumes", min(fault.index, last)), rule, message, fault.hint)


def _volume_faults(before: Sequence[Volume], now: Sequence[Volume], origin: str) -> Iterator[_Fault]:
    """Every volume that is gone, has other pages, was moved, or came in between."""
    index_now = {volume.id: index for index, volume in enumerate(now)}
    kept = [volume for volume in before if volume.id in index_now]
    for index, volume in enumerate(before):
        if volume.id not in index_now:
            message = f"`{shown(volume.id)}` is a volume of this campaign in {origin}, and is gone"
            hint = "put it back: a used campaign's volumes only grow"
            yield _Fault("volume-removed", index, message, hint)
    for volume in kept:
        index = index_now[volume.id]
        if _place(volume.source) != _place(now[index].source):
            was, is_now = _words(volume.source), _words(now[index].source)
            message = f"`{shown(volume.id)}` has its pages from {was} in {origin}, and now from {is_now}"
            hint = "put it back, or add the new pages at the end under an id of their own"
            yield _Fault("volume-changed", index, message, hint)
    behind = -1
    for volume in kept:
        index = index_now[volume.id]
        if index < behind:
            message = f"`{shown(volume.id)}` stands before volumes that it follows in {origin}"
            yield _Fault("volume-moved", index, message)
        behind = max(behind, index)
    ids = {volume.id for volume in before}
    for index in range(behind):
        if now[index].id not in ids:
            message = f"`{shown(now[index].id)}` is new, and stands before volumes of {origin}"
            yield _Fault("volume-inserted", index, message)


def _recipe_findings(was: RecipeBefore, pipeline: Pipeline, users: Sequence[str]) -> Iterator[Finding]:
    others = f" and {len(users) - 1} more" if len(users) > 1 else ""
    used = f"campaign `{users[0]}`{others} used it that way in {was.origin}"
    hint = f"put it back, and write the change as a pipeline of its own, such as {pipeline.id}-v2.yaml"
    parts = (
        (("image",), was.image, pipeline.image),
        (("prepare",), _written(was.prepare), _written(pipeline.prepare)),
        (("steps",), list(map(_written, was.steps)), list(map(_written, pipeline.steps))),
    )
    for loc, old, new in parts:
        found = _first_difference(old, new, loc)
        if found is not None:
            at, value = found
            name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)[1:]
            message = f"`{shown(name)}` was {_shown_value(value)}, and {used}"
            yield Finding(pipeline.position(*at), "recipe-changed", message, hint)


MISSING: Final = object()


def _written(call: StepCall | None) -> Any:
    return None if call is None else {"step": call.step, "settings": dict(call.settings)}


def _first_difference(old: Any, new: Any, loc: Loc) -> tuple[Loc, Any] | None:
    """Where two values differ, as deep as possible, and what the old one has there."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(key, old.get(key, MISSING), new.get(key, MISSING)) for key in {**new, **old}]
    elif isinstance(old, list) and isinstance(new, list):
        longest = range(max(len(old), len(new)))
        pairs = [
            (i, old[i] if i < len(old) else MISSING, new[i] if i < len(new) else MISSING) for i in longest
        ]
    else:
        same = old is new or (type(old) is type(new) and old == new)
        return None if same else (loc, old)
    found = (_first_difference(was, is_now, (*loc, key)) for key, was, is_now in pairs)
    return next((each for each in found if each is not None), None)


def _shown_value(value: Any) -> str:
    if value is MISSING or value is None:
        return "not there"
    if isinstance(value, dict) and "step" in value:
        return f"the step `{shown(str(value['step']))}`"
    if isinstance(value, dict | list):
        return "something else"
    return f"`{shown(str(value))}`" if isinstance(value, str) else str(value).lower()


def _place(source: Source) -> object:
    """Where pages come from, the same for each way of writing it."""
    if isinstance(source, FolderSource):
        return source.folder.removesuffix("/")
    if isinstance(source, ReferenceSource):
        return ManifestSource(source.address) if "://" in source.template else source.address
    return source


def _places(volumes: Sequence[Volume]) -> list[tuple[str, object]]:
    return [(volume.id, _place(volume.source)) for volume in volumes]


def _words(source: Source) -> str:
    """Where pages come from, in words."""
    if isinstance(source, ImagesSource):
        return f"{len(source.images)} addresses, the first `{shown(source.images[0])}`"
    place = _place(source)
    if isinstance(place, ManifestSource | PrefixSource):
        place = place.manifest if isinstance(place, ManifestSource) else place.prefix
    return f"`{shown(str(place))}`"
