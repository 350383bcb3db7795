"""What a scene has to look up: what the bucket holds of the recipes, and how many files folders have.

The only part of a scene that reads anything. What cannot be read is not known, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from allotment.buckets.bucket import Bucket
from allotment.buckets.event_log import read_events
from allotment.buckets.keys import RecipeKeys, parse_record
from allotment.errors import AllotmentError
from allotment.planning.figures import Figures, read_figures
from allotment.planning.scenes.pages import where_of
from allotment.planning.scenes.values import Known
from allotment.platform.model import Team
from allotment.repository.measured import MeasuredFile, scan_measured
from allotment.repository.model import Campaign, FolderSource, Repository
from allotment.repository.recipe import recipe_of
from allotment.running.endings import PermanentFailureError
from allotment.running.sources.folder import file_sizes

MOST_FOLDERS: Final = 20_000
MOST_BEGUN: Final = 500
"""So many volumes that are not complete are looked into for pages that are done."""
LOADED: Final = "model.loaded"


def look(repository: Repository, team: Team, bucket: Bucket | None, names: Sequence[str] = ()) -> Known:
    """What is known of the named campaigns (none named: of all)."""
    campaigns = [each for each in repository.campaigns.values() if not names or each.name in names]
    measured, _ = scan_measured(repository.root)
    pages, notes = _folders(repository.root, campaigns)
    if bucket is None:
        return Known(pages=pages, measured=measured, notes=tuple(notes))
    reader = _Reader(bucket, team.name)
    try:
        return reader.read(repository, campaigns, pages, measured, notes)
    except AllotmentError as error:
        why = " ".join(str(error).split())
        words = f"the bucket could not be read, and nothing of it is known here: {why}"
        return Known(pages=pages, measured=measured, notes=(*notes, words))


@dataclass(frozen=True, slots=True)
class _Reader:
    bucket: Bucket
    team: str

    def read(
        self,
        repository: Repository,
        campaigns: Sequence[Campaign],
        pages: Mapping[str, int],
        measured: MeasuredFile,
        notes: Sequence[str],
    ) -> Known:
        used: dict[str, list[Campaign]] = {}
        for campaign in campaigns:
            used.setdefault(campaign.pipeline, []).append(campaign)
        figures: dict[str, Figures] = {}
        complete: dict[str, frozenset[str]] = {}
        begun: dict[tuple[str, str], int] = {}
        loads: dict[str, tuple[float, ...]] = {}
        for name, its in sorted(used.items()):
            recipe = recipe_of(repository.pipelines[name])
            keys = RecipeKeys(self.team, name, recipe)
            figures[recipe] = read_figures(self.bucket, keys)
            complete[recipe] = frozenset(each.volume for each in figures[recipe].volumes)
            wanted = {volume.id for campaign in its for volume in campaign.volumes} - complete[recipe]
            begun |= {(recipe, volume): done for volume, done in self._begun(keys, wanted)}
            loads[recipe] = tuple(self._loads(its))
        return Known(figures, complete, begun, pages, loads, measured, tuple(notes))

    def _begun(self, keys: RecipeKeys, wanted: Collection[str]) -> Iterator[tuple[str, int]]:
        """How many pages are done of volumes that are not complete."""
        there = [name for name in self.bucket.list_folders(keys.prefix) if name in wanted]
        for name in sorted(there)[:MOST_BEGUN]:
            prefix = keys.volume(name).pages
            done = sum(parse_record(each.key, prefix) is not None for each in self.bucket.list(prefix))
            if done:
                yield name, done

    def _loads(self, campaigns: Sequence[Campaign]) -> Iterator[float]:
        """How long each start has loaded its steps; events do not tell the recipe, so all count."""
        for campaign in campaigns:
            for event in read_events(self.bucket, self.team, campaign.name):
                seconds = event.data.get("seconds")
                if event.kind == LOADED and isinstance(seconds, int | float) and seconds >= 0:
                    yield float(seconds)


def _folders(root: Path, campaigns: Sequence[Campaign]) -> tuple[dict[str, int], list[str]]:
    """How many files each folder of the repository has; a file of several pages counts as one."""
    found: dict[str, int] = {}
    unread = 0
    volumes = (volume for campaign in campaigns for volume in campaign.volumes)
    for volume in volumes:
        if not isinstance(volume.source, FolderSource) or len(found) >= MOST_FOLDERS:
            continue
        try:
            found[where_of(volume)] = len(file_sizes(root, volume.source.folder))
        except PermanentFailureError:
            unread += 1
    notes = [f"{unread:,} folders of volumes could not be counted"] if unread else []
    return found, notes
