"""`allot results`: where a campaign's results are, and its text."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.opening import bucket_place
from allotment.cli.opened import open_repository
from allotment.cli.shared import called, output_option, safe, world_options
from allotment.cli.words import counted
from allotment.errors import AllotmentError, UsageError, did_you_mean
from allotment.events.model import VolumeState
from allotment.running.engine.completed import Completed, completed_volume
from allotment.running.engine.other_recipes import left_behind
from allotment.running.engine.overview import overview
from allotment.running.engine.work import Work
from allotment.running.legacy import LEGACY, legacy_folder

FORMAT_VERSION = 1
TEXT = ".txt"
REFUSED = re.compile(r"refused(-\d+)?\.json$")
MOST_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class VolumeResults:
    """What there is of one volume: its state, where its pages' outputs lie, and their keys, sorted.

    ``is_legacy`` tells that an earlier platform made them, in a layout of its own; ``reason`` and ``message``
    why it failed.
    """

    volume: str
    state: VolumeState
    pages_done: int
    place: str
    keys: tuple[str, ...]
    is_legacy: bool = False
    reason: str = ""
    message: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The outputs of a page, such as ``ocr.txt``: names without the page's number."""
        names = (key.rpartition("/")[2].partition(".")[2] for key in self.keys)
        return tuple(dict.fromkeys(name for name in names if _is_output(name)))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The keys of its pages' outputs: neither records nor refusals."""
        return tuple(key for key in self.keys if _is_output(key.rpartition("/")[2].partition(".")[2]))


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
    found = _results(bucket, work, place, set(volumes) or known)
    if text:
        return _print_text(bucket, found)
    if form == "json":
        answers = [(results, completed_volume(bucket, work, results.volume)) for results in found]
        click.echo(json.dumps(_as_json(answers, work), ensure_ascii=False, indent=2))
        return 0
    click.echo(f"{click.style(name, bold=True)}: pipeline {work.pipeline}, recipe {work.recipe}")
    begun, kinds = 0, set()
    for results in found:
        begun += 1
        if results.is_legacy:
            click.echo(
                f"  {results.volume} {results.state}: results of an earlier platform in {results.place}"
            )
            continue
        kinds |= set(results.kinds)
        _print_volume(results, completed_volume(bucket, work, results.volume))
    if left := left_behind(bucket, work):
        click.echo(f"  {left}")
    if begun == 0:
        click.echo(f"  nothing yet; {called('run', opened.root)} {name} begins")
    elif begun < len(volumes or known):
        click.echo(f"  {counted(len(volumes or known) - begun, 'volume')} not begun yet")
    if any(kind.endswith(TEXT) for kind in kinds):
        click.echo(f"  the text itself: {called('results', opened.root)} {name} --text")
    return 0


def _print_volume(results: VolumeResults, completed: Completed) -> None:
    click.echo(
        f"  {results.volume} {results.state}: {counted(results.pages_done, 'page')} in {results.place}"
    )
    if results.message:
        click.echo(f"    why: {safe(results.message)}")
    if results.kinds:
        click.echo(f"    of each page: {', '.join(results.kinds)}")
    for fault in completed.faults[:MOST_FAULTS_SHOWN]:
        click.echo(f"    could not be read: {fault.page} ({safe(fault.source)}): {safe(fault.message)}")
    if len(completed.faults) > MOST_FAULTS_SHOWN:
        click.echo(f"    … and {counted(len(completed.faults) - MOST_FAULTS_SHOWN, 'page')} more")
    if completed.change:
        click.echo(f"    {safe(completed.change)}")


def _results(bucket: Bucket, work: Work, place: str, wanted: set[str]) -> Iterator[VolumeResults]:
    keys = RecipeKeys(work.team, work.pipeline, work.recipe)
    view = overview(bucket, work, time.time(), engine_lives=True)
    for volume in view.volumes.values():
        if volume.id not in wanted:
            continue
        if volume.reason == LEGACY:
            folder = legacy_folder(work.namespace or work.team, work.pipeline, volume.id)
            yield VolumeResults(volume.id, volume.state, 0, _shown(f"{place}/{folder}"), (), is_legacy=True)
            continue
        pages = keys.volume(volume.id).pages
        found = tuple(sorted(entry.key for entry in bucket.list(pages)))
        records = sum(key.rpartition("/")[2].count(".") == 1 for key in found)
        failed = volume.state is VolumeState.FAILED
        yield VolumeResults(
            volume.id,
            volume.state,
            records,
            _shown(f"{place}/{pages}"),
            found,
            reason=(failed and volume.reason) or "",
            message=(failed and volume.message) or "",
        )


def _is_output(name: str) -> bool:
    """Whether what follows a page's number is the name of an output."""
    return name != "json" and not REFUSED.match(name)


def _shown(place: str) -> str:
    """The folder as it is short to type from here, or the address."""
    try:
        return f"{Path(place).relative_to(Path.cwd())}/"
    except ValueError:
        return place


def _print_text(bucket: Bucket, found: Iterator[VolumeResults]) -> int:
    printed = 0
    for results in found:
        for key in results.keys:
            if key.endswith(TEXT):
                page, _, kind = key.rpartition("/")[2].partition(".")
                source = _source_of(bucket, f"{key.rpartition('/')[0]}/{page}.json")
                click.echo(click.style(f"=== {results.volume} {page}{source} {kind}", bold=True))
                click.echo(safe(bucket.read(key).decode("utf-8", errors="replace"), keep="\n\t"))
                printed += 1
    if not printed:
        click.echo("there is no text yet", err=True)
    return 0


def _source_of(bucket: Bucket, record: str) -> str:
    """The file that a page was made of, in brackets, as far as its record is there."""
    try:
        return f" ({safe(str(json.loads(bucket.read(record))['source']['name']))})"
    except (AllotmentError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _as_json(found: list[tuple[VolumeResults, Completed]], work: Work) -> dict[str, object]:
    volumes = [
        {
            "volume": results.volume,
            "results": LEGACY if results.is_legacy else "own",
            "state": str(results.state),
            "pages_done": results.pages_done,
            "place": results.place,
            "reason": results.reason,
            "message": results.message,
            "failed_pages": [asdict(fault) for fault in completed.faults],
            "outputs": list(results.outputs),
        }
        for results, completed in found
    ]
    return {
        "format_version": FORMAT_VERSION,
        "campaign": work.campaign,
        "pipeline": work.pipeline,
        "recipe": work.recipe,
        "volumes": volumes,
    }
