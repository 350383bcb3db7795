"""What may not change any more, held against what is live: volumes that are out, recipes that are used.

A campaign's volumes are append-only once their ConfigMap is there, and a pipeline keeps its image, `prepare`
and steps once a Job of it was there: results of two recipes would be told apart by nothing but luck. What
was there is learnt from the live objects and not from git, since it is they who ran.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from allotment.kubernetes.apply.groups import labels, notes_on
from allotment.kubernetes.apply.memory import CAMPAIGN, JOB_RECIPE, PART, RECIPE
from allotment.kubernetes.apply.outcome import Refusal
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.documents import VOLUMES_FILE
from allotment.kubernetes.render.names import PREFIX
from allotment.repository.model import Campaign, Pipeline
from allotment.repository.recipe import recipe_of
from allotment.repository.sources import source_data

PIPELINE: Final = f"{PREFIX}pipeline"
ONLY_GROWS: Final = "volumes that are out stay as they were, and only new ones may follow them"
_OR_ALL_ANEW: Final = "To be rid of it, give the campaign's file another name and `allot apply --prune`"
_LONGEST: Final = 120
Pack = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class OutPart:
    """A part of a campaign that is out: its number, and the volumes of each of its indexes."""

    number: int
    packs: tuple[Pack, ...]

    @property
    def volumes(self) -> int:
        """How many volumes it has."""
        return sum(map(len, self.packs))


def parts_out(maps: Sequence[Object]) -> Mapping[str, tuple[OutPart, ...]]:
    """The parts of each campaign by the live ConfigMaps of their volumes, in order."""
    found: dict[str, list[OutPart]] = {}
    for each in maps:
        own, text = labels(each), (each.get("data") or {}).get(VOLUMES_FILE)
        if CAMPAIGN in own and own.get(PART, "").isdecimal() and text is not None:
            packs = tuple(json.loads(text)["indexes"])
            found.setdefault(own[CAMPAIGN], []).append(OutPart(int(own[PART]), packs))
    return {name: tuple(sorted(parts, key=lambda part: part.number)) for name, parts in found.items()}


def volume_faults(campaign: Campaign, out: Sequence[OutPart]) -> Iterator[Refusal]:
    """What of the volumes that are out is not as it was."""
    if [part.number for part in out] != list(range(1, len(out) + 1)):
        numbers = ", ".join(str(part.number) for part in out)
        yield Refusal(
            f"of its volumes' ConfigMaps only those of the parts {numbers} are there",
            "somebody deleted the others; delete the campaign's objects, or give it another name",
        )
        return
    was = [volume for part in out for pack in part.packs for volume in pack]
    now = [(volume.id, source_data(volume.source)) for volume in campaign.volumes]
    yield from _first_difference(was, now)
    packs = {len(pack) for part in out for pack in part.packs[:-1]}
    if packs - {campaign.pack} or any(len(part.packs[-1]) > campaign.pack for part in out if part.packs):
        before = max((len(pack) for part in out for pack in part.packs), default=1)
        yield Refusal(
            f"`pack` was {before} and is {campaign.pack}: an index would get other volumes",
            f"set it back to {before}, or put what is left into a campaign of its own",
        )


def _first_difference(
    was: Sequence[Mapping[str, Any]], now: Sequence[tuple[str, Mapping[str, Any]]]
) -> Iterator[Refusal]:
    ids = {name for name, _ in now}
    for place, volume in enumerate(was):
        if volume["id"] not in ids:
            text = f"volume {volume['id']} was removed, and it is out on the cluster"
            yield Refusal(text, f"{_put_back(volume, place)}; {ONLY_GROWS}. {_OR_ALL_ANEW}")
            return
        if place < len(now) and now[place][0] != volume["id"]:
            text = f"the {_th(place + 1)} volume was {volume['id']} and is {now[place][0]}"
            yield Refusal(f"{text}: volumes that are out keep their places", "add new ones at the end")
            return
        if dict(now[place][1]) != dict(volume["source"]):
            text = f"volume {volume['id']} has another source than it had: {ONLY_GROWS}"
            right = (
                f"add the right one at the end under an id of its own, such as {_new_id(volume['id'], ids)}"
            )
            yield Refusal(text, f"{_put_back(volume, place)}, and {right}")
            return


def _put_back(volume: Mapping[str, Any], place: int) -> str:
    """How a volume that is out is written again, as it was."""
    kind, value = next(iter(dict(volume["source"]).items()), ("", ""))
    source = f" with `{kind}: {value}`" if isinstance(value, str) and len(value) <= _LONGEST else ""
    return f"put {volume['id']} back as the {_th(place + 1)} of the list{source}"


def _new_id(name: str, taken: Collection[str]) -> str:
    """The first of ``name-2``, ``name-3``, … that no volume has."""
    return next(each for number in count(2) if (each := f"{name}-{number}") not in taken)


def recipe_faults(pipeline: Pipeline, jobs: Sequence[Object], maps: Sequence[Object]) -> Iterator[Refusal]:
    """That a pipeline is not the one of which Jobs were made: by live Jobs, and by what is remembered."""
    now = recipe_of(pipeline)
    told = [(each, notes_on(each).get(JOB_RECIPE)) for each in maps]
    told += [(each, labels(each).get(RECIPE)) for each in jobs]
    was = {
        (recipe, labels(each).get(CAMPAIGN, "?"))
        for each, recipe in told
        if labels(each).get(PIPELINE) == pipeline.id and recipe not in {None, now}
    }
    for recipe, campaign in sorted(was)[:1]:
        yield Refusal(
            f"pipeline {pipeline.id} is used: campaign {campaign} ran recipe {recipe}, and the file now says "
            f"{now} (image, `prepare` and steps make a recipe)",
            f"undo the change, and write the new recipe as another pipeline, such as {pipeline.id}-2",
        )


def pipeline_faults(campaign: Campaign, maps: Sequence[Object]) -> Iterator[Refusal]:
    """That a campaign names another pipeline than it ran."""
    for each in maps:
        own = labels(each)
        was = own.get(PIPELINE)
        if own.get(CAMPAIGN) == campaign.name and PART in own and was not in {None, campaign.pipeline}:
            yield Refusal(
                f"its pipeline was {was} and is {campaign.pipeline}",
                f"set it back, or write a campaign of its own for {campaign.pipeline}",
            )
            return


def content_faults(wanted: Object, live: Object) -> Iterator[Refusal]:
    """That an immutable ConfigMap holds something else."""
    if live.get("immutable") and wanted.get("data") != live.get("data"):
        name = live["metadata"]["name"]
        yield Refusal(
            f"ConfigMap {name} never changes, and what it holds is not what these files say",
            "was it made from other files, or by another version of allot? Give the campaign another name",
        )


def _th(number: int) -> str:
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
