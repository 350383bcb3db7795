"""Where a scheduler says no more than that there are no devices, the cause is told in terms of devices."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.follow import State, follow
from allotment.planning.why.on_cluster import ClusterWhy, holdings_in, why_on_cluster
from allotment.planning.why.why import State as Fit
from tests.kubernetes.follow.told import NAMES, NAMESPACE, situation, told

REFINED = {
    "fragmentation": (
        State.WAITING,
        ["no node has so many", "2 on each of node-a, node-b, node-c"],
        "`count: 2`",
    ),
    "gang": (State.NEVER, ["4 are to start together", "room for 3 even with nothing in use"], "`min: 3`"),
    "device-taint": (State.NEVER, ["are tainted", "gpu.nvidia.com/xid=79:NoExecute"], "lifted"),
}


def asked(name: str) -> ClusterWhy:
    snapshot, found = situation(name), told(name)
    world = world_of(snapshot).without_errors()
    return why_on_cluster(snapshot, world, found)


@pytest.mark.parametrize("name", sorted(REFINED))
def test_the_sentence_names_the_devices_and_the_change(name: str) -> None:
    state, words, change = REFINED[name]
    found = asked(name).followed
    assert found.state is state
    for each in words:
        assert each in found.sentence
    assert found.root is not None
    assert change in found.root.remedy
    assert any(each.about.startswith("the allocator") for each in found.root.evidence)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(REFINED)))
def test_every_other_cause_stays_as_the_objects_tell_it(name: str) -> None:
    found = asked(name).followed
    assert (found.state, found.sentence, found.causes) == (
        told(name).state,
        told(name).sentence,
        told(name).causes,
    )


def test_what_is_over_is_not_held_against_devices() -> None:
    assert asked("finished").told is None
    assert asked("deadline").told is None


def test_no_device_is_never_and_free_devices_fit() -> None:
    driverless, waiting = asked("no-driver").told, asked("quota").told
    assert driverless is not None
    assert driverless.state is Fit.NEVER
    assert waiting is not None
    assert waiting.state is Fit.FITS


@pytest.mark.parametrize("is_tolerated", [False, True])
def test_what_its_pods_tolerate_is_no_obstacle(*, is_tolerated: bool) -> None:
    taint = {"key": "dedicated", "value": "archive", "effect": "NoSchedule"}
    tolerations = [{"key": "dedicated", "operator": "Exists"}] if is_tolerated else []

    def changed(value: dict[str, Any]) -> dict[str, Any]:
        found = deepcopy(value)
        if found["kind"] == "Node":
            found.setdefault("spec", {})["taints"] = [taint]
        elif found["kind"] == "Job":
            found["spec"]["template"]["spec"]["tolerations"] = tolerations
        return found

    snapshot = situation("quota")
    snapshot = replace(snapshot, objects=tuple(changed(dict(each)) for each in snapshot.objects))
    world = world_of(snapshot).without_errors()
    (followed,) = follow(snapshot, NAMESPACE)
    answer = why_on_cluster(snapshot, world, followed).told
    assert answer is not None
    assert answer.state is (Fit.FITS if is_tolerated else Fit.NEVER)


def test_who_holds_devices_is_said_by_volume_or_pod() -> None:
    snapshot = situation("topology")
    ours = {each.who for each in holdings_in(snapshot, world_of(snapshot).without_errors())}
    assert ours == {"charts/R0001201", "charts/R0001202"}
    snapshot = situation("devices-not-free-yet")
    others = {each.who for each in holdings_in(snapshot, world_of(snapshot).without_errors())}
    assert all(each.startswith("pod laboratory/spectra-") and each.endswith("(stopping)") for each in others)
