"""One fleet asked about twice: Kubernetes' own scheduler on a plane, and our allocator over the same objects.

The objects are read back from the server, so that ours sees what the scheduler does. A pod is pinned to the
nodes that it may go to; no kubelet runs, so that a pod that has a node stays where it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.devices.allocation import Attempt, NamedClaim, Taken, allocate_on
from allotment.devices.allocator import Allocator, ground_of, pools_of
from allotment.devices.claims import Allocation
from allotment.devices.funnel import NoFit
from allotment.devices.read_allocations import allocation_of
from allotment.devices.server import Server
from allotment.devices.validation import validate
from allotment.devices.world import World
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import CLAIM, NODE, POD, Object, kind_of
from allotment.quantities.kubernetes import Quantity
from tests.controlplane.components import KUBERNETES, MINOR
from tests.controlplane.nodes import CAPACITY, status_of
from tests.controlplane.processes import until
from tests.controlplane.random_fleets import Asked, Fleet

MANAGER: Final = "fleets"
REFUSED: Final = 422
SECONDS: Final = 90
GAVE_UP: Final = "timed out trying to allocate devices"
SHARE: Final = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a pod went and what its claims were given, or why it went nowhere."""

    node: str | None = None
    allocations: tuple[Any, ...] = ()
    why: str = ""
    is_error: bool = False


@dataclass(slots=True)
class Compared:
    """What came of a fleet's pods. A difference is what the scheduler did, and what we say.

    ``failed`` are pods that an error stopped, ``refused`` objects that the server does not take, ``gave_up``
    searches that one of the two ended for their length.
    """

    fleet: str
    placed: int = 0
    unplaced: int = 0
    failed: int = 0
    refused: int = 0
    gave_up: int = 0
    differences: list[str] = field(default_factory=list)


class Both:
    """A fleet on a server."""

    def __init__(self, client: Client, fleet: Fleet) -> None:
        self._client = client
        self._fleet = fleet
        self._published: list[Object] = []
        self._taken = Taken()
        self.found = Compared(fleet.name)

    def publish(self) -> None:
        """Send everything that pods will need; what a server refuses, reading has to refuse too."""
        fleet, client = self._fleet, self._client
        labels = {"resource.kubernetes.io/admin-access": "true"}
        metadata = {"name": fleet.name, "labels": labels}
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, manager=MANAGER)
        for each in fleet.nodes:
            name = each["metadata"]["name"]
            self._published.append(client.create(each, manager=MANAGER))
            change = {"status": status_of(1, CAPACITY)}
            client.patch(NODE, name, None, change, manager=MANAGER, subresource="status")
        for each in fleet.published:
            sent = self._sent(each)
            if sent is not None:
                self._published.append(sent)

    def ask(self) -> Compared:
        """All pods one after the other."""
        world = _read(self._published)
        for each in self._fleet.pods:
            self._ask(world, each)
        return self.found

    def withdraw(self) -> None:
        """Take away what a scheduler would look at for others too."""
        for each in self._published:
            self._client.delete(kind_of(each), each["metadata"]["name"])

    def _ask(self, world: World, asked: Asked) -> None:
        sent = [self._sent(each) for each in asked.claims]
        claims = [each for each in sent if each is not None]
        if len(claims) < len(sent):
            self._forget(claims)
            return
        self._client.create(_pod(self._fleet.name, asked), manager=MANAGER)
        theirs = self._verdict(asked)
        ours = self._ours(world, asked, claims)
        gave_up = GAVE_UP in theirs.why or any(map(_gave_up, ours.values()))
        told = None if gave_up else _difference(theirs, ours)
        self.found.gave_up += gave_up
        if told is not None:
            self.found.differences.append(f"{self._fleet.name}/{asked.name}: {told}")
        if theirs.node is None:
            self.found.failed += theirs.is_error
            self.found.unplaced += not theirs.is_error
            self._client.delete(POD, asked.name, self._fleet.name)
            self._forget(claims)
            return
        self.found.placed += 1
        for each in theirs.allocations:
            allocation = allocation_of({"allocation": each})
            assert allocation is not None
            self._taken.take(allocation)

    def _sent(self, value: Object) -> Object | None:
        problems = validate(value["kind"], value, version="v1", server=Server.of(MINOR)).problems
        try:
            sent = self._client.create(value, manager=MANAGER)
        except ApiError as error:
            if error.status != REFUSED:
                raise
            self.found.refused += 1
            if not problems:
                self.found.differences.append(f"{self._fleet.name}: refused: {error.message}")
            return None
        if problems:
            self.found.differences.append(f"{self._fleet.name}: taken: {value['metadata']} {problems}")
        return sent

    def _forget(self, claims: Sequence[Object]) -> None:
        for each in claims:
            self._client.delete(CLAIM, each["metadata"]["name"], self._fleet.name)

    def _verdict(self, asked: Asked) -> Verdict:
        found: list[Verdict] = []

        def told() -> bool:
            found.extend(self._look(asked))
            return bool(found)

        until(told, f"{asked}", seconds=SECONDS, pause=0.1)
        return found[0]

    def _look(self, asked: Asked) -> Iterator[Verdict]:
        """The verdict once there is one: a node may have to wait for what its devices are bound by."""
        pod = self._client.get(POD, asked.name, self._fleet.name) or {}
        claims = [
            self._client.get(CLAIM, each["metadata"]["name"], self._fleet.name) or {} for each in asked.claims
        ]
        allocations = [each.get("status", {}).get("allocation") for each in claims]
        if not pod:
            yield Verdict(why=f"gone, though {allocations}", is_error=True)
            return
        told = {each["type"]: each for each in pod["status"].get("conditions") or ()}
        scheduled = told.get("PodScheduled", {})
        node = pod["spec"].get("nodeName") or pod["status"].get("nominatedNodeName")
        if node and all(allocations):
            yield Verdict(node, tuple(allocations))
        elif not any(allocations) and scheduled.get("status") == "False":
            is_error = scheduled["reason"] == "SchedulerError"
            yield Verdict(why=scheduled.get("message", ""), is_error=is_error)

    def _ours(self, world: World, asked: Asked, claims: Sequence[Object]) -> Mapping[str, Attempt | NoFit]:
        """What we say of each node."""
        ground = ground_of(world)
        index = pools_of(world, ground)
        specs = [each.spec for each in _read(claims).claims]
        named = [
            NamedClaim(f"{self._fleet.name}/{name}", spec)
            for name, spec in zip(_names(asked), specs, strict=True)
        ]
        found: dict[str, Attempt | NoFit] = {}
        for node in asked.nodes:
            one = Allocator(world, node, pools=index, ground=ground)
            faults = [fault for spec in specs if (fault := one.fault_of(spec))]
            if faults:
                found[node] = NoFit(error=faults[0])
                continue
            attempt = allocate_on(
                index.site(world.node_named(node)), named, self._taken, ground, lambda: SHARE
            )
            found[node] = attempt
            if len(specs) == 1 and not _gave_up(attempt):
                alone = one.allocate(specs[0], self._taken)
                whole = attempt.allocations[0] if attempt.allocations else None
                assert _plain_of(whole) == _plain_of(alone if isinstance(alone, Allocation) else None)
        return found


def _gave_up(found: Attempt | NoFit) -> bool:
    return isinstance(found, Attempt) and found.error is not None and GAVE_UP in found.error.text


def _names(asked: Asked) -> Iterator[str]:
    return (each["metadata"]["name"] for each in asked.claims)


def _difference(theirs: Verdict, ours: Mapping[str, Attempt | NoFit]) -> str | None:
    """How the verdicts differ."""
    fits = {
        node: each.allocations
        for node, each in ours.items()
        if isinstance(each, Attempt) and each.allocations
    }
    errors = [
        each.error
        for each in ours.values()
        if isinstance(each, Attempt) and each.error and not each.error.only_this_node
    ]
    if theirs.node is None:
        if theirs.is_error != bool(errors):
            return f"theirs {theirs}, ours {ours}"
        if theirs.is_error:
            known = any(each.text in theirs.why for each in errors)
            return None if known else f"theirs {theirs.why!r}, ours {[each.text for each in errors]}"
        return f"theirs {theirs.why!r}, ours fit {sorted(fits)}" if fits else None
    if theirs.node not in fits:
        return f"theirs {theirs.node}, ours fit {sorted(fits)}: {ours}"
    if errors:
        return f"theirs {theirs.node}, ours fail: {errors[0].text}"
    mine = [_plain_of(each) for each in fits[theirs.node]]
    given = [_plain(each) for each in theirs.allocations]
    return None if mine == given else f"on {theirs.node} theirs {given}, ours {mine}"


def _plain_of(allocation: Allocation | None) -> Any:
    return None if allocation is None else _plain(allocation.to_dict())


def _plain(value: Any) -> Any:
    """An allocation without what is chance (names of shares, times), amounts as numbers."""
    if isinstance(value, Mapping):
        found = {
            key: _plain(each) for key, each in value.items() if key not in {"shareID", "allocationTimestamp"}
        }
        if "consumedCapacity" in found:
            found["consumedCapacity"] = {
                key: Quantity.parse(each).nanos for key, each in found["consumedCapacity"].items()
            }
        return {key: found[key] for key in sorted(found) if found[key] not in (None, [], {})}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _read(objects: Sequence[Object]) -> World:
    return world_of(Snapshot(time.time(), tuple(objects), version=KUBERNETES)).world


def _pod(namespace: str, asked: Asked) -> Object:
    only = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [each]}]}
        for each in asked.nodes
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": asked.name, "namespace": namespace},
        "spec": {
            "terminationGracePeriodSeconds": 3600,
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": only}
                }
            },
            "containers": [{"name": "main", "image": "example.org/x"}],
            "resourceClaims": [
                {"name": f"c{number}", "resourceClaimName": name} for number, name in enumerate(_names(asked))
            ],
        },
    }
