"""The scene of a plan: where, what, and how long it takes.

Files are rendered for the cluster and read back: claims, queues and labels are those that `allot apply`
would send. So a simulation decides on the same as the schedulers would be given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.kueue_state import claim_reader
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.context import namespace_of, release_of
from allotment.needs.claim import by_known_class
from allotment.planning.scenes.asks import Asks
from allotment.planning.scenes.counted_gpus import SAID, as_counted, asks_for_parts
from allotment.planning.scenes.ground import Ground, ground_of
from allotment.planning.scenes.kai_claims import uncounted
from allotment.planning.scenes.lost_templates import lost_templates
from allotment.planning.scenes.owners import Owner
from allotment.planning.scenes.parties import Party, parties_of
from allotment.planning.scenes.quota_bounds import in_no_quota, quota_bounds
from allotment.planning.scenes.stage import Stage, staged
from allotment.planning.scenes.standing import Standing, standing_of
from allotment.planning.scenes.taken_for import features, paces, without_jobs
from allotment.planning.scenes.times import Found, gang_times, times_for
from allotment.planning.scenes.values import NOTHING_KNOWN, Assumption, Choices, Known, Place, Scene, Source
from allotment.planning.scenes.works import GANG_RECIPE, Maker
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository
from allotment.scheduling.default import Settings as DefaultSettings
from allotment.scheduling.default.settings import gangs_of, is_early
from allotment.simulation.run_times import Times
from allotment.simulation.setting import Scheduler, Setting, TeamShare, WindowPace
from allotment.simulation.work import Work

FREELY: Final = Choices()
GROWS_SINCE: Final = (0, 19)
_WITH_WINDOWS: Final = frozenset({Scheduler.KUEUE, Scheduler.BOTH})


def scene_for(
    repository: Repository,
    platform: Platform,
    team: Team,
    place: Place,
    *,
    scheduler: Scheduler | str | None = None,
    names: Sequence[str] = (),
    known: Known = NOTHING_KNOWN,
    choices: Choices = FREELY,
    now: float = 0.0,
    beside: Sequence[tuple[Repository, Team]] = (),
) -> Scene:
    """The scene in which the named campaigns, fleets and gangs (none: all) are sent ``now``.

    ``scheduler`` decides instead of the platform's; ``beside`` are other teams' repositories that are sent at
    the same time. AllotmentError for a need that cannot be had.
    """
    chosen = scheduler_of(platform, scheduler)
    stage = staged(platform, place, chosen)
    parties = parties_of(stage, (only(repository, names), team), known, beside)
    stage = stage.with_objects(tuple(each for party in parties for each in party.rendered.objects))
    stage = stage.with_objects(lost_templates(stage))
    asks = asks_of(stage)
    teams = {namespace_of(each): each.name for each in platform.teams.values()}
    mine = frozenset(_owner(each) for party in parties for each in party.owners)
    standing = standing_of(stage, asks, mine, teams, choices)
    if place.is_here and platform.engine == "local":
        choices = without_jobs(choices)
    works = tuple(_works(stage, parties, asks, standing, choices.pace.sending))
    if place.is_here and platform.engine == "local":
        works = tuple(map(_run_here, works))
    ground = ground_of(stage, standing.placed)
    told: list[Assumption] = [*stage.assumptions, *standing.assumptions]
    if chosen in {Scheduler.KAI, Scheduler.BOTH} and asks_for_parts(works):
        ground, works = as_counted(ground, works)
        told.append(SAID)
    found = times_for(
        [party.played(works) for party in parties],
        _cards(works, asks, ground),
        longest_page=float(platform.defaults.page_seconds),
        load=choices.pace.model_load,
    )
    found.otherwise |= standing.times
    _other_times(found, works)
    told += found.assumptions
    told += features(stage.platform, [party.repository for party in parties], chosen, choices)
    told += paces(choices, chosen, works)
    if place.is_here:
        told.append(_here(platform, chosen))
    notes = [*place.world.notes, *known.notes, *ground.notes]
    notes += [str(note) for party in parties for note in party.rendered.notes]
    if not (place.is_here and platform.engine == "local"):
        notes += uncounted(works, stage.world, chosen, platform.versions.kai)
    setting = _setting(stage, ground, platform, standing.shares, choices)
    notes += (*quota_bounds(works, stage.snapshot, chosen, setting.teams), *in_no_quota(stage))
    return Scene(
        setting=setting,
        works=works,
        run_times=found.run_times(),
        assumptions=tuple(dict.fromkeys(told)),
        notes=tuple(dict.fromkeys(notes)),
        name=place.name,
        now=now or stage.snapshot.time,
    )


def scheduler_of(platform: Platform, asked: Scheduler | str | None) -> Scheduler:
    """Who decides: who was asked for, or whom the platform has.

    The engine of one machine shares out as KAI does where teams have quotas, and else takes what comes first.
    """
    if asked is not None:
        return Scheduler(asked)
    if platform.engine != "local":
        return Scheduler(platform.scheduler)
    shared = any(
        each.queue.quota is not None or each.queue.limit is not None for each in platform.teams.values()
    )
    return Scheduler.KAI if shared else Scheduler.DEFAULT


def only(repository: Repository, names: Sequence[str]) -> Repository:
    """The repository with what is named alone."""
    if not names:
        return repository
    return replace(
        repository,
        campaigns={name: each for name, each in repository.campaigns.items() if name in names},
        fleets={name: each for name, each in repository.fleets.items() if name in names},
        gangs={name: each for name, each in repository.gangs.items() if name in names},
    )


def _owner(value: Object) -> Owner:
    return str(value["metadata"].get("namespace") or ""), str(value["metadata"]["name"])


def asks_of(stage: Stage) -> Asks:
    """What reads templates of pods on a stage."""
    known = {(each.namespace, each.name) for each in stage.world.claims}
    of_claims = (
        *stage.snapshot.of(kinds.CLAIM_TEMPLATE),
        *(each for each in stage.snapshot.of(kinds.CLAIM) if _owner(each) not in known),
    )
    read = world_of(replace(stage.snapshot, objects=of_claims)).world
    with_kueue = stage.scheduler in _WITH_WINDOWS
    return Asks(
        stage.world,
        {f"{each.namespace}/{each.name}": each.spec for each in read.templates},
        {f"{each.namespace}/{each.name}": each.spec for each in (*stage.world.claims, *read.claims)},
        claim_reader(stage.snapshot, stage.platform, stage.world) if with_kueue else None,
    )


def _works(
    stage: Stage, parties: Sequence[Party], asks: Asks, standing: Standing, sending: float
) -> Iterator[Work]:
    """The works of all parties, the planned ones first, each with a name of its own; then what stands."""
    names: set[str] = set()
    for party in parties:
        maker = Maker(
            party.repository,
            stage.platform,
            party.team,
            party.rendered.objects,
            asks,
            party.known,
            standing.live,
            planned=not party.is_beside,
            keys=party.keys,
            sending=sending,
        )
        for work in maker.works(()):
            name = work.name if work.name not in names else f"{work.name} of {party.team.name}"
            names.add(name)
            yield replace(work, name=name)
    yield from standing.works


def _cards(works: Sequence[Work], asks: Asks, ground: Ground) -> Mapping[str, frozenset[str]]:
    """The kinds of card that works of each recipe may get: by their claims, or any that is there."""
    any_card = frozenset({*ground.cards.values(), *ground.card_of_node.values()})
    found: dict[str, frozenset[str]] = {}
    for work in works:
        its = asks.cards_for(work.ask) or any_card
        found[work.recipe] = found.get(work.recipe, frozenset()) | its
    return found


def _other_times(found: Found, works: Sequence[Work]) -> None:
    """Times of gangs that state none, and of campaigns of others, whose recipes nobody here knows."""
    for work in works:
        if work.recipe.startswith(GANG_RECIPE):
            times: Times = gang_times()
            found.otherwise[work.recipe] = times
            subject = f"how long gang {work.name} runs"
            remedy = "write `duration: 2h` into its file"
            found.assumptions.append(Assumption(subject, "about 1 h", Source.GUESS, times.said, None, remedy))
        elif work.recipe and any(unit.pages == 0 for unit in work.units):
            found.pages.setdefault(work.recipe, found.some_pages())


def _setting(
    stage: Stage, ground: Ground, platform: Platform, others: Mapping[str, TeamShare], choices: Choices
) -> Setting:
    shares = {each.name: _share(each) for each in platform.teams.values()}
    gangs = stage.real is not None and any(stage.real.of(kind) for kind in kinds.GANG_POD_GROUPS)
    release = release_of(stage.snapshot.version or platform.versions.kubernetes)
    version = (release[0], release[1]) if len(release) > 1 else (1, 36)
    window = WindowPace(
        minimum_runtime=float(platform.defaults.minimum_runtime),
        grows=release_of(platform.versions.kueue)[:2] >= GROWS_SINCE,
    )
    return Setting(
        scheduler=stage.scheduler,
        state=ground.state,
        teams={**others, **shares},
        cards=ground.cards,
        card_of_node=ground.card_of_node,
        pace=choices.pace,
        chances=choices.chances,
        default=DefaultSettings(gangs=gangs_of(version, enabled=gangs), is_early=is_early(version)),
        kueue=ground.kueue,
        kai=ground.kai,
        window=window if choices.window and stage.scheduler in _WITH_WINDOWS else None,
    )


def _share(team: Team) -> TeamShare:
    queue = team.queue
    return TeamShare(
        team.name, namespace_of(team), team.name, team.name, queue.quota, float(queue.weight), queue.limit
    )


def _run_here(work: Work) -> Work:
    """Work as the engine of a machine runs it: no image is pulled, and a worker has a processor at least.

    It claims slices by the class that is there, and not by the one that KAI would count.
    """
    request = work.ask.request
    cores = max(request.cpu, 1000.0 if not work.ask.claims else 0.0)
    claims = tuple(replace(each, spec=by_known_class(each.spec)) for each in work.ask.claims)
    return replace(work, image="", ask=replace(work.ask, claims=claims, request=replace(request, cpu=cores)))


def _here(platform: Platform, scheduler: Scheduler) -> Assumption:
    said = (
        "shares are lent and taken back as KAI does"
        if scheduler is Scheduler.KAI
        else "what comes first is served first"
    )
    subject = "the engine of this machine" if platform.engine == "local" else "this machine as a cluster"
    return Assumption(subject, f"modelled by `{scheduler}`", Source.DEFAULT, said)
