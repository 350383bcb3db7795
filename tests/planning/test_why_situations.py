"""Ten situations: the sentence names the cause, and what is proposed does make the claim fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.allocator import wants_all
from allotment.devices.cel.parts import conditions
from allotment.devices.claim_objects import ResourceClaim
from allotment.devices.claims import (
    AllocatedDevice,
    Allocation,
    AllocationMode,
    ClaimSpec,
    Constraint,
    ExactRequest,
    Request,
    SubRequest,
)
from allotment.devices.describe import parse_description
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.slices import Capacity, Device, DeviceId, Pool, ResourceSlice, Taint
from allotment.devices.world import World
from allotment.needs.claim import claim_for
from allotment.planning.why.causes import CauseKind
from allotment.planning.why.guess import ChangeKind
from allotment.planning.why.room import Holding, holdings_of
from allotment.planning.why.why import State, Why, why
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import parse_bytes

FLEET = "2 nodes of 4 x H100-SXM, 4 x L4"
GPU = "gpu.nvidia.com"


def need(memory: str | None = None, **more: Any) -> ClaimSpec:
    bounds = None if memory is None else MemoryRange(at_least=parse_bytes(memory))
    return claim_for(Need(memory=bounds, **more))


def exact(*selectors: str, device_class: str = GPU, **more: Any) -> ClaimSpec:
    return ClaimSpec((Request("gpu", ExactRequest(device_class, selectors, **more)),))


def holding(who: str, *ids: DeviceId) -> Holding:
    return Holding(who, Allocation(tuple(AllocatedDevice("", each) for each in ids)))


def devices(world: World, text: str = "") -> list[DeviceId]:
    return [device for device, _ in world.devices() if text in device.device]


def tainted(world: World) -> World:
    taint = Taint("maintenance", "NoSchedule", "now")

    def of(published: ResourceSlice) -> ResourceSlice:
        return replace(published, devices=tuple(replace(each, taints=(taint,)) for each in published.devices))

    return replace(world, slices=tuple(map(of, world.slices)))


def check_changes(told: Why, world: World, holdings: Sequence[Holding] = ()) -> None:
    """Apply each change to the world, by another door than the one that it was tried by."""
    for change in told.changes:
        kept = [each for each in holdings if each not in change.ended] if change.now else []
        taken = {device for each in kept for device in each.allocation.ids}
        placed = Fleet(world, taken=taken).place(change.claim)
        assert isinstance(placed, Placed), change.words
        assert (placed.node, placed.allocation.ids) == (change.node, change.devices)


H100S = parse_description(FLEET)
ON_DEMAND = parse_description("1 x H100-SXM mig=on-demand")
FIRST_SLICE = devices(ON_DEMAND, "mig-1g10gb-19")[0]
SHELVES = parse_description("2 nodes of 2 x H100-SXM")
EVERYBODY = [holding(f"letters/v{place}", device) for place, device in enumerate(devices(H100S))]
RACK = f"device.attributes['{GPU}'].rack == 'a'"
GUARDED = f"device.attributes['{GPU}'].?rack.orValue('') == 'a'"


@dataclass(frozen=True)
class Situation:
    world: World
    claim: ClaimSpec
    state: State
    cause: CauseKind
    says: tuple[str, ...]
    change: str | None
    holdings: Sequence[Holding] = ()
    is_need: bool = True


SITUATIONS: Mapping[str, Situation] = {
    "wrong memory": Situation(
        H100S,
        need("80Gi"),
        State.NEVER,
        CauseKind.CLAUSE,
        ("at least 80Gi", "8 x H100-SXM-80: memory is 79.64Gi (81559Mi)", "4 x L4: memory is 22.49Gi"),
        "write `memory: 79.64Gi` (asked: at least 80Gi, and no card here has more)",
    ),
    "missing attribute": Situation(
        H100S,
        need(select=GUARDED),
        State.NEVER,
        CauseKind.CLAUSE,
        (f"none of 12 devices pass `{GUARDED}`", "8 x H100-SXM-80: no `rack`"),
        f"take `{GUARDED}` out of `select`",
    ),
    "missing attribute, unguarded": Situation(
        H100S,
        need(select=RACK),
        State.NEVER,
        CauseKind.SELECTOR_FAILS,
        ("keeps the pod off every node", "no such key: rack", "gpu-0 of node-1"),
        f"take `{RACK}` out of `select`",
    ),
    "all taken": Situation(
        H100S,
        need("40Gi"),
        State.WAITS,
        CauseKind.IN_USE,
        ("all 8 that would do are in use", "8 x H100-SXM-80, held by letters/v0, letters/v1"),
        "wait for letters/v0 to end",
        EVERYBODY,
    ),
    "several would have to end": Situation(
        H100S,
        need("40Gi", count=3),
        State.WAITS,
        CauseKind.IN_USE,
        ("all 8 that would do are in use",),
        "wait for 3 to end: letters/v0, letters/v1, letters/v2",
        EVERYBODY,
    ),
    "tainted": Situation(
        tainted(H100S),
        need(),
        State.NEVER,
        CauseKind.TAINT,
        ("all 12 that would do are tainted", "maintenance=now:NoSchedule"),
        "have the taint maintenance=now:NoSchedule lifted",
    ),
    "counters of a card that is cut": Situation(
        ON_DEMAND,
        need(),
        State.WAITS,
        CauseKind.COUNTERS,
        (
            "the only device that would do has not enough left",
            "of gpu-0-counter-set are used up by gpu-0-mig-1g10gb-19-0 (small/b)",
        ),
        "wait for small/b to end",
        [holding("small/b", FIRST_SLICE)],
    ),
    "counters of a card that is whole": Situation(
        ON_DEMAND,
        need("30Gi", sharing=("mig",)),
        State.WAITS,
        CauseKind.COUNTERS,
        ("MIG 3g.40gb", "used up by gpu-0 (letters/a)"),
        "wait for letters/a to end",
        [holding("letters/a", devices(ON_DEMAND)[0])],
    ),
    "constraint": Situation(
        H100S,
        need(count=2, same="pcie-root"),
        State.NEVER,
        CauseKind.CONSTRAINT,
        ("all below one PCIe root (`resource.kubernetes.io/pcieRoot`)", "1 x pci0000:10, 1 x pci0000:"),
        "take `same` (all below one PCIe root) out",
    ),
    "class without devices": Situation(
        H100S,
        exact(device_class="mig.nvidia.com"),
        State.NEVER,
        CauseKind.CLASS,
        ("none of 12 devices are partitions of cards (class mig.nvidia.com)", "`type` is gpu"),
        f"ask for the device class `{GPU}` (asked: `mig.nvidia.com`)",
        is_need=False,
    ),
    "class that is not there": Situation(
        H100S,
        exact(device_class="gpu.nvidia.co"),
        State.NEVER,
        CauseKind.NO_CLASS,
        ("there is no device class `gpu.nvidia.co`", GPU),
        f"ask for the device class `{GPU}` (asked: `gpu.nvidia.co`)",
        is_need=False,
    ),
    "two clauses that exclude each other": Situation(
        H100S,
        need("40Gi", card=("L4",)),
        State.NEVER,
        CauseKind.EXCLUSIVE,
        ("two clauses exclude each other", "4 x L4 are L4", "8 x H100-SXM-80 have at least 40Gi of memory"),
        "write `card: H100-SXM-80` (asked: L4)",
    ),
    "two conditions of one selector that exclude each other": Situation(
        H100S,
        exact(
            f"device.attributes['{GPU}'].productName == 'NVIDIA L4' && "
            f"device.capacity['{GPU}'].memory.isGreaterThan(quantity('40Gi'))"
        ),
        State.NEVER,
        CauseKind.EXCLUSIVE,
        ("4 x L4 pass `device.attributes", "8 x H100-SXM-80 pass `device.capacity"),
        "'NVIDIA H100 80GB HBM3'` instead of",
        is_need=False,
    ),
    "fits one by one only": Situation(
        H100S,
        need("40Gi", count=8),
        State.NEVER,
        CauseKind.ONE_NODE,
        (
            "8 are asked for on one node, and no node has so many",
            "of 8 that would do there are 4 on each of node-1, node-2",
        ),
        "write `count: 4` (asked: 8)",
    ),
    "never fits": Situation(
        H100S,
        need("40Gi", count=32),
        State.NEVER,
        CauseKind.ONE_NODE,
        ("it will never fit here", "32 are asked for, and only 8 would do"),
        "write `count: 4` (asked: 32)",
    ),
    "no card at all": Situation(
        World((), H100S.classes, "here"),
        need(),
        State.NEVER,
        CauseKind.NO_DEVICE,
        ("there are no cards at all",),
        None,
    ),
    "capacity that no device has": Situation(
        H100S,
        exact(capacity={"memory": "100Gi"}),
        State.NEVER,
        CauseKind.CAPACITY,
        ("`memory` is 81559Mi, asked 100Gi",),
        "ask for 81559Mi of `memory` (asked: 100Gi)",
        is_need=False,
    ),
    "requests that no node meets at once": Situation(
        H100S,
        ClaimSpec(
            (
                Request(
                    "big",
                    ExactRequest(GPU, (f"device.capacity['{GPU}'].memory.isGreaterThan(quantity('40Gi'))",)),
                ),
                Request(
                    "small",
                    ExactRequest(GPU, (f"device.capacity['{GPU}'].memory.isLessThan(quantity('40Gi'))",)),
                ),
            )
        ),
        State.NEVER,
        CauseKind.TOGETHER,
        (
            "no single node has what all requests ask for",
            "`big` fits on node-1, node-2; `small` fits on node-3",
        ),
        "instead of",
        is_need=False,
    ),
    "constraint over requests": Situation(
        SHELVES,
        ClaimSpec(
            (Request("one", ExactRequest(GPU)), Request("two", ExactRequest(GPU))),
            (Constraint(match_attribute="resource.kubernetes.io/pcieRoot"),),
        ),
        State.NEVER,
        CauseKind.TOGETHER,
        ("`one` has 1 x pci0000:", "`two` has 1 x pci0000:"),
        "take the constraint (all below one PCIe root) out",
        is_need=False,
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_sentence_names_the_cause_and_a_change_makes_it_fit(name: str) -> None:
    case = SITUATIONS[name]
    told = why(case.claim, case.world, case.holdings, is_need=case.is_need)
    assert (told.state, told.cause and told.cause.kind) == (case.state, case.cause), told.sentence
    assert [words for words in case.says if words not in told.sentence] == [], told.sentence
    words = [change.words for change in told.changes]
    assert (case.change is None and not words) or any(case.change in each for each in words if case.change), (
        words
    )
    check_changes(told, case.world, case.holdings)


def test_what_fits_says_so_and_where_and_proposes_nothing() -> None:
    told = why(need("40Gi"), H100S)
    assert (told.state, told.cause, told.changes) == (State.FITS, None, ())
    assert "8 of 12 devices would do (8 x NVIDIA H100 80GB HBM3)" in told.sentence
    assert told.placed is not None
    assert told.placed.node == "node-1"


def test_the_smallest_change_comes_first() -> None:
    told = why(need("80Gi", count=4), H100S)
    assert (
        told.changes[0].words == "write `memory: 79.64Gi` (asked: at least 80Gi, and no card here has more)"
    )


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("H200", "H100-SXM-80"),  # of the same architecture, though there is more of others
        ("A100-80", "A100-40"),
        ("L40S", "H100-SXM-80"),  # of another, with as much memory
        ("B200", "H100-SXM-80"),
        ("L4", "A100-40"),
        ("Hopper", None),
        ("Ada", "A100-40"),
    ],
)
def test_the_nearest_kind_of_card_is_proposed(asked: str, nearest: str | None) -> None:
    world = parse_description("8 x A100-40, 2 x T4, 1 x H100-SXM")
    told = why(need(card=(asked,)), world)
    words = [change.words for change in told.changes if change.kind is ChangeKind.CARD]
    assert [each.partition("`card: ")[2].partition("`")[0] for each in words] == (
        [nearest] if nearest else []
    )
    check_changes(told, world)


def test_what_would_still_have_to_wait_comes_after_what_fits_now() -> None:
    told = why(need("40Gi"), H100S, EVERYBODY[:8])
    assert [(change.kind, change.now) for change in told.changes][:2] == [
        (ChangeKind.WAIT, True),
        (ChangeKind.MEMORY, True),
    ]
    told = why(need("80Gi"), H100S, EVERYBODY)
    assert [(change.kind, change.now) for change in told.changes] == [(ChangeKind.MEMORY, False)]


def test_two_things_are_changed_where_one_is_not_enough() -> None:
    told = why(need("80Gi", count=8), H100S)
    (change,) = told.changes
    assert change.words == (
        "write `memory: 79.64Gi` (asked: at least 80Gi, and no card here has more), "
        "and write `count: 4` (asked: 8)"
    )
    check_changes(told, H100S)


def test_workers_that_start_together_have_to_fit_together() -> None:
    told = why(need("40Gi"), H100S, EVERYBODY[:3], together=6)
    assert (told.state, told.cause and told.cause.kind) == (State.WAITS, CauseKind.TOGETHER)
    assert "6 are to start together, and there is room for 5 now" in told.sentence
    assert {"wait for letters/v0 to end", "write `min: 5` (asked: 6 together)"} <= {
        change.words for change in told.changes
    }
    told = why(need("40Gi"), H100S, together=9)
    assert (told.state, [change.words for change in told.changes]) == (
        State.NEVER,
        ["write `memory: 22.49Gi` (asked: at least 40Gi)", "write `min: 8` (asked: 9 together)"],
    )


def test_alternatives_are_told_apart_and_the_nearest_is_the_cause() -> None:
    claim = claim_for(Need(memory=MemoryRange(at_least=parse_bytes("80Gi")), fallback=(Need(card=("L4",)),)))
    told = why(claim, H100S, [holding("x", *devices(H100S))])
    assert told.state is State.WAITS
    assert "`device/card-2`: all 4 that would do are in use" in told.sentence
    assert [each.name for each in told.alternatives] == ["device/card", "device/card-2"]
    assert told.alternatives[0].steps[-1].lost[0].why == "memory is 79.64Gi (81559Mi)"


def test_a_condition_is_what_a_device_is_lost_to_and_not_the_whole_selector() -> None:
    selector = (
        f"device.driver == '{GPU}' && ({GUARDED} || {GUARDED}) && device.attributes['{GPU}'].type == 'gpu'"
    )
    told = why(exact(selector), H100S, is_need=False)
    (lost,) = [step for step in told.alternatives[0].steps if step.lost]
    assert lost.text == f"({GUARDED} || {GUARDED})"


def test_claims_of_the_world_hold_their_devices_and_are_named() -> None:
    (first,) = devices(parse_description("1 x L4"))
    status = {
        "allocation": {
            "devices": {
                "results": [
                    {"request": "r", "driver": first.driver, "pool": first.pool, "device": first.device}
                ]
            }
        },
        "reservedFor": [{"name": "pod-7", "resource": "pods"}],
    }
    world = replace(parse_description("1 x L4"), claims=(ResourceClaim("c", "team", exact(), status),))
    told = why(exact(), world, is_need=False)
    assert "held by claim team/c of pod-7" in told.sentence
    assert told.changes[0].words == "wait for claim team/c of pod-7 to end"
    check_changes(told, world, holdings_of(world))


# ---- whatever is proposed fits

conditions(" && ".join(["true"] * 40))
"""For long expressions the parser raises the limit of recursions, which hypothesis minds in the middle."""

VALUES = st.sampled_from(["a", "b"])
MADE_DEVICE = st.builds(
    lambda kind, memory, taint, root: Device(
        "d",
        {"kind": kind, "root": root} if kind != "none" else {"root": root},
        {"memory": Capacity(f"{memory}Gi")},
        taints=(Taint("t", "NoSchedule"),) if taint else (),
    ),
    st.sampled_from(["a", "b", "none"]),
    st.integers(1, 4),
    st.booleans(),
    VALUES,
)
DRIVER = "made.example.com"


@st.composite
def worlds(draw: st.DrawFn) -> World:
    slices = []
    for node in range(draw(st.integers(1, 3))):
        made = draw(st.lists(MADE_DEVICE, max_size=3))
        named = tuple(replace(device, name=f"d{place}") for place, device in enumerate(made))
        slices.append(
            ResourceSlice(f"s{node}", DRIVER, Pool(f"n{node}"), node_name=f"n{node}", devices=named)
        )
    classes = {
        name: replace(H100S.classes[GPU], name=name, selectors=(f"device.driver == '{driver}'",))
        for name, driver in {"made": DRIVER, "other": "other.example.com"}.items()
    }
    return World(tuple(slices), classes, "n0")


CONDITIONS = st.sampled_from(
    [
        f"device.attributes['{DRIVER}'].kind == 'a'",
        f"device.attributes['{DRIVER}'].?kind.orValue('') == 'b'",
        f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('2Gi'))",
        f"device.capacity['{DRIVER}'].memory.compareTo(quantity('3Gi')) >= 0",
        f"device.attributes['{DRIVER}'].root == 'a'",
    ]
)
EXACT = st.builds(
    lambda name, parts, count, mode: ExactRequest(name, (" && ".join(parts),) if parts else (), count, mode),
    st.sampled_from(["made", "made", "made", "other", "nowhere"]),
    st.lists(CONDITIONS, max_size=3),
    st.integers(1, 3),
    st.sampled_from([AllocationMode.EXACT_COUNT, AllocationMode.EXACT_COUNT, AllocationMode.ALL]),
)


@st.composite
def claims(draw: st.DrawFn) -> ClaimSpec:
    requests = []
    for number in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            requests.append(Request(f"r{number}", draw(EXACT)))
        else:
            subs = draw(st.lists(EXACT, min_size=1, max_size=2))
            requests.append(
                Request(
                    f"r{number}",
                    first_available=tuple(SubRequest(f"s{place}", each) for place, each in enumerate(subs)),
                )
            )
    constraints = (Constraint(match_attribute=f"{DRIVER}/root"),) if draw(st.booleans()) else ()
    return ClaimSpec(tuple(requests), constraints)


@settings(max_examples=60, deadline=None)
@given(worlds(), claims(), st.data())
def test_whatever_is_proposed_fits(world: World, claim: ClaimSpec, data: st.DataObject) -> None:
    everything = devices(world)
    held = data.draw(st.lists(st.sampled_from(everything), unique=True)) if everything else []
    check_answer(world, claim, held)


def check_answer(world: World, claim: ClaimSpec, held: Sequence[DeviceId]) -> Why:
    """What is told is what the allocator says: of now, of nothing in use, and of one fewer that is."""
    holdings = [holding(f"who-{place}", each) for place, each in enumerate(held)]
    told = why(claim, world, holdings, is_need=False)
    check_changes(told, world, holdings)

    def fits(taken: Sequence[DeviceId]) -> bool:
        return isinstance(Fleet(world, taken=taken).place(claim), Placed)

    later = [(), *([each for each in held if each != one] for one in held if wants_all(claim))]
    now, ever = fits(held), fits(held) or any(map(fits, later))
    assert (told.state is State.FITS) == now
    assert (told.state is not State.NEVER) == ever or (told.state is State.WAITS and wants_all(claim))
    assert (told.cause is None) == now
    assert now or told.sentence.endswith(told.cause.words if told.cause else "")
    return told


def of_roots(**nodes: str) -> World:
    """Nodes with a device for each letter of their words, which is its root."""
    slices = tuple(
        ResourceSlice(
            name,
            DRIVER,
            Pool(name),
            node_name=name,
            devices=tuple(Device(f"d{at}", {"root": root}) for at, root in enumerate(roots)),
        )
        for name, roots in nodes.items()
    )
    made = replace(H100S.classes[GPU], name="made", selectors=(f"device.driver == '{DRIVER}'",))
    return World(slices, {"made": made}, next(iter(nodes)))


def d(node: str, place: int) -> DeviceId:
    return DeviceId(DRIVER, node, f"d{place}")


ALL_OF_ONE_ROOT = ClaimSpec(
    (Request("r", ExactRequest("made", (), 0, AllocationMode.ALL)),),
    (Constraint(match_attribute=f"{DRIVER}/root"),),
)
ALL_OR_TWO = replace(
    ALL_OF_ONE_ROOT,
    requests=(
        Request(
            "r",
            first_available=(
                SubRequest("all", ExactRequest("made", (), 0, AllocationMode.ALL)),
                SubRequest("two", ExactRequest("made", (), 2)),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    ("claim", "nodes", "held", "state", "says"),
    [
        (ALL_OF_ONE_ROOT, {"n0": "ab", "n1": "aa"}, [], State.NEVER, "n0: 1 x a, 1 x b"),
        (ALL_OF_ONE_ROOT, {"n0": "ab", "n1": "aa"}, [d("n0", 0)], State.FITS, "it fits"),
        (ALL_OF_ONE_ROOT, {"n0": "ab", "n1": "aa"}, [d("n0", 0), d("n1", 0)], State.WAITS, "1 of 2 on n1"),
        (ALL_OF_ONE_ROOT, {"n0": "ab", "n1": "aa"}, [d("n1", 0)], State.NEVER, "n0: 1 x a, 1 x b"),
        (ALL_OF_ONE_ROOT, {"n0": "aa"}, [d("n0", 0)], State.WAITS, "none has all of them free: 1 of 2 on n0"),
        (ALL_OF_ONE_ROOT, {"n0": "ab"}, [d("n0", 0)], State.NEVER, "keeps the pod off every node"),
        (ALL_OF_ONE_ROOT, {"n0": "a" * 33}, [], State.NEVER, "32 or fewer"),
        (ALL_OR_TWO, {"n0": "abb"}, [], State.NEVER, "`r/all`: all of a node are asked for"),
        (ALL_OR_TWO, {"n0": "abb"}, [d("n0", 0)], State.FITS, "it fits"),
    ],
)
def test_all_devices_can_fit_beside_others_and_not_alone(
    claim: ClaimSpec, nodes: Mapping[str, str], held: Sequence[DeviceId], state: State, says: str
) -> None:
    """All of a node that break a constraint are an error for every node; one in use has it passed over."""
    told = check_answer(of_roots(**nodes), claim, held)
    assert (told.state, says in told.sentence) == (state, True), told.sentence
