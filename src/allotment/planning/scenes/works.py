"""Campaigns, fleets and gangs as works: what is rendered for the cluster, with their units.

Widths, gangs, topology and claims are read from the rendered Job or Deployment, so that a simulation is given
what a cluster would be. What the bucket shows complete, and what a live Job has finished, is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.kubernetes import kinds
from allotment.kubernetes.apply.memory import is_prepare
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.names import PREFIX, cut, job_name
from allotment.kubernetes.render.parts import Part, parts_of
from allotment.kubernetes.render.placing import KAI_TOPOLOGY
from allotment.planning.scenes.asks import Asks
from allotment.planning.scenes.pages import pages_of
from allotment.planning.scenes.values import Known
from allotment.platform.model import Platform, Team
from allotment.repository.model import Campaign, Fleet, Gang, Repository, Volume
from allotment.repository.recipe import recipe_of
from allotment.scheduling.kai.grouping import PREFERRED, REQUIRED
from allotment.scheduling.state.pod_groups import Together
from allotment.simulation.work import Kind, Running, Unit, Work

GANG_RECIPE: Final = "gang/"
"""Before the name of a gang whose duration nobody states: the key of its run times."""


@dataclass(frozen=True, slots=True)
class LiveJob:
    """What a Job of this name on the cluster has come to: indexes that are over, and pods that run, by index.

    One that is ``over`` has nothing left to do, and is not created again. ``arrival`` is when it was sent, at
    most 0, if it was.
    """

    done: frozenset[int] = frozenset()
    running: Mapping[int, Running] = field(default_factory=dict)
    over: bool = False
    arrival: float | None = None


NOT_SENT: Final[Mapping[tuple[str, str], LiveJob]] = {}
_NEW: Final = LiveJob()


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes works of one team's rendered objects. ``live`` are Jobs that are there, by namespace and name.

    What is not there yet is sent one after the other, by name, so many seconds apart (``sending``).
    ``keys`` are those of run times by pipeline, where it is not its recipe.
    """

    repository: Repository
    platform: Platform
    team: Team
    objects: tuple[Object, ...]
    asks: Asks
    known: Known
    live: Mapping[tuple[str, str], LiveJob] = field(default_factory=lambda: NOT_SENT)
    planned: bool = True
    sending: float = 0.0
    keys: Mapping[str, str] = field(default_factory=dict)

    def works(self, names: Sequence[str]) -> Iterator[Work]:
        """The works of these names, or of all, in the order in which they are sent."""
        sent = 0
        for job, work in self._works(names):
            arrival = self.live.get(_name(job), _NEW).arrival
            if arrival is None:
                arrival = sent * self.sending
                sent += 1
            yield replace(work, arrival=arrival)

    def _works(self, names: Sequence[str]) -> Iterator[tuple[Object, Work]]:
        """Each with its Job or Deployment."""
        repository = self.repository
        for campaign in repository.campaigns.values():
            if not campaign.suspend and (not names or campaign.name in names):
                yield from self._campaign(campaign)
        for fleet in repository.fleets.values():
            if not names or fleet.name in names:
                yield from self._fleet(fleet)
        for gang in repository.gangs.values():
            if not names or gang.name in names:
                yield from self._gang(gang)

    def _campaign(self, campaign: Campaign) -> Iterator[tuple[Object, Work]]:
        """A work for each part that has anything left to do."""
        jobs = self._jobs("campaign", campaign.name)
        volumes = campaign.volumes
        for part in parts_of(campaign):
            name = job_name(campaign.name, part.number)
            here, volumes = volumes[: part.volumes], volumes[part.volumes :]
            if name in jobs and (work := self._part(campaign, part, here, jobs[name])) is not None:
                yield jobs[name], work

    def _part(self, campaign: Campaign, part: Part, volumes: Sequence[Volume], job: Object) -> Work | None:
        pipeline = self.repository.pipelines[campaign.pipeline]
        recipe = recipe_of(pipeline)
        live = self.live.get(_name(job), _NEW)
        if live.over:
            return None
        units: list[Unit] = []
        running: list[Running] = []
        for index, pack in enumerate(_packs(volumes, campaign.pack)):
            left = self._units(pipeline.id, pack, keep=campaign.pack > 1)
            if index in live.done or not left:
                continue
            if index in live.running:
                stands = live.running[index]
                number = len(units) // campaign.pack
                running.append(Running(number, stands.node, stands.devices, stands.since))
            units += left
        if not units:
            return None
        indexes = -(-len(units) // campaign.pack)
        most = min(campaign.window.max, indexes)
        defaults = self.platform.defaults
        lane = self.platform.lanes[campaign.priority]
        return Work(
            name=campaign.name if part.number == 1 else f"{campaign.name}-part{part.number}",
            team=self.team.name,
            kind=Kind.CAMPAIGN,
            ask=self.asks.of(job["spec"]["template"], namespace_of(self.team), most),
            units=tuple(units),
            least=min(campaign.window.min, most),
            most=most,
            priority=lane.value,
            preemptible=lane.preemptible,
            pack=campaign.pack,
            together=together_of(job),
            recipe=self.keys.get(pipeline.id, recipe),
            image=pipeline.image or "",
            retries=defaults.retries,
            reclaims=defaults.reclaims,
            grace=float(defaults.grace_seconds),
            max_seconds=float(pipeline.max_seconds),
            planned=self.planned,
            running=tuple(running),
        )

    def _units(self, pipeline: str, volumes: Sequence[Volume], *, keep: bool) -> list[Unit]:
        """What is left of a pack; with ``keep`` complete volumes stay beside others: packs stay packs.

        A volume that lacks nothing but its manifest is opened once more, which is taken for a page of it.
        """
        known = self.known
        complete = known.complete.get(pipeline, frozenset()) | known.failed.get(pipeline, frozenset())
        if all(volume.id in complete for volume in volumes):
            return []
        found = []
        for volume in volumes:
            pages = pages_of(volume, self.known)
            if volume.id not in complete:
                done = self.known.begun.get((pipeline, volume.id), 0)
                found.append(Unit(volume.id, pages, min(done, pages - 1) if pages else done))
            elif keep:
                found.append(Unit(volume.id, 1, 1))
        return found

    def _fleet(self, fleet: Fleet) -> Iterator[tuple[Object, Work]]:
        found = self._made(kinds.DEPLOYMENT.name, cut(fleet.name, 52))
        if found is None:
            return
        copies = int(found["spec"]["replicas"])
        running = self.live.get(_name(found), _NEW).running.values()
        yield (
            found,
            Work(
                name=fleet.name,
                team=self.team.name,
                kind=Kind.FLEET,
                ask=self.asks.of(found["spec"]["template"], namespace_of(self.team), copies),
                least=copies,
                most=copies,
                priority=self.platform.lanes[fleet.priority].value,
                preemptible=fleet.preemptible,
                together=together_of(found),
                image=fleet.image or "",
                grace=float(self.platform.defaults.grace_seconds),
                planned=self.planned,
                running=tuple(sorted(running, key=lambda each: each.number))[:copies],
            ),
        )

    def _gang(self, gang: Gang) -> Iterator[tuple[Object, Work]]:
        job = self._jobs("gang", gang.name).get(job_name(gang.name))
        live = _NEW if job is None else self.live.get(_name(job), _NEW)
        if job is None or live.over or len(live.done) >= gang.workers:
            return
        running = live.running.values()
        seconds = None if gang.duration is None else float(gang.duration)
        yield (
            job,
            Work(
                name=gang.name,
                team=self.team.name,
                kind=Kind.GANG,
                ask=self.asks.of(job["spec"]["template"], namespace_of(self.team), gang.workers),
                units=(Unit(gang.name, 1, seconds=seconds),),
                least=gang.min,
                most=gang.workers,
                priority=self.platform.lanes[gang.priority].value,
                preemptible=gang.preemptible and self.platform.lanes[gang.priority].preemptible,
                together=together_of(job),
                recipe="" if seconds is not None else f"{GANG_RECIPE}{gang.name}",
                image=gang.image or "",
                retries=self.platform.defaults.retries,
                reclaims=self.platform.defaults.reclaims,
                grace=float(self.platform.defaults.grace_seconds),
                max_seconds=float("inf"),
                planned=self.planned,
                running=tuple(sorted(running, key=lambda each: each.number)),
            ),
        )

    def _jobs(self, what: str, name: str) -> Mapping[str, Object]:
        return {
            each["metadata"]["name"]: each
            for each in self.objects
            if each["kind"] == kinds.JOB.name
            and (each["metadata"].get("labels") or {}).get(f"{PREFIX}{what}") == name
            and not is_prepare(each)
        }

    def _made(self, kind: str, name: str) -> Object | None:
        return next(
            (each for each in self.objects if each["kind"] == kind and each["metadata"]["name"] == name), None
        )


def together_of(value: Object) -> Together | None:
    """Which pods KAI keeps together, by the annotations of their owner."""
    notes: Mapping[str, Any] = value["metadata"].get("annotations") or {}
    topology, required, preferred = (notes.get(key) for key in (KAI_TOPOLOGY, REQUIRED, PREFERRED))
    if not topology or not (required or preferred):
        return None
    return Together(topology, required, preferred)


def _packs(volumes: Sequence[Volume], pack: int) -> Iterator[Sequence[Volume]]:
    return (volumes[start : start + pack] for start in range(0, len(volumes), pack))


def _name(value: Object) -> tuple[str, str]:
    return str(value["metadata"].get("namespace") or ""), str(value["metadata"]["name"])
