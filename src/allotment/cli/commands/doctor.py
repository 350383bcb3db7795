"""`allot doctor`: what on this machine, in the bucket or in a cluster is not ready, and how to mend it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from allotment.answers import Answer, Check, State, examine
from allotment.cli.cluster import cluster_options
from allotment.cli.cluster_doctor import cluster_checks
from allotment.cli.json_text import json_text
from allotment.cli.shared import output_option, repository_identity, safe, world_options
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.errors import EXIT_FINE, EXIT_REFUSED
from allotment.platform.find import FoundPlatform, look_for_platform
from allotment.repository import Loaded, load_repository
from allotment.repository.select import is_repository
from allotment.running.doctor import files, machine, software, storage

FORMAT_VERSION = 1
SIGNS = {State.FINE: ("✓", "green"), State.NOTE: ("•", "yellow"), State.PROBLEM: ("✗", "red")}


@click.command(name="doctor")
@output_option("text", "json")
@click.option("--no-bucket", is_flag=True, help="Leave the bucket alone; trying it writes a small object.")
@cluster_options
@world_options
def command(
    form: str,
    no_bucket: bool,
    cluster: str | None,
    snapshot: Path | None,
    repository: Path,
    platform: Path | None,
    team: str | None,
) -> int:
    """Say what on this machine and in the bucket is not ready, and how to mend it.

    The bucket is tried: a small object is written, and one that is there must not be written over. Exits 0
    when nothing is in the way, 1 otherwise.

    With --cluster or --snapshot it is the cluster that is looked at, and held against the platform's file:
    what is missing in it or is not as the file has it. Nothing is written there.
    """
    if cluster is not None or snapshot is not None:
        checks = cluster_checks(cluster, snapshot, repository, platform, team)
    else:
        checks = _checks(repository, platform, team, with_bucket=not no_bucket)
    answers: list[Answer] = []
    for answer in examine(checks):
        if form == "text":
            _show(answer, is_told=any(answer.remedy == each.remedy for each in answers))
        answers.append(answer)
    ready = all(answer.state is not State.PROBLEM for answer in answers)
    if form == "json":
        told = [asdict(answer) for answer in answers]
        said = {"format_version": FORMAT_VERSION, "ready": ready, "checks": told}
        click.echo(json_text(said))
    else:
        problems = sum(answer.state is State.PROBLEM for answer in answers)
        words = (
            "everything is ready" if ready else f"{problems} {'is' if problems == 1 else 'are'} in the way"
        )
        click.echo(click.style(words, bold=True))
        for line in _mended_at_once(answers):
            click.echo(line)
    return EXIT_FINE if ready else EXIT_REFUSED


def _checks(
    root: Path, option: Path | None, team: str | None, *, with_bucket: bool
) -> Iterator[tuple[str, Check]]:
    """What is asked, from what is nearest to what is farthest."""
    environ = os.environ
    world = this_machine()
    found = look_for_platform(root, option=option, environ=environ)
    loaded = load_repository(root, found.platform) if is_repository(root) else None
    yield "python", software.python
    yield "ocr", lambda: software.ocr(_readers(loaded))
    yield "steps", software.steps
    yield "devices", lambda: machine.devices(world)
    yield "limits", lambda: machine.limits(world)
    yield "ledger", lambda: machine.ledger(Ledger())
    yield "folders", lambda: machine.folders(environ)
    yield "secrets", lambda: machine.secrets(environ)
    yield "engines", lambda: machine.engines(environ)
    yield "clock", machine.clock
    yield "platform", lambda: files.platform(found, root, option=option, environ=environ)
    yield "repository", lambda: files.repository(root, loaded)
    if with_bucket:
        yield "bucket", lambda: _bucket(root, found, team)


def _bucket(root: Path, found: FoundPlatform, team: str | None) -> Iterator[Answer]:
    owner = found.platform.team_for(repository_identity(root), team)
    origin = Path(found.origin)
    base = origin.resolve().parent if origin.is_file() else root.resolve()
    return storage.bucket(found.platform.bucket, base, owner.name, found.platform.bucket_options, os.environ)


def _readers(loaded: Loaded | None) -> list[str]:
    """The pipelines that read with the `ocr` step."""
    pipelines = {} if loaded is None else loaded.repository.pipelines
    return [
        name
        for name, pipeline in pipelines.items()
        if pipeline.runner == "own" and any(call.step == software.OCR for call in pipeline.steps)
    ]


def _show(answer: Answer, *, is_told: bool) -> None:
    """One answer; a remedy that was told above is not told again."""
    sign, colour = SIGNS[answer.state]
    click.echo(f"{click.style(sign, fg=colour)} {answer.check}: {safe(answer.said)}")
    if answer.remedy:
        click.echo(f"    {'as above' if is_told else safe(answer.remedy)}")


def _mended_at_once(answers: Iterable[Answer]) -> Iterator[str]:
    """What mends several problems, with how many."""
    remedies = Counter(each.remedy for each in answers if each.state is State.PROBLEM and each.remedy)
    for remedy, count in remedies.most_common():
        if count > 1:
            yield f"{count} of them are mended by: {safe(remedy)}"
