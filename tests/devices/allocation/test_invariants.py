"""Whatever is asked for: nothing is given twice or overdrawn, and a naive search finds the same."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.allocation import BEHAVIOURS, Taken, search
from allotment.devices.claims import AllocationMode, ClaimSpec, Constraint, Request, SubRequest
from allotment.devices.slices import CounterSet, Device, DeviceId, ResourceSlice
from tests.devices.allocation.scenes import Scene, card, exact, naive, part, pool, shared

MODELS = ("a", "b")
SAME = Constraint(match_attribute="d/model")
OTHER = Constraint(distinct_attribute="d/model")


@st.composite
def devices(draw: st.DrawFn, name: str, *, sharing: bool = True) -> Device:
    model = {"model": draw(st.sampled_from(MODELS))}
    kind = draw(st.sampled_from(["whole", "part", "shared"] if sharing else ["whole", "part"]))
    if kind == "part":
        return part(name, draw(st.integers(1, 3)), draw(st.sampled_from(["card", "other"])), attributes=model)
    return shared(name, draw(st.sampled_from("48"))) if kind == "shared" else Device(name, attributes=model)


@st.composite
def slices(draw: st.DrawFn, *, sharing: bool = True) -> list[ResourceSlice]:
    found: list[ResourceSlice] = []
    for at in range(draw(st.integers(1, 2))):
        count = draw(st.integers(0, 4))
        here = [draw(devices(f"p{at}-x{place}", sharing=sharing)) for place in range(count)]
        counters = (card(draw(st.integers(0, 5))), CounterSet("other", {"slices": "3"}))
        found += pool(*here, name=f"p{at}", counters=counters)
    return found


@st.composite
def claims(draw: st.DrawFn) -> ClaimSpec:
    requests = []
    for at in range(draw(st.integers(1, 3))):
        wanted = st.builds(
            exact,
            count=st.integers(1, 2),
            capacity=st.sampled_from([{}, {}, {"memory": "3"}]),
            mode=st.sampled_from([AllocationMode.EXACT_COUNT] * 4 + [AllocationMode.ALL]),
            admin_access=st.sampled_from([None, None, None, True]),
        )
        if draw(st.booleans()):
            requests.append(Request(f"r{at}", draw(wanted)))
        else:
            subs = draw(st.lists(wanted, min_size=1, max_size=2))
            alternatives = tuple(SubRequest(f"s{place}", each) for place, each in enumerate(subs))
            requests.append(Request(f"r{at}", first_available=alternatives))
    return ClaimSpec(tuple(requests), draw(st.sampled_from([(), (), (SAME,), (OTHER,)])))


def told(scene: Scene, *claims: ClaimSpec) -> tuple[object, ...]:
    """All that an answer says."""
    attempt = scene.attempt(*claims)
    return attempt.allocations, str(attempt.error), attempt.steps


def overdrawn(scene: Scene, taken: Taken) -> bool:
    """Whether a counter or a capacity is less than nothing."""
    for published in scene.slices:
        left = {
            (each.name, name): int(amount)
            for other in scene.slices
            if other.pool == published.pool
            for each in other.shared_counters
            for name, amount in each.counters.items()
        }
        for device in (each for each in published.devices):
            device_id = published.device_id(device)
            for name, amount in taken.capacity_of(device_id).items():
                if amount > int(device.capacity[name].value) * 10**9:
                    return True
            if device_id in taken.devices or device_id in taken.shares:
                for use in device.consumes_counters:
                    left[use.counter_set, "slices"] -= int(use.counters["slices"])
        if any(amount < 0 for amount in left.values()):
            return True
    return False


@settings(deadline=None)
@given(slices(), st.lists(claims(), min_size=1, max_size=5), st.sampled_from(sorted(BEHAVIOURS)))
def test_nothing_is_given_twice_and_nothing_overdrawn(
    published: list[ResourceSlice], wanted: list[ClaimSpec], build: str
) -> None:
    scene = Scene(published, behaviour=BEHAVIOURS[build])
    given_out: list[DeviceId] = []
    for spec in wanted:
        attempt = scene.attempt(spec)
        for allocation in attempt.allocations or ():
            scene.taken.take(allocation)
            given_out += [
                each.id for each in allocation.results if not each.admin_access and each.share_id is None
            ]
    assert len(set(given_out)) == len(given_out)
    assert not overdrawn(scene, scene.taken)


@settings(deadline=None)
@given(slices(), st.lists(claims(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_allocating_and_releasing_restores_the_state(
    published: list[ResourceSlice], wanted: list[ClaimSpec], order: object
) -> None:
    scene = Scene(published)
    first = told(scene, wanted[0])
    given_out = []
    for spec in wanted:
        before = copy.deepcopy(scene.taken)
        for allocation in scene.attempt(spec).allocations or ():
            scene.taken.take(allocation)
            scene.taken.release(allocation)
            assert scene.taken == before
            scene.taken.take(allocation)
            given_out.append(allocation)
    order.shuffle(given_out)  # type: ignore[attr-defined]
    for allocation in given_out:
        scene.taken.release(allocation)
    assert scene.taken == Taken()
    assert not scene.taken.by_pool
    assert told(scene, wanted[0]) == first


@settings(deadline=None)
@given(slices(sharing=False), st.lists(st.integers(1, 2), min_size=1, max_size=3), st.data())
def test_a_naive_search_over_counters_agrees(
    published: list[ResourceSlice], counts: list[int], data: st.DataObject
) -> None:
    scene = Scene(published)
    ids = [each.device_id(device) for each in published for device in each.devices]
    for device_id in data.draw(st.sets(st.sampled_from(ids), max_size=2)) if ids else ():
        scene.taken.add_device(device_id)
    if overdrawn(scene, scene.taken):
        return
    spec = ClaimSpec(tuple(Request(f"r{at}", exact(count)) for at, count in enumerate(counts)))
    assert scene.devices(spec) == naive(scene, spec)


@settings(deadline=None)
@given(st.lists(st.sampled_from("48"), max_size=3), st.integers(1, 3), st.integers(0, 5), st.integers(0, 3))
def test_a_naive_search_over_shares_agrees(memories: list[str], count: int, share: int, held: int) -> None:
    published = pool(*(shared(f"x{at}", memory) for at, memory in enumerate(memories)))
    scene = Scene(published)
    for published_device in published[0].devices:
        scene.taken.add_share(published[0].device_id(published_device))
        scene.taken.add_capacity(published[0].device_id(published_device), {"memory": held * 10**9})
    spec = ClaimSpec((Request("r", exact(count, capacity={"memory": str(share)})),))
    assert scene.devices(spec) == naive(scene, spec)


@settings(deadline=None)
@given(slices(), claims())
def test_what_is_remembered_changes_no_answer(published: list[ResourceSlice], spec: ClaimSpec) -> None:
    scene = Scene(published)
    walked = told(scene, spec, spec)
    usual = search.SHORT
    search.SHORT = 0  # type: ignore[misc]
    try:
        assert told(scene, spec, spec) == walked
    finally:
        search.SHORT = usual  # type: ignore[misc]
