"""Whatever the world: never too wide, never a victim, the same decisions from the same state, and rest."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.operate import Memory, Pace, Verb, decide
from tests.kubernetes.operate.world import Queue, Work, Workload, World

PACE = Pace(settle=5, patience=8, minimum_runtime=20)
NAMES = ("archive", "laboratory", "library")


@st.composite
def works(draw: st.DrawFn, name: str, queues: tuple[str, ...]) -> Work:
    least = draw(st.integers(1, 4))
    most = draw(st.integers(least, 9))
    completions = draw(st.integers(1, 30))
    told = draw(st.sampled_from(("", "", "0", "2", "5")))
    return Work(
        name,
        draw(st.sampled_from(queues)),
        (least, most),
        min(least, completions),
        completions,
        cards=draw(st.sampled_from((1, 1, 2))),
        annotations={"allotment/at-most": told} if told else {},
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    queues = {}
    for name in draw(st.sets(st.sampled_from(NAMES), min_size=1)):
        quota = draw(st.integers(1, 6))
        queues[name] = Queue(quota, draw(st.one_of(st.none(), st.integers(quota, 12))))
    world = World(queues=queues, devices=draw(st.sampled_from((None, 4, 32))), reclaims=draw(st.booleans()))
    for number in range(draw(st.integers(1, 4))):
        world.add(draw(works(f"work-{number}", tuple(sorted(queues)))))
    return world


def held(world: World) -> None:
    """What is never so, however the world moves."""
    assert sum(map(world.used, world.queues)) <= world.total
    for name, queue in world.queues.items():
        assert queue.limit is None or world.used(name) <= queue.limit


def step(world: World, memory: Memory) -> tuple[list[Any], Memory]:
    snapshot = world.snapshot()
    decisions, after = decide(snapshot, memory, world.clock, PACE)
    assert (decisions, after) == decide(snapshot, memory, world.clock, PACE)
    for each in decisions:
        work = world.works[each.name]
        assert each.to <= work.width or each.verb is Verb.GROWS
        if each.verb is not Verb.GROWS:
            continue
        assert work.window is not None
        assert work.queue is not None
        assert each.to <= min(work.window[1], work.left)
        assert (each.to - each.width) * work.cards <= world.free(work.queue)
    moves = world.write(decisions)
    for each in moves:
        work = world.works[each.name]
        if each.verb in {Verb.SHRINKS, Verb.LOWERED}:
            assert work.window is not None
            assert each.to >= min(work.window[0], work.left, each.width) or each.verb is Verb.LOWERED
    return moves, after


@settings(max_examples=15, deadline=None)
@given(worlds(), st.lists(st.sampled_from(("end", "rest", "restart", "post", "window")), max_size=18))
def test_nothing_is_too_wide_and_no_growth_has_a_victim(world: World, happenings: list[str]) -> None:
    memory = Memory()
    for number, happening in enumerate(happenings):
        happen(world, happening, number)
        memory = Memory() if happening == "restart" else memory
        moves, memory = step(world, memory)
        before = world.victims
        world.play(3)
        if moves and all(each.verb is Verb.GROWS for each in moves) and happening == "rest":
            grown = {each.name for each in moves}
            assert world.victims == before or any(
                work.asked is not None and name not in grown for name, work in world.works.items()
            )
        held(world)


def happen(world: World, happening: str, number: int) -> None:
    names = sorted(world.works)
    work = world.works[names[number % len(names)]]
    if happening == "end" and work.running:
        work.done += 1
    elif happening == "window":
        work.window = (1, 1 + number % 7)
    elif happening == "post" and len(names) < 7:
        queue = sorted(world.queues)[number % len(world.queues)]
        world.add(Work(f"more-{number}", queue, (1, 4), 1, created=world.clock))


@settings(max_examples=15, deadline=None)
@given(worlds())
def test_a_world_in_which_nothing_else_happens_comes_to_rest(world: World) -> None:
    memory = Memory()
    last = 0
    for number in range(80):
        moves, memory = step(world, memory)
        last = number if moves else last
        world.play(5)
        held(world)
    assert last < 60


@settings(max_examples=15, deadline=None)
@given(worlds(), st.integers(0, 5))
def test_a_growth_that_kueue_refuses_whatever_was_free_always_goes_back(world: World, refused: int) -> None:
    for work in world.works.values():
        world.play()
        granted = work.granted
        if granted is None or work.left < work.width or work.slices[-1].reclaimable:
            continue
        work.width = granted.count + 1 + refused
        work.stepped = world.clock
        work.slices.append(Workload(9, work.width, world.clock, since=world.clock, reason="WaitingForQuota"))
        world.clock += PACE.patience + 1
        if work.left < work.width:
            return
        decisions, _ = decide(world.snapshot(), Memory(), world.clock, PACE)
        found = next(each for each in decisions if each.name == work.name)
        assert found.to <= granted.count
        return
