"""What `allot why` is asked about: a file of the repository that states a need, or claims of a cluster.

A name is looked for among campaigns, fleets, gangs and pipelines, in this order; a path says which it is. A
file of claims or templates needs no repository.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.buckets.event_log import read_events
from allotment.cli.cluster import hint_at_cluster
from allotment.cli.opened import Opened, open_repository
from allotment.cli.shared import repository_identity
from allotment.cli.why.pretended import Seen, of_run
from allotment.devices.card_shares import memory_of_cards, shareable, sized
from allotment.devices.claims import ClaimSpec
from allotment.devices.reading import read_files
from allotment.devices.world import World
from allotment.errors import FindingsError, UsageError, WorldError, did_you_mean
from allotment.events.model import CampaignState, CampaignView, VolumeState
from allotment.events.programs import ProgramState, ProgramView, fold_program
from allotment.needs.ways.shares_here import ShareHere
from allotment.planning.why.needs import Asked, asked_of
from allotment.planning.why.room import Holding, holdings_of
from allotment.planning.why.why import Why, why
from allotment.platform.find import find_platform
from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.repository.model import Gang, HasNeed
from allotment.running.engine.control import EngineDescription, living_engines, state_folder
from allotment.running.engine.overview import overview
from allotment.running.engine.team_standing import standing
from allotment.scheduling.local_words import share_words

PIPELINES = "pipelines"
KINDS: Mapping[str, str] = {
    "campaigns": "campaign",
    "fleets": "fleet",
    "gangs": "gang",
    PIPELINES: "pipeline",
}
NO_SHARES: Mapping[str, ShareHere] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What there is to say of one name. ``told`` is None where it makes no claim, and ``given_up`` says why.

    ``run`` is how it stands, as its engine tells and the bucket keeps; ``world`` what it was held against,
    ``share`` what its team has of it, where teams share it and an engine of this one runs.
    """

    name: str
    kind: str
    told: Why | None
    given_up: tuple[str, ...] = ()
    run: CampaignView | ProgramView | None = None
    world: str = ""
    share: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left to run, so that its need waits for nothing."""
        if isinstance(self.run, CampaignView):
            return self.run.state is CampaignState.FINISHED
        return self.run is not None and self.run.state is ProgramState.COMPLETE

    @property
    def all_runs(self) -> bool:
        """Whether all that is left of it runs, so that nothing of it waits."""
        run = self.run
        if isinstance(run, CampaignView):
            settled = sum(map(run.number, (VolumeState.COMPLETE, VolumeState.FAILED, VolumeState.RUNNING)))
            return run.state is CampaignState.RUNNING and 0 < (run.volumes_total or 0) <= settled
        return run is not None and run.state is ProgramState.RUNNING and 0 < (run.most or 0) <= len(run.up)


def answers_for(name: str, root: Path, platform: Path | None, team: str | None, seen: Seen) -> list[Answer]:
    """The answers for a name or a file, held against a world as the platform's Kubernetes decides in it.

    What runs in name only on another world than this machine is held against that one.
    """
    path, chosen = Path(name), seen.chosen
    if _is_file(name) and path.parent.name not in KINDS and path.is_file():
        return _of_claims(path, seen)
    folder, stem = _located(root, name)
    file = folder / f"{stem}.yaml"
    found, _ = find_platform(folder.parent, option=platform, environ=os.environ)
    if chosen.is_here:
        hint_at_cluster(found, "the need is held against this machine")
    if folder.name == PIPELINES:
        if team is not None:
            found.team_for(repository_identity(folder.parent), team)
        loaded = load_repository(folder.parent, found, only=[file])
        if stem not in loaded.repository.pipelines:
            raise FindingsError(loaded.findings)
        return [_of_file(loaded.repository.pipelines[stem], stem, "pipeline", found, seen)]
    opened, _ = open_repository(
        folder.parent, platform=platform, team=team, campaigns=[str(file.resolve())], programs=True
    )
    return [_of_opened(opened, stem, KINDS[folder.name], seen)]


def _of_opened(opened: Opened, name: str, kind: str, seen: Seen) -> Answer:
    repository, platform = opened.repository, opened.platform
    file: HasNeed | None = repository.fleets.get(name) or repository.gangs.get(name)
    local = seen.chosen.is_here and platform.engine == "local"
    engine = _engine(opened, name) if local else None
    if engine is not None and engine.pretends:
        seen = of_run(engine.pretends) or seen
    if file is not None:
        answer = _of_file(file, name, kind, platform, seen)
        share = _share(opened, seen) if engine is not None else ""
        return replace(answer, run=_program(opened, name, kind), share=share) if local else answer
    pipeline = repository.pipelines[repository.campaigns[name].pipeline]
    if not local:
        return _of_file(pipeline, name, kind, platform, seen)
    work = opened.work(name)
    answer = _of_file(pipeline, name, kind, platform, seen, shares=work.shares)
    view = overview(opened.bucket(), work, time.time(), engine_lives=engine is not None)
    return replace(answer, run=view, share=_share(opened, seen) if engine is not None else "")


def _share(opened: Opened, seen: Seen) -> str:
    """What the team has of its share, where the platform says that teams share the machine."""
    team, teams = opened.team, opened.platform.teams
    if team.name not in teams or (len(teams) == 1 and team.queue.quota is None and team.queue.limit is None):
        return ""
    try:
        now = standing(seen.ledger, seen.chosen.world, time.monotonic())
    except WorldError:
        return ""
    account = now.accounts.get(team.name)
    return "" if account is None else share_words(account)


def _program(opened: Opened, name: str, kind: str) -> ProgramView:
    """How a fleet or a gang stands; one whose engine has ended is not running, whatever its events say."""
    view = fold_program(read_events(opened.bucket(), opened.team.name, name), name, kind)
    if view.state is ProgramState.RUNNING and _engine(opened, name) is None:
        return replace(view, state=ProgramState.STOPPED, up={}, message=None)
    return view


def _engine(opened: Opened, name: str) -> EngineDescription | None:
    """The engine on this machine that runs it, if there is one."""
    place = opened.bucket_identity, opened.team.name
    engines = living_engines(state_folder(os.environ))
    return next(
        (each for each in engines if name in each.campaigns and (each.bucket, each.team) == place), None
    )


def _of_file(
    file: HasNeed,
    name: str,
    kind: str,
    platform: Platform,
    seen: Seen,
    *,
    shares: Mapping[str, ShareHere] = NO_SHARES,
) -> Answer:
    chosen, here = seen.chosen, seen.chosen.is_here
    world = chosen.decided_by(platform.versions.kubernetes).without_errors()
    asked = asked_of(file, platform, world, here=here)
    if asked.claim is None:
        return Answer(name, kind, None, asked.given_up, world=chosen.name)
    world = replace(world, classes={**asked.classes, **world.classes})
    claim, world, in_parts = _shared(asked, asked.claim, shares or asked.shares, world)
    told = why(
        claim,
        world,
        _holdings(world, seen, in_parts=in_parts),
        others=() if in_parts else asked.others,
        together=file.min if isinstance(file, Gang) else 1,
    )
    return Answer(name, kind, told, asked.given_up, world=chosen.name)


def _shared(
    asked: Asked, claim: ClaimSpec, shares: Mapping[str, ShareHere], world: World
) -> tuple[ClaimSpec, World, bool]:
    """The claim and the world as this machine's engine sees them that gives out parts of cards."""
    if not asked.shares or not shares:
        return claim, world, False
    parts = {name: each.share for name, each in shares.items()}
    sized_claim, _ = sized(claim, parts, memory_of_cards(world))
    return sized_claim, shareable(world), True


def _holdings(world: World, seen: Seen, *, in_parts: bool) -> tuple[Holding, ...]:
    if not seen.chosen.is_here:
        return holdings_of(world)
    try:
        whole, shares = seen.ledger.state()
    except WorldError:
        if seen.ledger.folder.exists():
            raise
        return holdings_of(world)  # nobody has pretended to be there yet
    return holdings_of(world, whole, shares, in_parts=in_parts)


def _of_claims(path: Path, seen: Seen) -> list[Answer]:
    """A file of claims and templates of a cluster."""
    reading = read_files([path])
    read = reading.without_errors()
    found = [("claim", each.name, each.spec) for each in read.claims]
    found += [("claim template", each.name, each.spec) for each in read.templates]
    if not found:
        raise UsageError(
            "the file holds no claim",
            where=str(path),
            remedy="name a file of ResourceClaims or ResourceClaimTemplates, or of a repository's need",
        )
    world = seen.chosen.without_errors()
    world = replace(world, classes={**read.classes, **world.classes})
    holdings = _holdings(world, seen, in_parts=False)
    of = seen.chosen.name
    return [
        Answer(name, kind, why(spec, world, holdings, is_need=False), world=of) for kind, name, spec in found
    ]


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml", ".json")) or "/" in name


def _located(root: Path, name: str) -> tuple[Path, str]:
    """The folder of the file and its name without the ending."""
    if _is_file(name):
        path = Path(name) if Path(name).exists() else root / name
        if path.parent.name in KINDS and path.is_file():
            return path.parent, path.stem
        raise UsageError(f"there is no file {name}", remedy="name a file of a need, or of claims")
    for kind in KINDS:
        if (root / kind / f"{name}.yaml").is_file():
            return root / kind, name
    known = [path.stem for kind in KINDS for path in (root / kind).glob("*.yaml")]
    words = "campaign, fleet, gang or pipeline"
    hint = did_you_mean(name, known) or "go to a repository, or name one with -C"
    raise UsageError(f"there is no {words} `{name}`", where=str(root.resolve()), remedy=hint)
