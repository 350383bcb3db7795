"""`allot claim`: what a pipeline's need is as a claim, which devices would do, and why not the others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from allotment.cli.shared import output_option, repository_identity, safe, world_options
from allotment.cli.world import AskedWorld, ChosenWorld, any_world
from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import DeviceId
from allotment.errors import EXIT_FINE, Finding, FindingsError, Severity, UsageError, did_you_mean
from allotment.needs import claim_for, need_findings
from allotment.needs.cards import classes_for
from allotment.needs.cluster import for_cluster
from allotment.needs.fit import Explanation, explain
from allotment.needs.fit_words import (
    alike_words,
    funnel_lines,
    headline,
    nearest_words,
    never_words,
    suggestion_words,
    to_data,
)
from allotment.needs.manifests import Manifest, manifest_for
from allotment.needs.one_value import with_value
from allotment.needs.ways import Isolation, Scope, Way, ways_of
from allotment.needs.ways.choosing import able
from allotment.needs.ways.share import pods_on_a_card
from allotment.platform.find import find_platform
from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.repository.model import Pipeline

FORMAT_VERSION: Final = 1
FOLDER: Final = "pipelines"
KUBERNETES: Final = "kubernetes"
_AS_CLAIMS: Final[Mapping[str, str]] = {
    " pods at once": " such claims at once",
    " pod at once": " such claim at once",
    ": a pod waits": ": the claim waits",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """All that there is to say. Without a ``claim`` the pipeline makes none, and ``given_up`` says why."""

    pipeline: Pipeline
    world: ChosenWorld
    claim: ClaimSpec | None
    explanation: Explanation | None
    given_up: tuple[str, ...]
    warnings: tuple[Finding, ...]
    manifest: Manifest | None = None

    @property
    def value(self) -> Mapping[str, Any] | None:
        """The object of a cluster that the need becomes."""
        if self.manifest is not None:
            return self.manifest.value
        return None if self.claim is None else self.claim.to_template(self.pipeline.id)

    @property
    def template(self) -> Mapping[str, Any] | None:
        """The object where it is a claim template, of which each pod gets a claim of its own."""
        return self.value if self.value and self.value["kind"] == "ResourceClaimTemplate" else None


@click.command(short_help="Print a pipeline's claim, and say which devices would do.")
@click.argument("pipeline", metavar="PIPELINE")
@world_options
@any_world
@output_option("yaml", "text", "json")
def command(
    pipeline: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
    form: str,
) -> int:
    """Print the ResourceClaimTemplate of a pipeline, and say which devices would do.

    The devices are those of this machine, of files (--devices), of a fleet in words (--describe), or of a
    cluster (--cluster, --snapshot). What stands in the way of the others is said clause by clause, and where
    nothing would do, the nearest device and the value that would fit. The answer's YAML is valid as a whole:
    what is said stands in comments.
    """
    found, _ = find_platform(repository, option=platform, environ=os.environ)
    chosen = asked.chosen().decided_by(found.versions.kubernetes)
    if team is not None:
        found.team_for(repository_identity(repository), team)
    identity = repository_identity(repository)
    answer = answer_for(
        _pipeline(repository, pipeline, found),
        found,
        chosen,
        _taken(chosen),
        queue=_queue(found, identity, team),
    )
    for line in {"yaml": _as_yaml, "text": _as_text, "json": _as_json}[form](answer):
        click.echo(line)
    return EXIT_FINE


def answer_for(
    pipeline: Pipeline,
    platform: Platform,
    chosen: ChosenWorld,
    taken: Set[DeviceId] = frozenset(),
    *,
    queue: str | None = None,
) -> Answer:
    """The pipeline's claim held against a world; FindingsError for a need that makes no claim."""
    found = tuple(need_findings(pipeline, platform.cards, platform.versions.kubernetes))
    if any(finding.severity is Severity.ERROR for finding in found):
        raise FindingsError(found)
    on_cluster = platform.engine == KUBERNETES or not chosen.is_here
    need, given_up = for_cluster(pipeline.gpu) if on_cluster else (pipeline.gpu, ())
    if on_cluster and need is None:
        return Answer(pipeline, chosen, None, None, given_up, found)
    by_class = platform.engine == KUBERNETES
    who = able(platform, None if chosen.is_here else chosen.world)
    claim = claim_for(need, pipeline.resources, platform.cards, by_class=by_class, able=who)
    manifest = None
    if need is not None and need.cpu is None:
        manifest = manifest_for(
            pipeline.id, need, platform.cards, by_class=by_class, able=who, kai_queue=queue
        )
        given_up = (*given_up, *manifest.choice.given_up)
    world = chosen.without_errors()
    own = {each.name: each for each in classes_for(platform.cards, by_name=who.by_name)} if by_class else {}
    explained = explain(claim, replace(world, classes={**own, **world.classes}), taken)
    if not explained.fits_ever:
        place, (_, hint) = pipeline.position("gpu", "memory"), never_words(explained)
        found = tuple(with_value(each, place, hint) for each in found)
    return Answer(pipeline, chosen, claim, explained, given_up, found, manifest)


def _queue(platform: Platform, identity: tuple[str, ...], team: str | None) -> str | None:
    """The team's queue where KAI schedules, and where it is clear whose repository this is."""
    if platform.engine != KUBERNETES or platform.scheduler not in {"kai", "both"}:
        return None
    try:
        return platform.team_for(identity, team).name
    except UsageError:
        return None


def _taken(chosen: ChosenWorld) -> frozenset[DeviceId]:
    """The devices of this machine that somebody holds."""
    if not chosen.is_here:
        return frozenset()
    from allotment.devices.ledger import Ledger

    whole, shares = Ledger().state()
    return frozenset(whole) | shares.keys()


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
    if answer.value is not None:
        yield yaml.safe_dump(answer.value, sort_keys=False, allow_unicode=True, width=10_000).rstrip()


def _as_text(answer: Answer) -> Iterator[str]:
    yield from _said(answer)


def _as_json(answer: Answer) -> Iterator[str]:
    value = {
        "format_version": FORMAT_VERSION,
        "pipeline": answer.pipeline.id,
        "world": answer.world.name,
        "template": answer.template,
        "manifest": answer.value,
        "pod": None if answer.manifest is None else answer.manifest.pod,
        "sharing": [] if answer.manifest is None else [_way_data(way) for way in answer.manifest.ways],
        "given_up": list(answer.given_up),
        "explanation": None if answer.explanation is None else to_data(answer.explanation),
        "warnings": [str(finding) for finding in answer.warnings],
    }
    yield json.dumps(value, indent=2, ensure_ascii=False)


def _way_data(way: Way) -> dict[str, Any]:
    return {
        "way": way.id,
        "word": way.word,
        "isolation": str(way.isolation),
        "keeps_apart": way.keeps_apart,
        "maturity": way.maturity,
        "counts_as": way.accounting,
    }


def _said(answer: Answer) -> Iterator[str]:
    """Everything in words, a line each."""
    explained = answer.explanation
    if explained is None:
        yield from (safe(f"{answer.pipeline.id}: {words}") for words in answer.given_up)
        return
    yield safe(f"{answer.pipeline.id}: {explained.claim}")
    yield safe(f"{answer.world.name}: {_head(answer, explained)}")
    yield from (safe(line) for line in _about_sharing(answer))
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
    notes = [*_use(answer), *answer.given_up, *explained.notes]
    if notes or answer.warnings:
        yield ""
    yield from (safe(f"note: {note}") for note in notes)
    yield from (safe(str(finding)) for finding in answer.warnings)


def _head(answer: Answer, explained: Explanation) -> str:
    """The answer in a sentence; of a claim that pods share, claims are counted and not its pods."""
    words = headline(explained)
    if answer.manifest is None or answer.manifest.scope is not Scope.SHARED:
        return words
    for pods, claims in _AS_CLAIMS.items():
        words = words.replace(pods, claims)
    return words


def _about_sharing(answer: Answer) -> Iterator[str]:
    """What each way costs in isolation, and how mature it is; a whole card alone needs no words."""
    manifest = answer.manifest
    if manifest is None or [way.word for way in manifest.ways] == ["whole"]:
        return
    for word in dict.fromkeys(way.word for way in manifest.ways):
        for way in ways_of(word):
            yield f"{way.title}: {way.maturity}"
        apart = (
            "kept apart in hardware" if way.isolation is Isolation.HARDWARE else "not kept apart in hardware"
        )
        yield f"{word}: {apart}; {way.keeps_apart}"


def _use(answer: Answer) -> Iterator[str]:
    """How pods use what is printed, where that is not a claim of each one's own."""
    manifest, pipeline = answer.manifest, answer.pipeline
    if manifest is None or pipeline.gpu is None:
        return
    if manifest.scope is Scope.SHARED:
        yield (
            f"pods share the card through this one claim, which they name: resourceClaimName: {pipeline.id}; "
            "a template would make a claim for each. All of them are on one node, in one namespace, at most "
            "256"
        )
        yield "the count above is of such claims, of which each serves all pods that name it"
    if manifest.scope is Scope.ANNOTATION:
        parts = [
            f"{fit:,} on each {alike.card}"
            for each in (answer.explanation.alternatives if answer.explanation is not None else ())
            for alike in each.alike
            if (fit := pods_on_a_card(pipeline.gpu, alike.memory)) is not None
        ]
        yield "KAI reads the annotations, and no claim is made"
        if parts:
            yield (
                "a pod in the count above stands for a card, and several go on one: "
                f"{', '.join(dict.fromkeys(parts))}"
            )
