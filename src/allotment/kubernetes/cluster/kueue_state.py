"""A snapshot as the state that Kueue's model decides on.

Objects are read as the model's own readers read them; one that cannot be read is left out, and a note says
so, for a cluster may hold what nobody has foreseen. Claims are charged by the templates, classes and slices
of the snapshot. Nodes matter to Kueue only where a Topology is there. Facts: Kueue 0.19 and 0.20.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.devices.world import World
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.desk import ODD, Desk
from allotment.kubernetes.cluster.kueue_config import Configured, configured
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import PREFIX
from allotment.platform.model import Platform
from allotment.scheduling.kueue import Settings
from allotment.scheduling.kueue.dra.charging import Charger
from allotment.scheduling.kueue.dra.claimed import ClaimReader
from allotment.scheduling.kueue.dra.extended import ExtendedClass
from allotment.scheduling.kueue.dra.mapping import read_mapping
from allotment.scheduling.state.limit_ranges import Range, adjusted, faults_of, ranges_of
from allotment.scheduling.state.nodes import Flavor
from allotment.scheduling.state.pod_requests import pod_requests
from allotment.scheduling.state.queues import AdmissionCheck, ClusterQueue
from allotment.scheduling.state.read_queues import (
    read_cluster_queue,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_node,
    read_topology,
)
from allotment.scheduling.state.read_workloads import seconds
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload

NAME_LABEL: Final = "kubernetes.io/metadata.name"
PLACED: Final = "kueue.x-k8s.io/tas"
_OWNERS: Final = ("campaign", "fleet", "gang")
Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """What Kueue decides on. ``names`` are what people call workloads, by their keys.

    ``version`` is the cluster's Kueue (empty: unknown), ``model`` the one that is modelled.
    """

    state: State
    settings: Settings
    now: float
    version: str = ""
    model: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def called(self, key: str) -> str:
        """What to call a workload."""
        return self.names.get(key, f"Workload {key}")


def scene_of(snapshot: Snapshot, platform: Platform | None = None, world: World | None = None) -> Scene:
    """The scene of a snapshot; what is odd of it is left out with a note.

    ``world`` are its devices where they have been read already, or are not among its objects.
    """
    desk = _Desk(snapshot, "Kueue")
    setup = configured(snapshot, platform)
    reader = _reader(desk, setup, world or world_of(snapshot).without_errors())
    ranges = desk.ranges()
    topologies = desk.each(kinds.KUEUE_TOPOLOGY, read_topology)
    workloads = desk.each(kinds.WORKLOAD, lambda raw: _workload(raw, reader, ranges))
    state = State(
        cluster_queues={each.name: each for each in desk.each(kinds.CLUSTER_QUEUE, _cluster_queue)},
        cohorts={each.name: each for each in desk.each(kinds.COHORT, read_cohort)},
        local_queues={each.key: each for each in desk.each(kinds.LOCAL_QUEUE, read_local_queue)},
        flavors={each.name: each for each in desk.each(kinds.FLAVOR, read_flavor)},
        topologies={each.name: each for each in topologies},
        nodes={each.name: each for each in desk.nodes()} if topologies else {},
        namespaces=_namespaces(snapshot),
        workloads=Shelf({each.key: each for each in workloads}),
    )
    plain = dict(_plain_flavors(state))
    state = replace(state, flavors={**plain, **state.flavors})
    notes = [f"ResourceFlavor `{name}` was not read: it is taken to say nothing of nodes" for name in plain]
    return Scene(
        state,
        setup.settings,
        snapshot.time,
        setup.version,
        setup.model,
        dict(desk.names()),
        (*setup.notes, *notes, *desk.notes()),
    )


def claim_reader(snapshot: Snapshot, platform: Platform | None, world: World) -> ClaimReader:
    """What reads workloads with their charges: templates of the snapshot, devices of the world."""
    return _reader(_Desk(snapshot, "Kueue"), configured(snapshot, platform), world)


def _reader(desk: _Desk, setup: Configured, world: World) -> ClaimReader:
    charger = Charger(
        read_mapping(setup.mappings), desk.templates(), world.classes, world.slices, setup.settings.gates
    )
    return ClaimReader(charger, tuple(desk.extended()))


def _plain_flavors(state: State) -> Iterator[tuple[str, Flavor]]:
    """Flavors of queues that Kueue calls active, where they were not read."""
    for queue in state.cluster_queues.values():
        for name in (name for group in queue.groups for name in group.flavors):
            if queue.inactive is None and name not in state.flavors:
                yield name, Flavor(name)


def _namespaces(snapshot: Snapshot) -> dict[str, dict[str, str]]:
    """The labels of namespaces, with the one that a server gives to each, though none was read."""
    found: dict[str, Mapping[str, str]] = {
        str(each["metadata"].get("namespace") or ""): {} for each in snapshot.of(kinds.LOCAL_QUEUE)
    }
    found |= {
        each["metadata"]["name"]: each["metadata"].get("labels") or {}
        for each in snapshot.of(kinds.NAMESPACE)
    }
    return {name: {NAME_LABEL: name, **labels} for name, labels in found.items()}


def _workload(raw: Raw, reader: ClaimReader, ranges: Mapping[str, Mapping[str, Range]]) -> Workload:
    spec = raw.get("spec") or {}
    known = ranges.get(raw["metadata"].get("namespace", ""), {})
    sets = [_adjusted(each, known) for each in spec.get("podSets") or ()]
    found = reader.read({**raw, "spec": {**spec, "podSets": sets}})
    return replace(found, faults=faults_of(sets, known))


def _adjusted(pod_set: Raw, ranges: Mapping[str, Range]) -> dict[str, Any]:
    template = pod_set.get("template") or {}
    return {**pod_set, "template": {**template, "spec": adjusted(template.get("spec") or {}, ranges)}}


def _cluster_queue(raw: Raw) -> ClusterQueue:
    """With its admission checks, which are active where the queue is; their objects are not read."""
    spec = raw.get("spec") or {}
    named = [
        *(spec.get("admissionChecks") or ()),
        *(each["name"] for each in (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or ()),
    ]
    checks = {name: AdmissionCheck(name, active=True) for name in named}
    told = {each.get("type"): each for each in (raw.get("status") or {}).get("conditions") or ()}
    active = told.get("Active") or {}
    inactive = str(active.get("reason") or "Inactive") if active.get("status") == "False" else None
    return read_cluster_queue(raw, checks=checks, inactive=inactive)


@dataclass(slots=True)
class _Desk(Desk):
    """Reads one snapshot as Kueue does."""

    def templates(self) -> dict[str, Raw]:
        """The claim specs of templates, with what an API server fills in."""
        pairs = self.each(kinds.CLAIM_TEMPLATE, _template)
        return dict(pairs)

    def extended(self) -> Iterator[ExtendedClass]:
        """The classes that stand for extended resources."""
        for each in self.each(kinds.DEVICE_CLASS, _extended):
            if each.resource:
                yield each

    def ranges(self) -> dict[str, dict[str, Range]]:
        """The LimitRanges by namespace."""
        by_namespace: dict[str, list[Object]] = {}
        for each in self.snapshot.of(kinds.LIMIT_RANGE):
            by_namespace.setdefault(str(each["metadata"].get("namespace")), []).append(each)
        found = {}
        for name, objects in by_namespace.items():
            try:
                found[name] = ranges_of(objects)
            except ODD:
                self.odd.setdefault("LimitRange", []).append(name)
        return found

    def nodes(self) -> list[Any]:
        """The nodes, with what pods have of them that Kueue does not place."""
        taken: dict[str, dict[str, int]] = {}
        for node, amounts in self.each(kinds.POD, _taken):
            known = taken.setdefault(node, {})
            for name, amount in amounts.items():
                known[name] = known.get(name, 0) + amount
        return self.each(kinds.NODE, lambda raw: read_node(raw, taken.get(raw["metadata"]["name"])))

    def names(self) -> Iterator[tuple[str, str]]:
        """What people call each workload: ``campaign letters of archive``, or by the owner's name."""
        for each in self.snapshot.of(kinds.WORKLOAD):
            metadata = each["metadata"]
            namespace = str(metadata.get("namespace") or "")
            key = f"{namespace}/{metadata['name']}"
            owners = [owner for owner in metadata.get("ownerReferences") or () if isinstance(owner, Mapping)]
            owner = owners[0] if owners else {}
            yield (
                key,
                self._words(each, namespace, str(owner.get("kind") or ""), str(owner.get("name") or "")),
            )

    def _words(self, workload: Object, namespace: str, kind: str, owner: str) -> str:
        about = self.snapshot.named(kinds.JOB, owner, namespace) if kind == "Job" else None
        about = self.snapshot.named(kinds.POD, owner, namespace) if kind == "Pod" else about
        labels = ((about or workload)["metadata"].get("labels")) or {}
        for what in _OWNERS:
            if name := labels.get(f"{PREFIX}{what}"):
                return f"{what} {name} of {namespace}"
        if kind and owner:
            return f"{kind} {owner} of {namespace}"
        return f"Workload {namespace}/{workload['metadata']['name']}"


def _template(raw: Raw) -> tuple[str, Raw]:
    meta, spec = raw["metadata"], raw["spec"]["spec"]
    devices = spec.get("devices") or {}
    requests = [_filled(each) for each in devices.get("requests") or ()]
    return f"{meta.get('namespace', '')}/{meta['name']}", {
        **spec,
        "devices": {**devices, "requests": requests},
    }


def _filled(request: Raw) -> Raw:
    exactly = request.get("exactly")
    if exactly is None:
        return request
    mode = exactly.get("allocationMode") or "ExactCount"
    counted = {"count": exactly.get("count") or 1} if mode == "ExactCount" else {}
    return {**request, "exactly": {**exactly, "allocationMode": mode, **counted}}


def _extended(raw: Raw) -> ExtendedClass:
    meta = raw["metadata"]
    resource = str((raw.get("spec") or {}).get("extendedResourceName") or "")
    return ExtendedClass(meta["name"], resource, seconds(meta.get("creationTimestamp")))


def _taken(raw: Raw) -> tuple[str, Mapping[str, int]]:
    """The node of a pod and what it has there; nothing for one that Kueue places itself or that is over."""
    meta, spec = raw["metadata"], raw.get("spec") or {}
    phase = (raw.get("status") or {}).get("phase")
    if phase in {"Succeeded", "Failed"} or PLACED in (meta.get("labels") or {}):
        return "", {}
    return str(spec.get("nodeName") or ""), {**pod_requests(spec), "pods": 1}
