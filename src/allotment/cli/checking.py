"""A check of a repository: its files, their needs, the platform that holds, and what was before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from allotment.cli.forms.checked import Checked
from allotment.cli.shared import repository_identity
from allotment.cli.world import ChosenWorld
from allotment.errors import Severity, UsageError, sorted_findings
from allotment.kubernetes.images import Fetch
from allotment.needs import need_findings
from allotment.pictures.counts import counted
from allotment.platform.converter_file import CONVERTER_FILE
from allotment.platform.file import scan_platform
from allotment.platform.find import FILE_NAME, FoundPlatform, has_errors, look_for_platform
from allotment.repository import Loaded, load_repository
from allotment.repository.changes import compared
from allotment.repository.foreign import foreign_findings
from allotment.repository.measured import scan_measured
from allotment.repository.model import HasNeed
from allotment.repository.on_clusters import cluster_findings
from allotment.repository.rendered import read_rendered
from allotment.repository.select import is_repository, selected_files
from allotment.running.steps.checking import settings_findings

TOLD_OF_WORLDS = frozenset({"counted-twice"})


def check(
    root: Path,
    names: Sequence[str],
    *,
    platform: Path | None,
    team: str | None,
    world: ChosenWorld | None = None,
    base: str | None = None,
    images: Fetch | None = None,
) -> Checked:
    """Look at the files that the names mean, or at all of them, and compare them with what was before.

    ``images`` asks the registries of the images that are named; nothing is asked without it.
    """
    only = selected_files(root, names) if names else None
    if only is None and not is_repository(root):
        raise UsageError(
            "this folder is no repository: it has no `pipelines/`, `campaigns/`, `fleets/` or `gangs/`",
            where=str(root.resolve()),
            remedy="go to one, name one with -C, or write one with `allot init DIR`",
        )
    found = look_for_platform(root, option=platform, environ=os.environ)
    if team is not None and not has_errors(found.findings):
        found.platform.team_for(repository_identity(root), team)
    if world is not None:
        world = world.decided_by(found.platform.versions.kubernetes)
    own = root / FILE_NAME
    own_asked = own.exists() if only is None else own in only
    loaded = load_repository(
        root, found.platform, only=None if only is None else [path for path in only if path != own]
    )
    rendered = read_rendered(root)
    against = compared(
        loaded.repository, found.platform, rendered, base=base, whole=only is None, environ=os.environ
    )
    before = [*against.findings]
    if found.converter is not None:
        settings = {found.converter.namespace: found.converter.position("namespace")}
        namespaces = {**rendered.namespaces, **settings}
        before += foreign_findings(namespaces, found.platform, repository_identity(root), team)
    if images is not None:
        from allotment.kubernetes.images.looking import finding_of, images_of, looked_at

        named = images_of(loaded.repository, found.platform, found.origin)
        before += [finding_of(*each) for each in looked_at(named, images)]
    checked = _checked(loaded, found, own if own_asked and found.origin != str(own) else None, world)
    findings = sorted_findings({*checked.findings, *before})
    about_all = [finding for finding in findings if finding.position.file == str(root)]
    here = tuple(each for each in findings if each not in about_all)
    notes = tuple(each for each in about_all if each.severity is Severity.NOTE)
    return replace(checked, findings=(*here, *about_all), base=against.base, about_all=notes)


def _checked(loaded: Loaded, found: FoundPlatform, own: Path | None, world: ChosenWorld | None) -> Checked:
    """Everything found, in one: files, their needs, the platform that holds, and the repository's own."""
    repository = loaded.repository
    pipelines, campaigns = repository.pipelines, repository.campaigns
    findings = {*loaded.findings, *found.findings, *cluster_findings(repository, found.platform)}
    for pipeline in pipelines.values():
        findings.update(settings_findings(pipeline))
    needing: list[HasNeed] = [*pipelines.values(), *repository.fleets.values(), *repository.gangs.values()]
    for one in needing:
        findings.update(need_findings(one, found.platform.cards, found.platform.versions.kubernetes))
        if world is not None:
            from allotment.needs.fit_findings import fit_findings
            from allotment.needs.ways.choosing import able

            cards, where = found.platform.cards, f"in {world.name}"
            who = able(found.platform, world.world)
            findings.update(fit_findings(one, world.without_errors(), cards, where=where, able=who))
    measured, about_measured = scan_measured(repository.root)
    findings.update(about_measured)
    if any(one.gpu is not None for one in needing) or found.platform.engine != "local":
        from allotment.needs.lints import lint_findings

        published = None if world is None else world.without_errors()
        findings.update(lint_findings(repository, found.platform, found.origin, measured, published))
    if world is not None:
        from allotment.needs.one_value import agreeing

        findings = set(agreeing(findings))
        findings.update(each for each in world.findings if each.rule in TOLD_OF_WORLDS)
    if own is not None:
        findings.update(scan_platform(own, str(own))[1])
    settings = found.converter is not None and Path(found.origin).name != CONVERTER_FILE
    platform_files = (own is not None) + Path(found.origin).is_file() + settings
    return Checked(
        findings=sorted_findings(findings),
        pipelines=len(pipelines),
        campaigns=len(campaigns),
        volumes=sum(len(campaign.volumes) for campaign in campaigns.values()),
        fleets=len(repository.fleets),
        gangs=len(repository.gangs),
        files=len(pipelines)
        + len(campaigns)
        + len(repository.fleets)
        + len(repository.gangs)
        + len(repository.broken)
        + platform_files,
        origin=found.origin,
        world="" if world is None else _held_against(world),
    )


def _held_against(world: ChosenWorld) -> str:
    """What needs were held against, and how much that is."""
    return f"{world.name}, which has {counted(sum(1 for _ in world.world.devices()), 'device')}"
