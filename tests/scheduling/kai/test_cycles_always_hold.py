"""What holds of every cycle, whatever the cluster: tried on made-up ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.scheduling.kai import Action, Bound, Decision, Evicted, Memory, Settings, Ties, decide
from allotment.scheduling.kai.accounts import within
from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.cycle import act
from allotment.scheduling.kai.session import Session
from allotment.scheduling.state.pod_groups import (
    ALLOCATED,
    GroupPod,
    PodGroup,
    PodRequest,
    PodStatus,
    flat,
)
from allotment.scheduling.state.share_queues import NO_LIMIT
from allotment.scheduling.state.state import State
from tests.scheduling.kai.kai_world import NOW, afterwards, cluster, job, node, queue

CARDS = 4
REQUESTS = (
    PodRequest(cpu=1000, memory=1e9, gpus=1),
    PodRequest(cpu=1000, memory=1e9, gpus=2),
    PodRequest(cpu=1000, memory=1e9, fraction=0.5),
    PodRequest(cpu=1000, memory=1e9, fraction=0.25),
    PodRequest(cpu=1000, memory=1e9, gpu_memory=20_000),
    PodRequest(cpu=1000, memory=1e9),
)


@st.composite
def clusters(draw: st.DrawFn) -> State:
    """Some nodes, queues of two levels, jobs; what runs was placed by the model itself."""
    nodes = [node(f"n{number}", CARDS) for number in range(draw(st.integers(1, 3)))]
    tops = [queue("top0", draw(st.integers(0, 6)), weight=2.0), queue("top1", draw(st.integers(0, 4)))]
    queues = [
        queue(
            f"q{number}",
            draw(st.sampled_from([0, 1, 2, 4])),
            weight=draw(st.sampled_from([0.0, 1.0, 3.0])),
            limit=draw(st.sampled_from([NO_LIMIT, 2.0, 5.0])),
            parent=f"top{number % 2}",
            priority=draw(st.sampled_from([100, 200])),
            created=float(number),
        )
        for number in range(draw(st.integers(1, 4)))
    ]
    first = [draw(jobs(f"a{number}", len(queues))) for number in range(draw(st.integers(0, 6)))]
    state = cluster(nodes, [*tops, *queues], first)
    decisions, _ = decide(state, Memory(Settings(actions=(Action.ALLOCATE,))), NOW - 600)
    state = afterwards(state, decisions)
    later = [draw(jobs(f"b{number}", len(queues))) for number in range(draw(st.integers(0, 5)))]
    return state.with_pod_groups({each.name: each for each in later})


@st.composite
def jobs(draw: st.DrawFn, name: str, queues: int) -> PodGroup:
    """A job in one of the queues."""
    count = draw(st.integers(1, 3))
    priority = draw(st.sampled_from([50, 75, 125]))
    return job(
        name,
        f"q{draw(st.integers(0, queues - 1))}",
        count,
        least=draw(st.integers(1, count)),
        request=draw(st.sampled_from(REQUESTS)),
        priority=priority,
        preemptible=priority < 100,
        created=float(draw(st.integers(0, 50))),
    )


def used(pods: Iterable[GroupPod], memory: int = 80_000) -> dict[str, float]:
    """GPUs in use on each node; a shared one counts once."""
    whole: dict[str, float] = defaultdict(float)
    shared: dict[tuple[str, str], int] = defaultdict(int)
    for pod in pods:
        if pod.node is None or pod.status not in ALLOCATED:
            continue
        whole[pod.node] += pod.request.gpus
        for group in pod.gpu_groups if pod.request.shared else ():
            part = pod.request.gpu_memory or int(pod.request.fraction * memory)
            shared[pod.node, group] += part
            assert shared[pod.node, group] <= memory, "a card is shared beyond its memory"
    for name, _ in shared:
        whole[name] += 1
    return whole


def bound_only(decisions: Iterable[Decision]) -> list[Decision]:
    return [each for each in decisions if isinstance(each, Bound)]


def all_pods(state: State) -> list[GroupPod]:
    return [pod for group in state.pod_groups.values() for pod in group.pods]


@settings(max_examples=60, deadline=None)
@given(clusters())
def test_no_device_and_no_share_is_given_twice(state: State) -> None:
    decisions, _ = decide(state, Memory(), NOW)
    for later in (afterwards(state, decisions), afterwards(state, bound_only(decisions))):
        assert all(amount <= CARDS for amount in used(all_pods(later)).values())


@settings(max_examples=60, deadline=None)
@given(clusters())
def test_no_limit_is_passed(state: State) -> None:
    decisions, _ = decide(state, Memory(), NOW)
    later = afterwards(state, bound_only(decisions))
    session = Session(later, Memory(), NOW, Ties.FIRST_USED)
    for name, account in session.accounts.items():
        limit = state.share_queues[name].gpu.limit
        assert limit == NO_LIMIT or account.held[GPU] <= limit + 1e-9


@settings(max_examples=60, deadline=None)
@given(clusters())
def test_nothing_within_quota_is_reclaimed(state: State) -> None:
    """Of a queue that loses pods, it or one above it held more than its quota of something."""
    session = Session(state, Memory(), NOW, Ties.FIRST_USED)
    over = {name: not within(each.held, each.quota) for name, each in session.accounts.items()}
    act(session, Action.RECLAIM)
    for evicted in (each for each in session.decisions if isinstance(each, Evicted)):
        group = session.groups[evicted.group]
        if group.tasks[evicted.pod].status is PodStatus.PIPELINED:
            continue  # it is moved
        assert any(over[account.name] for account in session.accounts[group.queue].line)


@settings(max_examples=30, deadline=None)
@given(clusters(), st.sampled_from(Ties))
def test_the_same_state_decides_the_same(state: State, ties: Ties) -> None:
    pods = all_pods(state)
    first = decide(state, Memory(), NOW, ties)
    assert decide(state, Memory(), NOW, ties) == first
    assert all_pods(state) == pods


@settings(max_examples=40, deadline=None)
@given(clusters())
def test_what_cannot_be_preempted_never_leaves_for_others(state: State) -> None:
    decisions, _ = decide(state, Memory(), NOW)
    for each in decisions:
        if isinstance(each, Evicted) and each.action is not Action.STALE:
            assert state.pod_groups[each.group].preemptible


@settings(max_examples=40, deadline=None)
@given(clusters())
def test_books_are_straight_after_a_cycle(state: State) -> None:
    """What queues hold in the session is what their pods hold."""
    session = Session(state, Memory(), NOW, Ties.FIRST_USED)
    for action in Action:
        act(session, action)
    for name, account in session.accounts.items():
        below = [each for each in session.accounts.values() if account in list(each.line)]
        tasks = [
            task
            for group in session.groups.values()
            if any(group.queue == each.name for each in below)
            for task in group.tasks.values()
            if task.active
        ]
        for axis in range(3):
            assert abs(account.held[axis] - sum(task.accepted[axis] for task in tasks)) < 1e-6, name


@settings(max_examples=25, deadline=None)
@given(clusters())
def test_the_actions_of_a_cycle_can_be_run_one_by_one(state: State) -> None:
    """Decisions carry the action that made them, in the order of actions."""
    decisions, _ = decide(state, Memory(), NOW)
    order = [list(Action).index(each.action) for each in decisions if isinstance(each, (Bound, Evicted))]
    assert order == sorted(order)


def test_a_cluster_settles() -> None:
    """Cycle after cycle, nothing is evicted again and again for the same job."""
    state = cluster(
        [node("n0", CARDS), node("n1", CARDS)],
        [queue("q0", 4, weight=3.0), queue("q1", 4, weight=1.0, created=1.0)],
        [
            replace(job(f"j{number}", f"q{number % 2}", 2, least=1, created=float(number)), tree=flat(1))
            for number in range(8)
        ],
    )
    memory = Memory()
    for cycle in range(6):
        decisions, memory = decide(state, memory, NOW + cycle)
        state = afterwards(state, decisions)
    decisions, _ = decide(state, memory, NOW + 10)
    assert not [each for each in decisions if isinstance(each, (Bound, Evicted))]
    assert sum(used(all_pods(state)).values()) == 2 * CARDS
