"""On small worlds the allocator finds what the slowest search finds: the same devices, or nothing."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from allotment.devices.allocator import Allocator, allocate
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request, SubRequest
from allotment.devices.funnel import NoFit
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from tests.devices.worlds import NODE, by_tag, naive, pool, world

DRIVERS = ("blue", "red")
TAGS = ("big", "fast")

exact_requests = st.builds(
    ExactRequest,
    device_class=st.sampled_from(DRIVERS),
    selectors=st.lists(st.sampled_from([f"tag:{tag}" for tag in TAGS]), max_size=1).map(tuple),
    count=st.integers(1, 3),
)


@st.composite
def claims(draw: st.DrawFn) -> ClaimSpec:
    requests = []
    for place in range(draw(st.integers(0, 3))):
        name = f"r{place}"
        if draw(st.booleans()):
            requests.append(Request(name, draw(exact_requests)))
        else:
            subs = draw(st.lists(exact_requests, min_size=1, max_size=3))
            alternatives = tuple(SubRequest(f"s{at}", each) for at, each in enumerate(subs))
            requests.append(Request(name, first_available=alternatives))
    return ClaimSpec(tuple(requests))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    slices = []
    for driver in DRIVERS:
        for place in range(draw(st.integers(0, 2))):
            names = draw(st.permutations(["d0", "d1", "d2", "d10"]))[: draw(st.integers(0, 4))]
            tags = {each: draw(st.lists(st.sampled_from(TAGS), unique=True)) for each in names}
            slices.append(pool(driver, tags, name=f"p{place}", slice_name=f"{driver}-{place}"))
    return world(
        *draw(st.permutations(slices)), classes=world(pool("red", []), pool("blue", [])).classes.values()
    )


@st.composite
def scenes(draw: st.DrawFn) -> tuple[ClaimSpec, World, frozenset[DeviceId]]:
    here = draw(worlds())
    ids = [device_id for device_id, _ in here.devices()]
    taken = draw(st.sets(st.sampled_from(ids))) if ids else set()
    return draw(claims()), here, frozenset(taken)


TIGHT = (
    ClaimSpec((Request("any", ExactRequest("red")), Request("big", ExactRequest("red", ("tag:big",))))),
    world(pool("red", {"d0": ["big"], "d1": []})),
    frozenset[DeviceId](),
)


@given(scenes())
@example(TIGHT)
def test_the_same_devices_or_nothing(scene: tuple[ClaimSpec, World, frozenset[DeviceId]]) -> None:
    claim, here, taken = scene
    answer = allocate(claim, here, NODE, taken, by_tag)
    expected = naive(claim, here, taken)
    assert (answer.results if isinstance(answer, Allocation) else None) == expected
    if isinstance(answer, NoFit):
        assert answer.error is None
        assert answer.waiting == (naive(claim, here, frozenset()) is not None)
        assert str(answer)


@given(scenes())
def test_no_device_twice_and_none_that_is_taken(scene: tuple[ClaimSpec, World, frozenset[DeviceId]]) -> None:
    claim, here, taken = scene
    answer = allocate(claim, here, NODE, taken, by_tag)
    if isinstance(answer, Allocation):
        assert len(set(answer.ids)) == len(answer.ids)
        assert taken.isdisjoint(answer.ids)
        assert set(answer.ids) <= {device_id for device_id, _ in here.devices()}


@given(scenes())
def test_an_allocator_keeps_nothing_between_claims(
    scene: tuple[ClaimSpec, World, frozenset[DeviceId]],
) -> None:
    claim, here, taken = scene
    kept = Allocator(here, NODE, by_tag)
    before = kept.allocate(claim, taken)
    kept.allocate(claim)
    assert kept.allocate(claim, taken) == before == allocate(claim, here, NODE, taken, by_tag)
