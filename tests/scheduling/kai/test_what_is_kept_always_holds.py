"""What a memory keeps of a session only spares work: over any course of states it decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.scheduling.kai import Action, Memory, Settings, Ties, applied, decide, ended, stopped
from allotment.scheduling.kai.cycle import act
from allotment.scheduling.kai.ground import Ground
from allotment.scheduling.kai.session import Session
from allotment.scheduling.state.claimed_devices import Allocation, Claim, DeviceOfNode
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
from allotment.scheduling.state.share_queues import NO_LIMIT
from allotment.scheduling.state.state import State
from tests.scheduling.kai.kai_world import NOW, cluster, node, queue

CARDS, QUEUES = 4, 3
CLASS = "gpu.example.com"
WHOLE = (PodRequest(cpu=1000, memory=1e9, gpus=1), PodRequest(cpu=1000, memory=1e9, gpus=2))
PARTS = (
    PodRequest(cpu=700, memory=1e9, fraction=0.3),
    PodRequest(cpu=100.1, memory=1e9, fraction=0.15),
    PodRequest(cpu=1000, memory=1e9, gpu_memory=20_000),
)
ODD = (
    PodRequest(cpu=1000, memory=1e9),
    PodRequest(cpu=1000, others=(("example.com/nic", 1.0),)),
    PodRequest(cpu=1000, mig=(("nvidia.com/mig-3g.20gb", 1),)),
)
TREES = (
    flat(1),
    flat(2),
    flat(2, Together("racks", required="rack")),
    SubGroup(minimum=1, children=(SubGroup("default", 1, leaf=True), SubGroup("more", 1, leaf=True))),
)
Happening = Callable[[st.DrawFn, State, int, tuple[PodRequest, ...]], State]
KNOWN = Settings(grace=30.0, reclaim_min_runtime=20.0)


def beginning(nodes: int) -> State:
    """An empty cluster, of which some queues owe others; the last node has its GPUs as devices."""
    queues = [
        queue("q0", 2, weight=2.0, limit=5.0),
        queue("q1", 4, weight=0.0, created=1.0),
        queue("q2", 0, limit=NO_LIMIT, created=2.0),
    ]
    made = [node(f"n{each}", CARDS, labels={"rack": f"r{each % 2}"}) for each in range(nodes)]
    made.append(node("d", 0, labels={"rack": "r0"}))
    devices = tuple(DeviceOfNode("d", CLASS, "d", str(each), frozenset({CLASS})) for each in range(2))
    state = cluster(made, queues, [], [Topology("racks", ("rack",))])
    return replace(state, devices=devices, device_classes=frozenset({CLASS}))


@st.composite
def groups(draw: st.DrawFn, name: str, requests: tuple[PodRequest, ...]) -> tuple[PodGroup, Claim | None]:
    """A group that waits, perhaps with a claim that its pods share."""
    count = draw(st.integers(1, 4))
    asked = draw(st.sampled_from(requests))
    claim = None
    if not asked.shared and draw(st.integers(0, 2)) == 0:
        labels = {"kai.scheduler/queue": "q0"}
        claim = Claim(f"{name}-claim", CLASS, draw(st.integers(1, 2)), labels)
    priority = draw(st.sampled_from([50, 75, 125]))
    pods = tuple(
        GroupPod(
            f"{name}-{number}",
            request=asked,
            claims=(claim.name,) if claim is not None else (),
            leaf=draw(st.sampled_from(["default", "default", "more"])),
        )
        for number in range(count)
    )
    group = PodGroup(
        name,
        "q0" if claim is not None else f"q{draw(st.integers(0, QUEUES))}",
        pods,
        draw(st.sampled_from(TREES)),
        priority=priority,
        preemptible=priority < 100,
        created=draw(st.sampled_from([0.0, 10.0])),
        delay=draw(st.sampled_from([None, None, 15.0])),
    )
    return group, claim


def _come(draw: st.DrawFn, state: State, number: int, requests: tuple[PodRequest, ...]) -> State:
    group, claim = draw(groups(f"g{number}", requests))
    claims = {**state.claims, claim.name: claim} if claim is not None else state.claims
    return replace(state.with_pod_groups({group.name: group}), claims=claims)


def _end(draw: st.DrawFn, state: State, _number: int, _requests: object) -> State:
    return ended(state, draw(st.sets(st.sampled_from(sorted(state.pod_groups)), max_size=2)))


def _lose(draw: st.DrawFn, state: State, _number: int, _requests: object) -> State:
    group = state.pod_groups[draw(st.sampled_from(sorted(state.pod_groups)))]
    return state.with_pod_groups({group.name: replace(group, pods=group.pods[1:])})


def _change(draw: st.DrawFn, state: State, number: int, _requests: object) -> State:
    """Other pods, in another order, and another tree."""
    group = state.pod_groups[draw(st.sampled_from(sorted(state.pod_groups)))]
    pods = (*(replace(pod, order=number) for pod in group.pods[:1]), *group.pods[1:])
    pods = pods[::-1] if draw(st.booleans()) else pods
    return state.with_pod_groups({group.name: replace(group, pods=pods, tree=draw(st.sampled_from(TREES)))})


def _stop(_draw: st.DrawFn, state: State, _number: int, _requests: object) -> State:
    made_anew = {pod.id for group in state.pod_groups.values() for pod in group.pods}
    return stopped(state, made_anew, NOW)


def _node(draw: st.DrawFn, state: State, _number: int, _requests: object) -> State:
    spec = state.nodes[draw(st.sampled_from(sorted(state.nodes)))]
    return replace(state, nodes={**state.nodes, spec.name: replace(spec, schedulable=not spec.schedulable)})


def _queue(draw: st.DrawFn, state: State, _number: int, _requests: object) -> State:
    spec = state.share_queues["q0"]
    changed = replace(spec, gpu=replace(spec.gpu, quota=draw(st.sampled_from([0.0, 3.0]))))
    return replace(state, share_queues={**state.share_queues, "q0": changed})


OFTEN, SELDOM = (_come, _end, _lose, _change, _stop, _queue), (_node,)


@st.composite
def steps(draw: st.DrawFn, state: State, number: int, requests: tuple[PodRequest, ...]) -> State:
    """Something happens: jobs come, end, lose a pod or change, a node or a queue changes."""
    if not state.pod_groups or draw(st.booleans()):
        return _come(draw, state, number, requests)
    happening: Happening = draw(st.sampled_from(OFTEN * 3 + SELDOM))
    return happening(draw, state, number, requests)


def bare(memory: Memory) -> Memory:
    """The memory without what it has kept."""
    return replace(memory, ground=None, turn=0)


def books(ground: Ground, state: State, memory: Memory, now: float) -> Mapping[str, object]:
    """All that a session on this ground can see."""
    session = Session(state, memory, now, Ties.FIRST_USED, ground)
    nodes = {
        name: (
            each.idle,
            each.used,
            each.releasing,
            list(each.tasks.items()),
            (each.shared.used, each.shared.allocated, each.shared.releasing, each.shared.marked),
            each.device_users,
            each.like(),
        )
        for name, each in session.nodes.items()
    }
    tasks = [
        (key, task.id, task.status, task.node, task.gpu_groups, task.virtual, task.claims, task.accepted)
        for key, group in session.groups.items()
        for task in group.tasks.values()
    ]
    counts = [
        (each.key, each.pending, each.active, each.succeeded, each.held, each.started, each.evicted)
        for each in session.groups.values()
    ]
    leaves = [
        (each.key, leaf.name, leaf.minimum, list(leaf.tasks), leaf.active, leaf.using, leaf.alive, leaf.gated)
        for each in session.groups.values()
        for leaf in each.leaves.values()
    ]
    accounts = {
        name: (each.held, each.held_firmly, each.asked, each.fair) for name, each in session.accounts.items()
    }
    noted = [(each.key, each.faults, each.stale_since) for each in session.groups.values()]
    bunches = sorted(map(tuple, session.alike.of_all()))
    found = (nodes, tasks, counts, leaves, accounts, noted, bunches, session.claims.claims, session.total)
    return dict(enumerate(found)) | {"axes": session.axes, "largest": session.largest}  # type: ignore[return-value]


@given(st.integers(1, 3), st.sampled_from([WHOLE, (*WHOLE, *PARTS), (*WHOLE, *PARTS, *ODD)]), st.data())
@settings(deadline=None, max_examples=60)
def test_a_memory_that_keeps_decides_as_one_that_does_not(
    nodes: int, requests: tuple[PodRequest, ...], data: st.DataObject
) -> None:
    state, memory, now = beginning(nodes), Memory(KNOWN), NOW
    course: list[tuple[State, Memory, float]] = []
    for number in range(data.draw(st.integers(2, 8))):
        for each in range(data.draw(st.integers(0, 3))):
            state = data.draw(steps(state, 10 * number + each, requests))
        now += data.draw(st.sampled_from([1.0, 25.0]))
        course.append((state, memory, now))
        decisions, after = decide(state, memory, now)
        assert (decisions, after) == decide(state, bare(memory), now)
        if data.draw(st.integers(0, 3)) == 0:  # another course from an earlier moment
            earlier, before, then = data.draw(st.sampled_from(course))
            assert decide(earlier, before, then) == decide(earlier, bare(before), then)
            assert decide(earlier, after, then) == decide(earlier, bare(after), then)
        memory = after
        if data.draw(st.booleans()):
            state = applied(state, decisions)
    for earlier, before, then in course:
        assert decide(earlier, before, then) == decide(earlier, bare(before), then)


@given(st.integers(1, 3), st.sampled_from([WHOLE, (*WHOLE, *PARTS)]), st.data())
@settings(deadline=None, max_examples=40)
def test_the_books_that_are_kept_are_those_of_a_session_that_is_opened_anew(
    nodes: int, requests: tuple[PodRequest, ...], data: st.DataObject
) -> None:
    state, memory, now = beginning(nodes), Memory(KNOWN), NOW
    for number in range(data.draw(st.integers(1, 6))):
        for each in range(data.draw(st.integers(0, 3))):
            state = data.draw(steps(state, 10 * number + each, requests))
        now += 25.0
        decisions, memory = decide(state, memory, now)
        if data.draw(st.booleans()):
            state = applied(state, decisions)
    state = data.draw(steps(state, 100, requests))
    kept = memory.ground
    assert kept is not None
    same_nodes = kept.seen.nodes is state.nodes
    ground = Ground.of(state, memory)
    assert (ground is kept) == same_nodes
    assert books(ground, state, memory, now) == books(Ground(state, memory), state, memory, now)


def test_a_memory_may_be_used_twice_and_with_any_state() -> None:
    one = beginning(2).with_pod_groups({"a": PodGroup("a", "q0", (GroupPod("a-0", request=WHOLE[0]),))})
    other = beginning(1).with_pod_groups({"b": PodGroup("b", "q0", (GroupPod("b-0", request=WHOLE[1]),))})
    _, memory = decide(one, Memory(), NOW)
    first = decide(one, memory, NOW + 1)
    assert memory.ground is first[1].ground
    assert decide(one, memory, NOW + 1) == first
    assert decide(other, memory, NOW + 1) == decide(other, bare(memory), NOW + 1)
    forgot = replace(first[1], started={}, stale={})
    assert decide(one, forgot, NOW + 2) == decide(one, bare(forgot), NOW + 2)


def test_a_cycle_that_was_broken_off_leaves_nothing_behind() -> None:
    pods = (GroupPod("a-0", request=WHOLE[0]),)
    state = beginning(1)
    _, memory = decide(state, Memory(), NOW)
    state = state.with_pod_groups({"a": PodGroup("a", "q0", pods)})
    act(Session(state, memory, NOW, Ties.FIRST_USED, Ground.of(state, memory)), Action.ALLOCATE)
    assert decide(state, memory, NOW + 1) == decide(state, bare(memory), NOW + 1)


def test_pods_that_share_a_claim_learn_what_it_was_given() -> None:
    claim = Claim("c", CLASS, 1, {"kai.scheduler/queue": "q0"})
    pods = tuple(GroupPod(f"a-{number}", request=ODD[0], claims=("c",)) for number in range(2))
    group = PodGroup("a", "q0", pods)
    state = replace(beginning(1).with_pod_groups({"a": group}), claims={"c": claim})
    _, memory = decide(state, Memory(KNOWN), NOW)
    assert memory.ground is not None
    gated = replace(group, pods=tuple(replace(pod, status=PodStatus.GATED) for pod in pods))
    state = state.with_pod_groups({"a": gated})
    _, memory = decide(state, memory, NOW)
    given = replace(claim, allocation=Allocation("d", (state.devices[1].key,)))
    state = replace(state, claims={"c": given})
    ground = Ground.of(state, memory)
    assert ground is memory.ground
    assert books(ground, state, memory, NOW) == books(Ground(state, memory), state, memory, NOW)


def test_a_round_after_a_small_change_builds_only_that() -> None:
    """A pod ends: the others, and the nodes that they are on, are those of the round before."""
    pods = tuple(GroupPod(f"a-{number}", request=WHOLE[0]) for number in range(6))
    state = beginning(2).with_pod_groups({"a": PodGroup("a", "q2", pods)})
    decisions, memory = decide(state, Memory(), NOW)
    state = applied(state, decisions)
    _, memory = decide(state, memory, NOW + 1)
    assert memory.ground is not None
    tasks = dict(memory.ground.groups["a"].tasks)
    gone = state.pod_groups["a"].pods[0]
    assert gone.status is PodStatus.RUNNING
    rest = replace(state.pod_groups["a"], pods=state.pod_groups["a"].pods[1:])
    _, memory = decide(state.with_pod_groups({"a": rest}), memory, NOW + 2)
    assert memory.ground is not None
    assert memory.ground.groups["a"].tasks == {pod.id: tasks[pod.id] for pod in rest.pods}
