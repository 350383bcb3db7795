"""What holds for the default scheduler in every cluster: nothing is given twice, and nothing is drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.claims import Allocation, ExactRequest
from allotment.devices.slices import Device, Pool, ResourceSlice
from allotment.scheduling.default import Bound, Gangs, Memory, Settings, applied, decide
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pods import Gang, Pod, PodClaim
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from tests.devices.worlds import first_of, one, world

CLAIMS = (None, one("gpu"), one("gpu", 2), first_of(ExactRequest("big"), ExactRequest("gpu")))
NODES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=4)
PODS = st.lists(
    st.tuples(
        st.integers(0, 2),  # processors
        st.sampled_from(CLAIMS),
        st.sampled_from([None, None, "team/card"]),
        st.sampled_from([None, "g", "h"]),
        st.integers(0, 2),  # priority
    ),
    max_size=8,
)


def state_of(nodes: list[tuple[int, int, int]], pods: list[tuple[int, object, object, object, int]]) -> State:
    slices = [
        ResourceSlice(
            f"{driver}-n{n}",
            driver,
            Pool(f"n{n}"),
            node_name=f"n{n}",
            devices=tuple(Device(f"d{each}") for each in range(count)),
        )
        for n, (_cpu, gpus, big) in enumerate(nodes)
        for driver, count in (("gpu", gpus), ("big", big))
    ]
    made = []
    for n, (cpu, claim, shared, gang, priority) in enumerate(pods):
        # the shared claim is the same for all of its pods
        spec = one("gpu") if shared else claim
        claims = (PodClaim("c", spec, shared),) if spec else ()  # type: ignore[arg-type]
        name = gang if isinstance(gang, str) else None
        made.append(Pod("team", f"p{n}", {"cpu": cpu}, priority, created=float(n), claims=claims, gang=name))
    return State(
        nodes={
            f"n{n}": ClusterNode(f"n{n}", allocatable={"cpu": cpu}) for n, (cpu, _g, _b) in enumerate(nodes)
        },
        pods=Shelf({each.key: each for each in made}),
        gangs={"g": Gang("g", 2), "h": Gang("h", 3)},
        published=world(*slices),
    )


@given(NODES, PODS, st.sampled_from(list(Gangs)), st.data())
@settings(deadline=None, max_examples=60)
def test_nothing_is_given_twice_and_gangs_start_whole(
    nodes: list[tuple[int, int, int]],
    pods: list[tuple[int, object, object, object, int]],
    gangs: Gangs,
    data: st.DataObject,
) -> None:
    state, memory, now = state_of(nodes, pods), Memory(Settings(gangs=gangs)), 0.0
    for _ in range(5):
        now += data.draw(st.sampled_from([1.0, 20.0, 400.0]))
        decisions, after = decide(state, memory, now)
        again, _ = decide(state, memory, now)
        assert again == decisions
        before, memory = state, after
        state = applied(state, decisions)
        look(nodes, state)
        bound = {each.pod for each in decisions if isinstance(each, Bound)}
        assert all(before.pods[key].node is None for key in bound)
        if gangs is not Gangs.UNKNOWN:
            for name, gang in state.gangs.items():
                here = [each for each in state.pods.values() if each.gang == name]
                started = [each for each in here if each.key in bound]
                standing = [each for each in here if each.node is not None]
                assert not started or len(standing) >= gang.minimum
        placed = sorted(each.key for each in state.pods.values() if each.node is not None)
        if placed:
            gone = data.draw(st.sets(st.sampled_from(placed), max_size=2))
            state = state.with_pods(dict.fromkeys(sorted(gone)))


def look(nodes: list[tuple[int, int, int]], state: State) -> None:
    """Look at what every node and device is used for."""
    cpu: Counter[str] = Counter()
    held: Counter[object] = Counter()
    shared: dict[str, Allocation] = {}
    for pod in state.pods.values():
        if pod.node is None:
            assert not pod.allocations
            continue
        cpu[pod.node] += pod.requests["cpu"]
        assert len(pod.allocations) == len(pod.claims)
        for claim, allocation in zip(pod.claims, pod.allocations, strict=True):
            assert {device.pool for device in allocation.ids} == {pod.node}
            if claim.shared is None:
                held.update(allocation.ids)
            else:
                assert shared.setdefault(claim.shared, allocation) == allocation
    for common in shared.values():
        held.update(common.ids)
    assert all(number == 1 for number in held.values())
    assert all(cpu[f"n{n}"] <= each[0] for n, each in enumerate(nodes))


@given(NODES, PODS)
@settings(deadline=None, max_examples=30)
def test_who_is_left_fits_nowhere(
    nodes: list[tuple[int, int, int]], pods: list[tuple[int, object, object, object, int]]
) -> None:
    state = state_of(nodes, pods)
    state = applied(state, decide(state, Memory(), 0.0)[0])
    for pod in state.pods.values():
        if pod.node is None:  # alone, with all others where they are, it is refused again
            kept = {each.key: each for each in state.pods.values() if each.node is not None}
            alone = replace(state, pods=Shelf({**kept, pod.key: pod}))
            assert not [each for each in decide(alone, Memory(), 0.0)[0] if isinstance(each, Bound)]
