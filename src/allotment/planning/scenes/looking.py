"""What a scene has to look up: what the bucket holds of the recipes, and how many files folders have.

The only part of a scene that reads anything. What cannot be read is not known, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys, parse_record
from allotment.errors import AllotmentError, in_one_line
from allotment.pictures.counts import counted
from allotment.planning.figures import Figures, read_figures
from allotment.planning.scenes.pages import where_of
from allotment.planning.scenes.values import Known
from allotment.platform.model import Team
from allotment.repository.measured import MeasuredFile, scan_measured
from allotment.repository.model import Campaign, FolderSource, Repository
from allotment.repository.recipe import recipe_of
from allotment.running.endings import PermanentFailureError
from allotment.running.legacy import legacy_results
from allotment.running.marks import Marks, read_marks
from allotment.running.sources.folder import file_sizes

MOST_FOLDERS: Final = 20_000
MOST_LOOKED: Final = 500
"""So many volumes that marks do not tell of are looked into."""
MOST_READ: Final = 200
"""Of so many complete volumes the figures are read, spread over all of them."""


def look_beside(known: Known, others: Iterable[tuple[Repository, Team]]) -> Known:
    """The same, with what the files of others tell that are sent at the same time: never their results."""
    beside = {each.root: look(each, team, None) for each, team in others}
    notes = [note for each in beside.values() for note in each.notes]
    return replace(known, beside=beside, notes=(*known.notes, *notes))


def look(repository: Repository, team: Team, bucket: Bucket | None, names: Sequence[str] = ()) -> Known:
    """What is known of the named campaigns (none named: of all)."""
    campaigns = [each for each in repository.campaigns.values() if not names or each.name in names]
    measured, _ = scan_measured(repository.root)
    pages, notes = _folders(repository.root, campaigns)
    if bucket is None:
        return Known(pages=pages, measured=measured, notes=tuple(notes))
    reader = _Reader(bucket, team.name, team.namespace or team.name)
    try:
        return reader.read(repository, campaigns, pages, measured, notes)
    except AllotmentError as error:
        words = f"the bucket could not be read, and nothing of it is known here: {in_one_line(error)}"
        return Known(pages=pages, measured=measured, notes=(*notes, words))


@dataclass(frozen=True, slots=True)
class _Reader:
    bucket: Bucket
    team: str
    namespace: str

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
        counts: dict[str, tuple[int, ...]] = {}
        complete: dict[str, frozenset[str]] = {}
        failed: dict[str, frozenset[str]] = {}
        told = list(notes)
        begun: dict[tuple[str, str], int] = {}
        for name, its in sorted(used.items()):
            recipe = recipe_of(repository.pipelines[name])
            keys = RecipeKeys(self.team, name, recipe)
            marks = read_marks(self.bucket, keys)
            wanted = {volume.id for campaign in its for volume in campaign.volumes}
            there = set(self.bucket.list_folders(keys.prefix))
            over = {*marks.complete, *self._unmarked(keys, there & wanted, marks)}
            over |= set(legacy_results(self.bucket, self.namespace, name, sorted(wanted - over)))
            failed[name] = (marks.failed & wanted) - over
            if failed[name]:
                number = len(failed[name])
                some = f"{counted(number, 'volume')} {'has' if number == 1 else 'have'}"
                told.append(
                    f"{some} failed for good, and {'waits' if number == 1 else 'wait'} for `allot retry`"
                )
            sample = _sample(sorted(there & over))
            figures[recipe] = read_figures(self.bucket, keys, sample).beside(figures.get(recipe))
            totals = (each.total for each in marks.complete.values() if each.total)
            counts[recipe] = tuple(sorted((*counts.get(recipe, ()), *totals)))
            complete[name] = frozenset(over)
            begun |= {
                (name, volume): done
                for volume, done in self._begun(keys, there & wanted - over - marks.failed)
            }
        return Known(figures, complete, begun, pages, measured, tuple(told), counts, failed)

    def _unmarked(self, keys: RecipeKeys, there: Collection[str], marks: Marks) -> Iterator[str]:
        """Complete volumes that have no mark, in a bucket of an older version or after a kill."""
        unsure = sorted(set(there) - marks.complete.keys() - marks.failed)
        for volume in unsure[:MOST_LOOKED]:
            if self.bucket.exists(keys.volume(volume).manifest):
                yield volume

    def _begun(self, keys: RecipeKeys, volumes: Collection[str]) -> Iterator[tuple[str, int]]:
        """How many pages are done of volumes that are not complete."""
        for name in sorted(volumes)[:MOST_LOOKED]:
            prefix = keys.volume(name).pages
            done = sum(parse_record(each.key, prefix) is not None for each in self.bucket.list(prefix))
            if done:
                yield name, done


def _sample(volumes: Sequence[str]) -> list[str]:
    """At most MOST_READ of them, from beginning to end."""
    step = max(1.0, len(volumes) / MOST_READ)
    return [volumes[int(place * step)] for place in range(min(len(volumes), MOST_READ))]


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
