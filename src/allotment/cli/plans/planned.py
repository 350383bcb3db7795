"""What `allot plan` is asked: files and a world into a plan, with what is held against what.

A cluster is read twice: as whoever looks at it reads it, for the simulation, and as an apply does, for what
would be sent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace

from allotment.cli.cluster import client_for
from allotment.cli.plans.grounds import Grounds
from allotment.cli.words import span
from allotment.devices.ledger import Ledger
from allotment.errors import UsageError
from allotment.kubernetes.apply.groups import repository_id
from allotment.kubernetes.apply.reading import read_live
from allotment.kubernetes.apply.scene import Wish
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.render.context import context_for
from allotment.planning.plan.changes import (
    changes_in_bucket,
    changes_on,
    changes_since,
    planned_names,
    sending_of,
)
from allotment.planning.plan.fitting import fits_of
from allotment.planning.plan.locally import as_run_here, said_here, waits_here
from allotment.planning.plan.plan import Changes, Fits, Plan, Seen, WorkPlan
from allotment.planning.plan.planning import plan_for
from allotment.planning.plan.question import Question
from allotment.planning.plan.seen import files_seen, platform_seen, steps_seen, world_seen
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Choices
from allotment.planning.why.room import holdings_of
from allotment.planning.why.why import State
from allotment.platform.model import plain_location
from allotment.repository.files import CAMPAIGNS, FLEETS, GANGS, PIPELINES
from allotment.repository.git import Git, NotComparedError
from allotment.repository.model import HasNeed, Repository
from allotment.simulation.many import Told, untold
from allotment.simulation.setting import Chances, Pace

LOCAL = "local"
OLD = 3600.0


def planned(
    found: Grounds,
    question: Question,
    *,
    inputs: tuple[Pace, Chances],
    base: str | None,
    now: float,
    told: Told = untold,
) -> Plan:
    """The plan."""
    changes, steps = _changes(found, base)
    names = tuple(name for name in planned_names(changes) if not found.names or name in found.names)
    fits, caveats = _fits(found, names)
    never = [name for name in names if name in fits and fits[name].state is State.NEVER]
    question = replace(
        question,
        prices=found.platform.prices.hour,
        currency=found.platform.prices.currency,
        fits=fits,
        caveats=caveats,
        notes=_notes(found, now),
    )
    seen = Seen(
        files_seen(found.repository),
        platform_seen(found.platform),
        world_seen(found.chosen.world, found.chosen.snapshot),
        steps,
        found.on_cluster and found.asked.cluster is not None and base is None,
    )
    playable = [name for name in names if name not in never]
    repository, said = as_run_here(found.repository, found.chosen.world, here=found.is_run_here)
    if not playable:
        plan = _unplayed(found, changes, question, seen, now)
    else:
        scene = scene_for(
            repository,
            found.platform,
            found.team,
            found.place,
            scheduler=found.scheduler,
            names=playable,
            known=found.known,
            choices=Choices(*inputs),
            now=now,
            beside=found.beside,
        )
        if found.is_run_here:
            scene = replace(scene, notes=(*said_here(scene.notes), *said))
        plan = plan_for(scene, changes, question, team=found.team.name, seen=seen, told=told)
        if found.is_run_here:
            plan = replace(plan, works=waits_here(plan.works, found.chosen.world))
    if found.is_run_here and found.scheduler is None:
        plan = replace(plan, scheduler=LOCAL)
    return replace(plan, works=(*plan.works, *(_never(found, name, fits[name]) for name in never)))


def _changes(found: Grounds, base: str | None) -> tuple[Changes, dict[str, str]]:
    """What changes, and what an apply would send by digest."""
    if base is not None:
        return _since(found, base), {}
    if found.on_cluster:
        return _on_cluster(found)
    known = found.known
    changes = changes_in_bucket(found.repository, found.bucket, known.complete, failed=known.failed)
    return changes, {}


def _since(found: Grounds, base: str) -> Changes:
    try:
        kinds = (CAMPAIGNS, PIPELINES, FLEETS, GANGS)
        earlier = Git(found.opened.root, os.environ).earlier(kinds, base)
    except NotComparedError as error:
        raise UsageError(error.reason, where="--base", remedy=error.hint) from None
    return changes_since(earlier, found.repository)


def _on_cluster(found: Grounds) -> tuple[Changes, dict[str, str]]:
    """What an apply would change; of a snapshot, as far as it tells."""
    context = context_for(found.platform, found.team)
    address = found.team.repository or Git(found.opened.root, os.environ).remote()
    mark = repository_id(None if address is None else plain_location(address))
    wish = Wish(found.repository, mark, is_whole=not found.names)
    snapshot = found.chosen.snapshot or Snapshot(0.0, ())
    if found.asked.cluster is None:
        sending = sending_of(context, wish, snapshot)
        return changes_on(sending, found.chosen.name, exact=False), {}
    live = read_live(client_for(found.asked.cluster), context, time.time)
    sending = sending_of(context, wish, live)
    return changes_on(sending, found.chosen.name, exact=True), steps_seen(sending)


def _notes(found: Grounds, now: float) -> tuple[str, ...]:
    """What there is to say of what is known, of a world without devices, and of one as it once stood."""
    notes = [*found.known.notes]
    snapshot = found.chosen.snapshot
    if not found.chosen.world.slices:
        notes.append("no devices are published there, so that it is not told which would do")
    if snapshot is not None and snapshot.is_dated and now - snapshot.time > OLD:
        notes.append(f"the cluster is taken to be as it was {span(now - snapshot.time)} ago")
    return tuple(notes)


def _fits(found: Grounds, names: Sequence[str]) -> tuple[dict[str, Fits], tuple[str, ...]]:
    """Which devices would do for each work, and what to beware of."""
    told: dict[str, Fits] = {}
    caveats: list[str] = []
    here = found.chosen.is_here
    world = found.chosen.without_errors()
    if not world.slices:
        return {}, ()
    holdings = holdings_of(world, *Ledger().state()) if here else None
    version = found.chosen.snapshot.version if found.chosen.snapshot is not None else ""
    for name in names:
        fits, beware = fits_of(
            name,
            _needing(found.repository, name),
            found.platform,
            world,
            here=here,
            version=version or found.platform.versions.kubernetes,
            holdings=holdings,
        )
        caveats += beware
        if fits is not None:
            told[name] = fits
    return told, tuple(caveats)


def _needing(repository: Repository, name: str) -> HasNeed:
    campaign = repository.campaigns.get(name)
    if campaign is not None:
        return repository.pipelines[campaign.pipeline]
    fleet = repository.fleets.get(name)
    return repository.gangs[name] if fleet is None else fleet


def _never(found: Grounds, name: str, fits: Fits) -> WorkPlan:
    """What never fits, as a plan of it."""
    repository, team = found.repository, found.team.name
    campaign = repository.campaigns.get(name)
    if campaign is not None:
        count = len(campaign.volumes)
        window = campaign.window
        return WorkPlan(
            name, team, "campaign", count, count, uncounted=count,
            least=window.min, most=window.max, fits=fits, never=fits.obstacle,
        )  # fmt: skip
    fleet = repository.fleets.get(name)
    if fleet is not None:
        copies = fleet.replicas
        return WorkPlan(
            name, team, "fleet", least=copies.min, most=copies.max, fits=fits, never=fits.obstacle
        )
    gang = repository.gangs[name]
    return WorkPlan(name, team, "gang", least=gang.min, most=gang.workers, fits=fits, never=fits.obstacle)


def _unplayed(found: Grounds, changes: Changes, question: Question, seen: Seen, now: float) -> Plan:
    """A plan of which nothing is played: nothing changes, or nothing of it ever runs."""
    return Plan(
        world=found.chosen.name,
        at=now,
        scheduler=found.platform.scheduler,
        team=found.team.name,
        changes=changes,
        seed=question.seed,
        until=question.until,
        currency=question.currency,
        caveats=question.caveats,
        notes=question.notes,
        seen=seen,
    )
