"""`allot results`: where a campaign's results are, and its text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.opening import bucket_place, is_address
from allotment.cli.json_text import json_text
from allotment.cli.opened import open_repository
from allotment.cli.shared import called, output_option, safe, world_options
from allotment.errors import UsageError, did_you_mean
from allotment.events.model import CampaignView, VolumeState, VolumeView
from allotment.pictures.counts import counted
from allotment.running.engine.completed import Completed, completed_volume
from allotment.running.engine.other_recipes import left_behind
from allotment.running.engine.outputs import (
    is_record,
    output_kinds,
    output_name,
    page_objects,
    page_source,
    page_sources,
)
from allotment.running.engine.overview import overview
from allotment.running.engine.work import Work
from allotment.running.legacy import LEGACY, legacy_folder

FORMAT_VERSION = 1
TEXT = ".txt"
MOST_FAULTS_SHOWN = 20
MOST_MANIFESTS_READ = 20


@click.command(name="results")
@click.argument("campaign")
@click.argument("volumes", nargs=-1, metavar="[VOLUME]...")
@click.option("--text", is_flag=True, help="Print the text itself, page after page.")
@output_option("text", "json")
@world_options
def command(
    campaign: str,
    volumes: tuple[str, ...],
    text: bool,
    form: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
) -> int:
    """Say where the results of a campaign are, or print its text."""
    opened, (name,) = open_repository(repository, platform=platform, team=team, campaigns=[campaign])
    work, bucket = opened.work(name), opened.bucket()
    known = {volume.id for volume in work.volumes}
    if unknown := [volume for volume in volumes if volume not in known]:
        raise UsageError(
            f"campaign `{name}` has no volume `{unknown[0]}`",
            remedy=did_you_mean(unknown[0], sorted(known)[:10_000]),
        )
    place = bucket_place(opened.platform.bucket, opened.base)
    view = overview(bucket, work, time.time(), engine_lives=True)
    wanted = [volume for volume in view.volumes.values() if volume.id in (volumes or known)]
    found = Found(bucket, work, place, wanted, view)
    if text:
        return _print_text(found)
    if form == "json":
        click.echo(json_text(_as_json(found)))
        return 0
    click.echo(f"{click.style(name, bold=True)}: pipeline {work.pipeline}, recipe {work.recipe}")
    _print_volumes(found, reads_all=bool(volumes) or not is_address(opened.platform.bucket))
    if left := left_behind(bucket, work):
        click.echo(f"  {left}")
    if not wanted:
        click.echo(f"  nothing yet; {called('run', opened.root)} {name} begins")
    elif len(wanted) < len(volumes or known):
        click.echo(f"  {counted(len(volumes or known) - len(wanted), 'volume')} not begun yet")
    kinds = output_kinds(bucket, found.keys, found.with_pages)
    if kinds:
        click.echo(f"  of each page: {', '.join(kinds)}")
    if any(kind.endswith(TEXT) for kind in kinds):
        click.echo(f"  the text itself: {called('results', opened.root)} {name} --text")
    return 0


@dataclass(frozen=True, slots=True)
class Found:
    """A campaign's volumes that are asked for and have begun, of those that have."""

    bucket: Bucket
    work: Work
    place: str
    volumes: Sequence[VolumeView]
    view: CampaignView

    @property
    def keys(self) -> RecipeKeys:
        """Where its results lie."""
        return RecipeKeys(self.work.team, self.work.pipeline, self.work.recipe)

    @property
    def own(self) -> list[str]:
        """The volumes whose results are ours, and not an earlier platform's."""
        return [volume.id for volume in self.volumes if volume.reason != LEGACY]

    @property
    def with_pages(self) -> Iterator[str]:
        """Those of them that have a page."""
        return (each.id for each in self.volumes if each.reason != LEGACY and each.pages_done)

    def objects(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each of our volumes with the keys of its pages' objects."""
        return page_objects(self.bucket, self.keys, self.own, len(self.view.volumes))

    def folder(self, volume: VolumeView) -> str:
        """Where a volume's pages lie, as it is short to type from here."""
        folder = self.keys.volume(volume.id).pages
        if volume.reason == LEGACY:
            folder = legacy_folder(self.work.namespace or self.work.team, self.work.pipeline, volume.id)
        return _shown(f"{self.place}/{folder}")


def _print_volumes(found: Found, *, reads_all: bool) -> None:
    """A line for each, and what its manifest tells; not of all of them where each is a request."""
    left = len(found.volumes) if reads_all else MOST_MANIFESTS_READ
    for volume in found.volumes:
        place = found.folder(volume)
        if volume.reason == LEGACY:
            click.echo(f"  {volume.id} {volume.state}: results of an earlier platform in {place}")
            continue
        wants = reads_all or _may_have_faults(volume)
        completed = Completed()
        if volume.state is VolumeState.COMPLETE and wants and left > 0:
            left -= 1
            completed = completed_volume(found.bucket, found.work, volume.id)
        done = max(completed.pages_done, volume.pages_done)
        click.echo(f"  {volume.id} {found.view.word_of(volume)}: {counted(done, 'page')} in {place}")
        if volume.state is VolumeState.FAILED and volume.message:
            click.echo(f"    why: {safe(volume.message)}")
        _print_completed(completed)
        if volume.state is VolumeState.COMPLETE and volume.pages_failed and not completed.faults:
            click.echo(f"    {counted(volume.pages_failed, 'page')} could not be read; name it to see which")


def _may_have_faults(volume: VolumeView) -> bool:
    """Whether pages of a complete volume could not be read, as far as is known."""
    return volume.state is VolumeState.COMPLETE and (volume.pages_failed > 0 or volume.pages_total is None)


def _print_completed(completed: Completed) -> None:
    for fault in completed.faults[:MOST_FAULTS_SHOWN]:
        click.echo(f"    could not be read: {fault.page} ({safe(fault.source)}): {safe(fault.message)}")
    if len(completed.faults) > MOST_FAULTS_SHOWN:
        click.echo(f"    … and {counted(len(completed.faults) - MOST_FAULTS_SHOWN, 'page')} more")
    if completed.change:
        click.echo(f"    {safe(completed.change)}")


def _shown(place: str) -> str:
    """The folder as it is short to type from here, or the address."""
    try:
        return f"{Path(place).relative_to(Path.cwd())}/"
    except ValueError:
        return place


def _print_text(found: Found) -> int:
    printed = 0
    for volume, objects in found.objects():
        texts = [key for key in objects if key.endswith(TEXT)]
        keys = found.keys.volume(volume)
        sources = page_sources(found.bucket, keys) if texts else {}
        for key in texts:
            page, _, kind = key.rpartition("/")[2].partition(".")
            source = sources.get(page) or page_source(found.bucket, keys, page)
            of = f" ({safe(source)})" if source else ""
            click.echo(click.style(f"=== {volume} {page}{of} {kind}", bold=True))
            click.echo(safe(found.bucket.read(key).decode("utf-8", errors="replace"), keep="\n\t"))
            printed += 1
    if not printed:
        click.echo("there is no text yet", err=True)
    return 0


def _as_json(found: Found) -> dict[str, object]:
    objects, volumes = dict(found.objects()), []
    for volume in found.volumes:
        keys = objects.get(volume.id, ())
        failed = volume.state is VolumeState.FAILED
        reads = _may_have_faults(volume) and volume.reason != LEGACY
        completed = completed_volume(found.bucket, found.work, volume.id) if reads else Completed()
        volumes.append(
            {
                "volume": volume.id,
                "results": LEGACY if volume.reason == LEGACY else "own",
                "state": str(volume.state),
                "pages_done": sum(is_record(key) for key in keys),
                "place": found.folder(volume),
                "reason": (failed and volume.reason) or "",
                "message": (failed and volume.message) or "",
                "failed_pages": [asdict(fault) for fault in completed.faults],
                "outputs": [key for key in keys if output_name(key)],
            }
        )
    return {
        "format_version": FORMAT_VERSION,
        "campaign": found.work.campaign,
        "pipeline": found.work.pipeline,
        "recipe": found.work.recipe,
        "volumes": volumes,
    }
