"""`allot why` of what is on a cluster: the root sentence, its evidence, the sums, and then the devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from allotment.cli.columns import folded, terminal_width
from allotment.cli.followed import NEVER_SENT, Team, followed, team_of
from allotment.cli.forms.followed import followed_data, why_lines
from allotment.cli.forms.outlook import next_lines, said_data
from allotment.cli.forms.why import answer_data, change_lines, funnel_lines
from allotment.cli.json_text import json_text
from allotment.cli.shared import safe
from allotment.cli.world import ChosenWorld
from allotment.errors import EXIT_FINE, FindingsError, Severity, UsageError
from allotment.kubernetes.cluster.quota import cluster_queue_of
from allotment.kubernetes.follow import Followed, State
from allotment.kubernetes.render.context import namespace_of
from allotment.pictures.counts import counted
from allotment.planning.outlook.asked import next_of, next_of_unsent
from allotment.planning.outlook.values import Said
from allotment.planning.queues import Share
from allotment.planning.queues_of_cluster import shares_of_cluster
from allotment.planning.why.needs import asked_of
from allotment.planning.why.on_cluster import ClusterWhy, why_on_cluster
from allotment.planning.why.why import State as Fit
from allotment.planning.why.why import Why
from allotment.repository.model import HasNeed

if TYPE_CHECKING:
    from allotment.planning.why.guess import Other

FORMAT_VERSION = 1
ENDED = frozenset({State.FINISHED, State.FAILED, State.ABSENT})


@dataclass(frozen=True, slots=True)
class Told:
    """What is seen of one, and what the schedulers' models say of what waits of it."""

    why: ClusterWhy
    said: tuple[Said, ...]


def whys_of(
    name: str, root: Path, platform: Path | None, team: str | None, chosen: ChosenWorld
) -> list[Told]:
    """What is on the cluster under this name; where nothing is, the need alone is left to ask about."""
    snapshot = chosen.snapshot
    if snapshot is None or _is_no_name(name, root):
        return []
    whom = team_of(snapshot, root, [name], platform=platform, team=team)
    found = [each for each in followed(snapshot, whom) if not _is_not_there(each)]
    if not found:
        note = f"nothing of `{safe(name)}` is on {safe(snapshot.name)} yet: this is about its need alone"
        click.echo(f"note: {note}", err=True)
        return []
    known = None if whom.opened is None else whom.opened.platform
    return [
        Told(
            why_on_cluster(snapshot, chosen.world, each, others=_others(whom, each.name, chosen)),
            next_of(snapshot, each, known),
        )
        for each in found
    ]


@dataclass(frozen=True, slots=True)
class Unsent:
    """What is not there yet: its queue's share, and what the schedulers would do once it was sent."""

    share: Share | None = None
    said: tuple[Said, ...] = ()


def unsent(name: str, root: Path, platform: Path | None, team: str | None, chosen: ChosenWorld) -> Unsent:
    """What there is to say of a campaign, fleet or gang that is not there; nothing of what has no queue."""
    if chosen.snapshot is None or _is_no_name(name, root):
        return Unsent()
    opened = team_of(chosen.snapshot, root, [name], platform=platform, team=team).opened
    if opened is None:
        return Unsent()
    owner = opened.team
    said = next_of_unsent(chosen.snapshot, Path(name).stem, opened.repository, opened.platform, owner)
    queue = cluster_queue_of(chosen.snapshot, namespace_of(owner), owner.name) or owner.name
    found = shares_of_cluster(chosen.snapshot).shares
    return Unsent(next((each for each in found if each.queue == queue and each.sum), None), said)


def _is_not_there(found: Followed) -> bool:
    return found.root is not None and found.root.kind in NEVER_SENT


def _is_no_name(name: str, root: Path) -> bool:
    """Whether it is a pipeline's, or a file of claims."""
    path = Path(name)
    if name.endswith((".yaml", ".yml", ".json")) or "/" in name:
        return path.parent.name not in {"campaigns", "fleets", "gangs"}
    kinds = ("campaigns", "fleets", "gangs")
    written = any((root / kind / f"{name}.yaml").is_file() for kind in kinds)
    return not written and (root / "pipelines" / f"{name}.yaml").is_file()


def _file(whom: Team, name: str) -> HasNeed | None:
    if whom.opened is None:
        return None
    repository = whom.opened.repository
    campaign = repository.campaigns.get(name)
    if campaign is not None:
        return repository.pipelines[campaign.pipeline]
    return repository.fleets.get(name) or repository.gangs.get(name)


def _others(whom: Team, name: str, chosen: ChosenWorld) -> Sequence[Other]:
    """Other ways to meet its need, where its file is at hand."""
    file = _file(whom, name)
    if file is None or whom.opened is None:
        return ()
    try:
        return asked_of(file, whom.opened.platform, chosen.world, here=False).others
    except (FindingsError, UsageError):
        return ()


def show_whys(found: Sequence[Told], chosen: ChosenWorld, form: str) -> int:
    """Print the answers."""
    if form == "json":
        answers = [
            {
                **followed_data(each.why.followed),
                "devices": None if told is None else answer_data(told),
                "next": said_data(each.said),
            }
            for each in found
            for told in (_worth_telling(each.why),)
        ]
        data = {"format_version": FORMAT_VERSION, "world": chosen.name, "answers": answers}
        click.echo(json_text(data))
        return EXIT_FINE
    left_out = sum(each.severity is Severity.ERROR for each in chosen.findings)
    width = terminal_width()
    for place, each in enumerate(found):
        if place:
            click.echo("")
        for line in _lines(each.why, each.said, left_out):
            for piece in folded(line, width):
                click.echo(piece)
    return EXIT_FINE


def _worth_telling(found: ClusterWhy) -> Why | None:
    """What there is to say of devices, where it is not over."""
    return None if found.followed.state in ENDED else found.told


def _lines(found: ClusterWhy, said: Sequence[Said], left_out: int) -> Iterator[str]:
    shown, told = found.followed, _worth_telling(found)
    yield from why_lines(shown)
    for each in said:
        if each.outlooks:
            yield ""
            yield from next_lines(each)
    if told is not None and (shown.state is not State.RUNNING or shown.causes):
        yield ""
        yield f"  the devices of one pod ({safe(told.asks)}): {safe(told.sentence)}"
        for alternative in told.alternatives:
            yield from (f"    {line}" for line in funnel_lines(alternative))
        if told.state is not Fit.FITS:
            yield ""
            yield from change_lines(told)
    notes = [*shown.notes, *(told.notes if told is not None else ())]
    notes += (note for each in said if not each.outlooks for note in each.notes)
    if left_out:
        notes.append(f"{counted(left_out, 'fault')} in objects of devices, which count for nothing here")
    if notes:
        yield ""
    yield from (f"note: {safe(note)}" for note in notes)
