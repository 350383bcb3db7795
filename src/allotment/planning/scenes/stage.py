"""The objects that decide: those of the cluster, and what the platform's file would put beside them.

Whoever has a cluster's objects plans on its queues; of a fleet in words, of files of devices and of this
machine the platform's file says which queues there would be. What the cluster has no kind of at all (KAI's
queues on a cluster with Kueue, for a comparison), and what a file of it was not asked for, is taken from the
platform's file too, and said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from allotment.devices.classes import DeviceClass
from allotment.devices.world import World
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.reading import NOT_SERVED
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE, surer
from allotment.kubernetes.kinds import Kind, Object
from allotment.kubernetes.render.platform import render_platform
from allotment.needs.cards import classes_for
from allotment.needs.ways.choosing import able
from allotment.planning.scenes.values import Assumption, Place, Source
from allotment.platform.model import Platform
from allotment.simulation.setting import Scheduler

PLAYED_AS: Final = {Scheduler.SIMPLE: "default"}
"""What is rendered for a scheduler that has no objects of its own."""
_KUEUE: Final = (
    kinds.CLUSTER_QUEUE, kinds.COHORT, kinds.LOCAL_QUEUE, kinds.FLAVOR, kinds.KUEUE_TOPOLOGY
)  # fmt: skip
_KAI: Final = (kinds.KAI_QUEUE, kinds.KAI_TOPOLOGY, kinds.KAI_SHARD)
_ALWAYS: Final = (kinds.NAMESPACE, kinds.PRIORITY_CLASS, kinds.WORKLOAD_PRIORITY, kinds.DEVICE_CLASS)


@dataclass(frozen=True, slots=True)
class Stage:
    """``snapshot`` holds the objects but for devices, which are in the ``world``; ``real`` is the cluster's.

    ``platform`` is the platform's file as it is rendered for the scheduler; ``is_here``: on this machine.
    """

    scheduler: Scheduler
    platform: Platform
    snapshot: Snapshot
    world: World
    real: Snapshot | None = None
    assumptions: tuple[Assumption, ...] = ()
    is_here: bool = False

    def with_objects(self, more: tuple[Object, ...]) -> Stage:
        """The stage with more objects, in the place of those of the same kind and name."""
        return replace(self, snapshot=_with(self.snapshot, more))


def staged(platform: Platform, place: Place, scheduler: Scheduler) -> Stage:
    """The objects for a scheduler at a place."""
    rendered = render_platform(platform, PLAYED_AS.get(scheduler, str(scheduler)))
    settings = [each.value for each in rendered.settings if each.value.get("kind") == kinds.KAI_SHARD.name]
    wanted = (*rendered.objects, *settings)
    chosen = replace(platform, engine="kubernetes", scheduler=PLAYED_AS.get(scheduler, str(scheduler)))
    if place.snapshot is None:
        snapshot = Snapshot(0.0, tuple(wanted), name=place.name, version=platform.versions.kubernetes)
        world = _with_classes(place.world, chosen)
        told = tuple(_of_file(place, scheduler))
        return Stage(scheduler, chosen, snapshot, world, None, told, place.is_here)
    added = tuple(_lacking(place.snapshot, wanted))
    told = tuple(_added(place.snapshot, added))
    return Stage(
        scheduler,
        chosen,
        _with(place.snapshot, added),
        _with_classes(place.world, chosen),
        place.snapshot,
        told,
    )


def _lacking(snapshot: Snapshot, wanted: tuple[Object, ...]) -> Iterator[Object]:
    """Of what is rendered: all of a scheduler that the cluster has no queues of, and single classes."""
    without = {
        kind
        for has, group in ((kinds.CLUSTER_QUEUE, _KUEUE), (kinds.KAI_QUEUE, _KAI))
        if not snapshot.of(has)
        for kind in group
    }
    for each in wanted:
        kind = _kind_of(each)
        is_there = kind is None or snapshot.named(kind, str(each["metadata"]["name"])) is not None
        if kind in without or (kind in _ALWAYS and not is_there):
            yield each


def _kind_of(value: Object) -> Kind | None:
    return next(
        (
            kind
            for kind in (*_KUEUE, *_KAI, *_ALWAYS)
            if (kind.name, kind.api_version) == (value["kind"], value["apiVersion"])
        ),
        None,
    )


def _with(snapshot: Snapshot, more: tuple[Object, ...]) -> Snapshot:
    keys = {_key(each) for each in more}
    kept = tuple(each for each in snapshot.objects if _key(each) not in keys)
    told = {(each["apiVersion"], each["kind"]) for each in more}
    missing = tuple(
        each
        for each in snapshot.missing
        if each.why != NOT_IN_FILE or (each.kind.api_version, each.kind.name) not in told
    )
    return replace(snapshot, objects=(*kept, *more), missing=missing)


def _key(value: Object) -> tuple[str, str, str, str]:
    meta = value["metadata"]
    return value["apiVersion"], value["kind"], meta.get("namespace") or "", meta["name"]


def _with_classes(world: World, platform: Platform) -> World:
    """The world with the platform's own device classes, where the cluster has none of these names."""
    named = classes_for(platform.cards, by_name=able(platform).by_name)
    own: dict[str, DeviceClass] = {each.name: each for each in named}
    return replace(world, classes={**own, **world.classes}, notes=())


def _of_file(place: Place, scheduler: Scheduler) -> Iterator[Assumption]:
    if scheduler in {Scheduler.KUEUE, Scheduler.KAI, Scheduler.BOTH}:
        said = "the queues are those that `allot render --platform-objects` makes of the platform's file"
        yield Assumption("queues", f"as rendered, on {place.name}", Source.STATED, said)
    if not place.world.nodes and not place.is_here:
        said = "nodes of a described fleet and of files without Node objects hold any number of pods"
        yield Assumption("cores and memory of nodes", "unbounded", Source.DEFAULT, said)


def _added(snapshot: Snapshot, added: tuple[Object, ...]) -> Iterator[Assumption]:
    names = {each["kind"] for each in added}
    for kind, who in ((kinds.CLUSTER_QUEUE, "Kueue"), (kinds.KAI_QUEUE, "KAI")):
        if kind.name in names:
            said = f"{_why_not(snapshot, kind, who)}: they are taken as the platform's file says"
            yield Assumption(f"queues of {who}", "as rendered", Source.STATED, said)
    classes = sorted(str(each["metadata"]["name"]) for each in added if each["kind"] == "DeviceClass")
    if classes:
        lacks = "tells of none" if snapshot.lacks(kinds.DEVICE_CLASS) == NOT_IN_FILE else "does not have them"
        said = f"{snapshot.name} {lacks}: they are taken as rendered"
        yield Assumption("device classes", ", ".join(classes), Source.STATED, said)


def _why_not(snapshot: Snapshot, kind: Kind, who: str) -> str:
    """Why there are no queues of a scheduler's, as far as is known."""
    lacks = snapshot.lacks(kind)
    if lacks is None or lacks.startswith(NOT_SERVED):
        return f"{snapshot.name} has no queues of {who}'s"
    if lacks == NOT_IN_FILE:
        its = (kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE) if kind == kinds.CLUSTER_QUEUE else (kind,)
        return f"no queues of {who}'s are in {snapshot.name} ({surer(*its)})"
    return f"queues of {who}'s are {lacks} on {snapshot.name}"


def as_cluster(stage: Stage, now: float) -> Snapshot:
    """The stage as a snapshot of its own: with its devices and the nodes that the world knows."""
    if stage.real is not None:
        return stage.snapshot
    world = stage.world
    objects: list[Object] = [each.to_dict() for each in world.slices]
    objects += [each.to_dict() for each in world.classes.values()]
    objects += [each.to_dict() for each in world.nodes.values()]
    return replace(_with(stage.snapshot, tuple(objects)), time=now)
