"""What `allot claim` is asked: a pipeline and a world into the claim that its need is, and what would do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from allotment.cli.shared import repository_identity
from allotment.cli.world import AskedWorld, ChosenWorld
from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import DeviceId
from allotment.errors import Finding, FindingsError, Severity, UsageError, did_you_mean
from allotment.needs import claim_for, need_findings
from allotment.needs.cards import classes_for
from allotment.needs.cluster import for_cluster
from allotment.needs.fit import Explanation, explain
from allotment.needs.fit_words import never_words
from allotment.needs.manifests import Manifest, manifest_for
from allotment.needs.one_value import with_value
from allotment.needs.ways.choosing import able
from allotment.platform.find import find_platform
from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.repository.model import Pipeline

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


def claimed(name: str, root: Path, asked: AskedWorld, *, platform: Path | None, team: str | None) -> Answer:
    """The claim of a pipeline of the repository in the world that is asked for."""
    found, _ = find_platform(root, option=platform, environ=os.environ)
    chosen = asked.chosen().decided_by(found.versions.kubernetes)
    identity = repository_identity(root)
    if team is not None:
        found.team_for(identity, team)
    return answer_for(
        _pipeline(root, name, found), found, chosen, _taken(chosen), queue=_queue(found, identity, team)
    )


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
