"""Files as an earlier commit had them, into what of them was used.

They are read under today's platform and more leniently than today's files: what of a file could be read then
counts, whatever else is wrong with it by now. A file whose volumes or steps cannot be read is named, for then
nobody can say what changed in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from allotment.documents import scan_text
from allotment.documents.checking import Check, RefusedError
from allotment.documents.shapes import Record
from allotment.platform.model import Platform
from allotment.repository.before import Before, CampaignBefore, RecipeBefore
from allotment.repository.campaign_file import campaign_record
from allotment.repository.files import CAMPAIGNS, PIPELINES, SUFFIX
from allotment.repository.git import Earlier
from allotment.repository.model import Campaign, Pipeline, Repository
from allotment.repository.names import campaign_fault, pipeline_fault
from allotment.repository.pipeline_file import PIPELINE

FOLDERS: Final = (CAMPAIGNS, PIPELINES)


def before_of(earlier: Earlier, now: Repository, platform: Platform) -> Before:
    """The campaigns and recipes of an earlier commit; what did not change is taken as it is."""
    campaigns = {
        stem: campaign_before(now.campaigns[stem], earlier.name)
        for stem in _stems(earlier.unchanged, CAMPAIGNS)
        if stem in now.campaigns
    }
    recipes = {
        stem: recipe_before(now.pipelines[stem], earlier.name)
        for stem in _stems(earlier.unchanged, PIPELINES)
        if stem in now.pipelines
    }
    unread: list[str] = []
    for path, data in earlier.changed.items():
        kind, _, file = path.partition("/")
        stem = file.removesuffix(SUFFIX)
        if kind == CAMPAIGNS and campaign_fault(stem) is None:
            campaign = _campaign_in(data, path, platform, now.root, earlier.name)
            campaigns.update({stem: campaign} if campaign is not None else {})
            unread += [path] if campaign is None else []
        elif kind == PIPELINES and pipeline_fault(stem) is None:
            recipe = _recipe_in(data, path, earlier.name)
            recipes.update({stem: recipe} if recipe is not None else {})
            unread += [path] if recipe is None else []
    return Before(campaigns, recipes, tuple(unread))


def campaign_before(campaign: Campaign, origin: str) -> CampaignBefore:
    """What of a campaign may not change once it is used."""
    return CampaignBefore(campaign.pipeline, campaign.volumes, origin)


def recipe_before(pipeline: Pipeline, origin: str) -> RecipeBefore:
    """What of a pipeline may not change once it is used."""
    return RecipeBefore(pipeline.image, pipeline.prepare, pipeline.steps, origin)


def _stems(paths: frozenset[str], kind: str) -> Iterator[str]:
    for path in map(PurePosixPath, paths):
        if path.parent.name == kind and path.suffix == SUFFIX:
            yield path.stem


def _campaign_in(
    data: bytes, name: str, platform: Platform, root: Path, origin: str
) -> CampaignBefore | None:
    values, written = _values(data, name, campaign_record(platform, root))
    if not {"pipeline", "volumes"} <= values.keys() or not {"pipeline", "volumes"} <= written.keys():
        return None
    return CampaignBefore(values["pipeline"], values["volumes"], origin)


def _recipe_in(data: bytes, name: str, origin: str) -> RecipeBefore | None:
    values, written = _values(data, name, PIPELINE)
    unread = [
        key for key in ("image", "prepare", "steps") if written.get(key) is not None and key not in values
    ]
    if unread or "steps" not in values:
        return None
    return RecipeBefore(values.get("image"), values.get("prepare"), values["steps"], origin)


def _values(data: bytes, name: str, record: Record[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of a file's keys can be read, and what is written; both empty for what is no such file."""
    document, _ = scan_text(data.decode("utf-8", "replace"), name=name)
    if document is None:
        return {}, {}
    check = Check(document)
    try:
        values, _ = record.read_keys(document.value, check.root)
    except RefusedError:
        return {}, {}
    return values, document.value
