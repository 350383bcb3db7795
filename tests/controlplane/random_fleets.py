"""Made-up fleets for a whole cluster: nodes, slices, classes, and pods with claims, under names of their own.

The parts are those of ``tests/oracle``, for several nodes at once. A fleet reaches no other: its drivers,
classes, pools and labels carry its number, and what would be for all nodes is for all of the fleet's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.devices.allocation import features_of
from allotment.devices.server import Server
from tests.controlplane.components import MINOR
from tests.oracle.dice import Dice
from tests.oracle.making_claims import CLASSES, claims, classes
from tests.oracle.making_slices import DRIVERS, NODE, pools
from tests.oracle.scenarios import OFTEN

Object = dict[str, Any]

API: Final = "resource.k8s.io/v1"
NODES: Final = 3
FEATURES: Final[Mapping[str, str]] = {
    "AdminAccess": "admin_access",
    "PrioritizedList": "prioritized_list",
    "PartitionableDevices": "partitionable_devices",
    "DeviceTaints": "device_taints",
    "ConsumableCapacity": "consumable_capacity",
    "DeviceBindingAndStatus": "device_binding_and_status",
}
"""Those of the oracle's features that a server may have by default, and what they are called here."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A pod: its claims, and the nodes that it may go to."""

    name: str
    claims: tuple[Object, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is published, and the pods that ask one after the other."""

    name: str
    nodes: tuple[Object, ...]
    published: tuple[Object, ...]
    pods: tuple[Asked, ...]

    @property
    def node_names(self) -> tuple[str, ...]:
        """What the nodes are called."""
        return tuple(each["metadata"]["name"] for each in self.nodes)


def fleet(seed: int) -> Fleet:
    """The fleet of this seed: each pod once for each node, and then for any of them."""
    dice, name = Dice(seed), f"f{seed}"
    dice.crowded = False  # a scheduler gives a search up after ten seconds, which says nothing
    has = features_of(Server.of(MINOR))
    features = {
        key: True
        for key, part in OFTEN.items()
        if dice.chance(part) and getattr(has, FEATURES.get(key, ""), False)
    }
    nodes = tuple(_node(dice, name, number) for number in range(1, NODES + 1))
    slices = [
        _of_node(each, name, number, place)
        for number in range(1, NODES + 1)
        for place, each in enumerate(_pools(dice, features))
    ]
    made = [_object("DeviceClass", _own(each, name)) for each in classes(dice)]
    return Fleet(name, nodes, (*made, *slices), tuple(_pods(dice, features, name)))


def _pools(dice: Dice, features: Object) -> list[Object]:
    """Slices, whole where counters may be: until 1.37 a pool with counters that is not whole is before all
    nodes, and so before other fleets'.
    """
    faulty = dice.faulty
    dice.faulty = faulty and "PartitionableDevices" not in features
    made = pools(dice, features)
    dice.faulty = faulty
    counted = {_pool(each) for each in made if "sharedCounters" in each["spec"]}
    return [each for each in made if _pool(each) not in counted or not _is_left_over(each)]


def _pool(value: Object) -> tuple[str, str]:
    return value["spec"]["driver"], value["spec"]["pool"]["name"]


def _is_left_over(value: Object) -> bool:
    return bool(value["metadata"]["name"].startswith("old-"))


def _pods(dice: Dice, features: Object, name: str) -> list[Asked]:
    names = tuple(f"{name}-{number}" for number in range(1, NODES + 1))
    wanted = [_own(each, name) for each in claims(dice, features)]
    found = []
    for place, nodes in enumerate((*((each,) for each in names), names)):
        pod = f"pod-{place}"
        copies = tuple(_claim(each, name, f"{pod}-{count}") for count, each in enumerate(wanted))
        found.append(Asked(pod, copies, nodes))
    return found


def _node(dice: Dice, fleet_name: str, number: int) -> Object:
    labels = {"fleet": fleet_name, f"zone.{fleet_name}": "a" if number == 1 else dice.choice("ab")}
    if dice.chance(0.5):
        labels[f"disk.{fleet_name}"] = "fast"
    metadata = {"name": f"{fleet_name}-{number}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}}


def _claim(value: Object, namespace: str, name: str) -> Object:
    return _object("ResourceClaim", {**value, "metadata": {"name": name, "namespace": namespace}})


def _of_node(value: Object, fleet_name: str, number: int, place: int) -> Object:
    """A slice that was made for the one node of a scenario, as one of this node or of the next."""
    text = json.dumps(value)
    for pool in ("pool-0", "pool-1", "pool-2"):
        text = text.replace(f'"{pool}"', f'"{pool}-of-{number}"')
    text = text.replace(f'"{NODE}"', f'"{fleet_name}-{number}"')
    text = text.replace('"node-2"', f'"{fleet_name}-{number % NODES + 1}"')
    found = _own(json.loads(text), fleet_name)
    spec = found["spec"]
    if "devices" in spec:
        spec["devices"] = [_within(each, fleet_name) for each in spec["devices"]]
    whole = _within(spec, fleet_name)
    return _object("ResourceSlice", {"metadata": {"name": f"{fleet_name}-{number}-{place}"}, "spec": whole})


def _within(value: Object, fleet_name: str) -> Object:
    """What is for all nodes, for those of the fleet."""
    if not value.get("allNodes"):
        return value
    only = {"key": "fleet", "operator": "In", "values": [fleet_name]}
    rest = {key: each for key, each in value.items() if key != "allNodes"}
    return {**rest, "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [only]}]}}


def _own(value: Object, fleet_name: str) -> Object:
    """The same with drivers, classes and labels of the fleet's own."""
    text = json.dumps(value)
    for driver in DRIVERS:
        text = text.replace(driver, driver.replace(".", f".{fleet_name}.", 1))
    for each in (*CLASSES, "none"):
        text = text.replace(f'"deviceClassName": "{each}"', f'"deviceClassName": "{each}.{fleet_name}"')
        text = text.replace(
            f'{{"metadata": {{"name": "{each}"}}', f'{{"metadata": {{"name": "{each}.{fleet_name}"}}'
        )
    for label in ("zone", "disk"):
        text = text.replace(f'"key": "{label}"', f'"key": "{label}.{fleet_name}"')
    found: Object = json.loads(text)
    return found


def _object(kind: str, value: Object) -> Object:
    return {"apiVersion": API, "kind": kind, **value}
