"""`allot claim`: what a pipeline's need is as a claim, which devices would do, and why not the others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from allotment.cli.shared import output_option, repository_identity, safe, world_options
from allotment.cli.world import ChosenWorld, chosen_world, which_world
from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import DeviceId
from allotment.errors import EXIT_FINE, Finding, FindingsError, Severity, UsageError, did_you_mean
from allotment.needs import claim_for, need_findings
from allotment.needs.cards import classes_of
from allotment.needs.cluster import for_cluster
from allotment.needs.fit import Explanation, explain
from allotment.needs.fit_words import (
    alike_words,
    funnel_lines,
    headline,
    nearest_words,
    suggestion_words,
    to_data,
)
from allotment.platform.find import find_platform
from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.repository.model import Pipeline

FORMAT_VERSION: Final = 1
FOLDER: Final = "pipelines"
KUBERNETES: Final = "kubernetes"


@dataclass(frozen=True, slots=True)
class Answer:
    """All that there is to say. Without a ``claim`` the pipeline makes none, and ``given_up`` says why."""

    pipeline: Pipeline
    world: ChosenWorld
    claim: ClaimSpec | None
    explanation: Explanation | None
    given_up: tuple[str, ...]
    warnings: tuple[Finding, ...]

    @property
    def template(self) -> dict[str, Any] | None:
        """The claim as an object of a cluster."""
        return None if self.claim is None else self.claim.to_template(self.pipeline.id)


@click.command(short_help="Print a pipeline's claim, and say which devices would do.")
@click.argument("pipeline", metavar="PIPELINE")
@world_options
@which_world
@output_option("yaml", "text", "json")
def command(
    pipeline: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
    devices: tuple[Path, ...],
    describe: str | None,
    form: str,
) -> int:
    """Print the ResourceClaimTemplate of a pipeline, and say which devices would do.

    The devices are those of this machine, of files (--devices), or of a fleet in words (--describe). What
    stands in the way of the others is said clause by clause, and where nothing would do, the nearest device
    and the value that would fit. The answer's YAML is valid as a whole: what is said stands in comments.
    """
    chosen = chosen_world(devices, describe)
    found, _ = find_platform(repository, option=platform, environ=os.environ)
    if team is not None:
        found.team_for(repository_identity(repository), team)
    answer = answer_for(_pipeline(repository, pipeline, found), found, chosen, _taken(chosen))
    for line in {"yaml": _as_yaml, "text": _as_text, "json": _as_json}[form](answer):
        click.echo(line)
    return EXIT_FINE


def answer_for(
    pipeline: Pipeline, platform: Platform, chosen: ChosenWorld, taken: Set[DeviceId] = frozenset()
) -> Answer:
    """The pipeline's claim held against a world; FindingsError for a need that makes no claim."""
    found = tuple(need_findings(pipeline, platform.cards))
    if any(finding.severity is Severity.ERROR for finding in found):
        raise FindingsError(found)
    on_cluster = platform.engine == KUBERNETES or not chosen.is_here
    need, given_up = for_cluster(pipeline.gpu) if on_cluster else (pipeline.gpu, ())
    if on_cluster and need is None:
        return Answer(pipeline, chosen, None, None, given_up, found)
    by_class = platform.engine == KUBERNETES
    claim = claim_for(need, pipeline.resources, platform.cards, by_class=by_class)
    world = chosen.without_errors()
    own = {each.name: each for each in classes_of(platform.cards)} if by_class else {}
    explained = explain(claim, replace(world, classes={**own, **world.classes}), taken)
    return Answer(pipeline, chosen, claim, explained, given_up, found)


def _taken(chosen: ChosenWorld) -> frozenset[DeviceId]:
    """The devices of this machine that somebody holds."""
    if not chosen.is_here:
        return frozenset()
    from allotment.devices.ledger import Ledger

    return frozenset(Ledger().holders())


def _pipeline(root: Path, name: str, platform: Platform) -> Pipeline:
    """The pipeline of this name, or of this file."""
    path = root / FOLDER / f"{name}.yaml"
    if name.endswith((".yaml", ".yml")) or "/" in name:
        path = Path(name) if Path(name).is_absolute() else root / name
        root = path.parent.parent
    if not path.is_file():
        folder = root / FOLDER
        known = [each.stem for each in sorted(folder.glob("*.yaml"))] if folder.is_dir() else []
        hint = did_you_mean(name, known) or "go to a repository, or name one with -C"
        raise UsageError(f"there is no pipeline `{name}`", where=str(folder), remedy=hint)
    loaded = load_repository(root, platform, only=[path])
    if path.stem not in loaded.repository.pipelines:
        raise FindingsError(loaded.findings)
    return loaded.repository.pipelines[path.stem]


def _as_yaml(answer: Answer) -> Iterator[str]:
    """The template, with what there is to say before it in comments."""
    import yaml

    for line in _said(answer):
        yield f"# {line}".rstrip()
    if answer.template is not None:
        yield yaml.safe_dump(answer.template, sort_keys=False, allow_unicode=True, width=10_000).rstrip()


def _as_text(answer: Answer) -> Iterator[str]:
    yield from _said(answer)


def _as_json(answer: Answer) -> Iterator[str]:
    value = {
        "format_version": FORMAT_VERSION,
        "pipeline": answer.pipeline.id,
        "world": answer.world.name,
        "template": answer.template,
        "given_up": list(answer.given_up),
        "explanation": None if answer.explanation is None else to_data(answer.explanation),
        "warnings": [str(finding) for finding in answer.warnings],
    }
    yield json.dumps(value, indent=2, ensure_ascii=False)


def _said(answer: Answer) -> Iterator[str]:
    """Everything in words, a line each."""
    explained = answer.explanation
    if explained is None:
        yield from (safe(f"{answer.pipeline.id}: {words}") for words in answer.given_up)
        return
    yield safe(f"{answer.pipeline.id}: {explained.claim}")
    yield safe(f"{answer.world.name}: {headline(explained)}")
    several = len(explained.alternatives) > 1
    for alternative in explained.alternatives:
        yield ""
        if several:
            yield safe(f"{alternative.name}: {alternative.words}")
        yield from (safe(f"  {line}") for line in funnel_lines(alternative))
        yield from (safe(f"  would do: {alike_words(alike)}") for alike in alternative.alike)
        if alternative.fault is not None and several:
            yield safe(f"  error: {alternative.fault}")
        if alternative.nearest is not None and several:
            yield safe(f"  nearest: {nearest_words(alternative.nearest)}")
            if suggested := suggestion_words(alternative.nearest):
                yield safe(f"  {suggested}")
    notes = [*answer.given_up, *explained.notes]
    if notes or answer.warnings:
        yield ""
    yield from (safe(f"note: {note}") for note in notes)
    yield from (safe(str(finding)) for finding in answer.warnings)
