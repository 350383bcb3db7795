"""KAI's objects are read back as the state that they were written of, and decided on alike.

Where the folder of recorded cases is given, KAI's own are written and read as well.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.describe import parse_description
from allotment.kubernetes.cluster.kai_state import kai_scene_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.scheduling.kai import Memory, Settings, decide
from allotment.scheduling.state.nodes import Topology
from allotment.scheduling.state.pod_groups import (
    GroupPod,
    PodGroup,
    PodRequest,
    PodStatus,
    SubGroup,
    Together,
    flat,
)
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from tests.conformance.kai_scene import state_of
from tests.kubernetes.cluster.kai_as_objects import WRITTEN, objects_of
from tests.scheduling.kai.kai_world import ROOT, node, queue

NOW = 1_000_000_000.0
NOTHING = replace(parse_description("1 x L4"), slices=(), nodes={})
REQUESTS = (
    PodRequest(1000, 1e9, gpus=1),
    PodRequest(1000, 1e9, gpus=4),
    PodRequest(500, 0, fraction=0.5),
    PodRequest(500, 0, fraction=0.25, devices=2),
    PodRequest(500, 0, gpu_memory=20_000),
    PodRequest(2000, 2e9),
)
TREES = (
    flat(1),
    flat(0),
    flat(2, Together("racks", "example.org/rack")),
    SubGroup("", 1, (SubGroup("a", 1, leaf=True), SubGroup("b", None, (SubGroup("c", 2, leaf=True),)))),
)
NODES = [node(f"n{number}", 4, labels={"example.org/rack": f"r{number % 2}"}) for number in range(3)]


@st.composite
def groups(draw: st.DrawFn, number: int) -> PodGroup:
    tree, request = draw(st.sampled_from(TREES)), draw(st.sampled_from(REQUESTS))
    leaves = [each.name for each in _leaves(tree)]
    pods = []
    for place in range(draw(st.integers(1, 4))):
        status = draw(st.sampled_from((PodStatus.PENDING, PodStatus.GATED, PodStatus.RUNNING)))
        runs = status is PodStatus.RUNNING
        shared = (
            tuple(f"g{number}-{place}-{each}" for each in range(request.devices)) if request.shared else ()
        )
        pods.append(
            GroupPod(
                id=f"team/p{number}-{place}",
                status=status,
                node=draw(st.sampled_from([each.name for each in NODES])) if runs else None,
                gpu_groups=shared if runs else (),
                leaf=draw(st.sampled_from(leaves)),
                request=request,
                order=draw(st.none() | st.integers(0, 3)),
                created=NOW - 100,
            )
        )
    started = NOW - 60 if any(pod.status is PodStatus.RUNNING for pod in pods) else None
    return PodGroup(
        f"g{number}",
        draw(st.sampled_from(("one", "two"))),
        tuple(pods),
        tree,
        priority=draw(st.sampled_from((10, 50, 125))),
        preemptible=draw(st.booleans()),
        created=NOW - draw(st.integers(60, 600)),
        started=started,
        delay=draw(st.none() | st.just(30.0)),
        grace=draw(st.none() | st.sampled_from((-1.0, 10.0))),
        namespace="team",
    )


def _leaves(tree: SubGroup) -> list[SubGroup]:
    return [tree] if tree.leaf else [leaf for each in tree.children for leaf in _leaves(each)]


@st.composite
def clusters(draw: st.DrawFn) -> State:
    found = [draw(groups(number)) for number in range(draw(st.integers(1, 5)))]
    queues = (queue("one", 4, limit=8), queue("two", 2, weight=3, created=1.0, reclaim_min_runtime=60.0))
    return State(
        nodes={each.name: each for each in NODES},
        share_queues={each.name: each for each in (ROOT, *queues)},
        pod_groups=Shelf({f"{each.namespace}/{each.name}": each for each in found}),
        topologies={"racks": Topology("racks", ("example.org/rack",))},
    )


def read(state: State) -> State:
    snapshot = Snapshot(NOW, tuple(objects_of(state)), name="prod")
    found = kai_scene_of(snapshot, NOTHING)
    assert found.notes == ()
    return found.state


@given(clusters())
@settings(max_examples=60, deadline=None)
def test_a_state_is_read_back_as_it_was_written(state: State) -> None:
    found = read(state)
    assert found.share_queues == state.share_queues
    assert dict(found.pod_groups) == dict(state.pod_groups)
    assert found.topologies == state.topologies
    told = [(each.name, each.allocatable, each.labels) for each in found.nodes.values()]
    assert told == [(each.name, each.allocatable, each.labels) for each in state.nodes.values()]


@given(clusters())
@settings(max_examples=30, deadline=None)
def test_what_is_read_back_is_decided_on_alike(state: State) -> None:
    memory = Memory(Settings())
    found = replace(read(state), device_classes=frozenset())
    assert decide(found, memory, NOW)[0] == decide(state, memory, NOW)[0]


def can_be_written(pod: GroupPod) -> bool:
    """Whether an API server could show the pod so: what waits has no node."""
    waits = pod.status in {PodStatus.PENDING, PodStatus.GATED}
    return pod.status in WRITTEN and not pod.legacy_mig and not (waits and pod.node is not None)


def test_kais_own_cases_are_read_back_and_decided_on_alike(data_folder: Path) -> None:
    looked_at, differing = 0, []
    memory = Memory(Settings())
    for case in json.loads((data_folder / "kai/kai_cases.json").read_text())["cases"]:
        state = state_of(case)
        found = list(state.pod_groups.values())
        if case.get("dra") or not all(can_be_written(pod) for group in found for pod in group.pods):
            continue
        named = {f"{group.namespace}/{group.name}": _named(group) for group in found}
        state = replace(state, pod_groups=Shelf(named))
        looked_at += 1
        if decide(read(state), memory, NOW)[0] != decide(state, memory, NOW)[0]:
            differing.append(case["id"])
    assert looked_at > 300
    assert differing == []


def _named(group: PodGroup) -> PodGroup:
    """The group with pods named as a cluster names them."""
    pods = tuple(replace(pod, id=f"{group.namespace}/{pod.id}") for pod in group.pods)
    return replace(group, pods=pods)
