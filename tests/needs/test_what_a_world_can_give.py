"""What of a world a claim can have: the funnel, the nearest device, and the value that would fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.allocator import allocate
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.classes import MIG_CLASS
from allotment.devices.describe import parse_description
from allotment.devices.found import slices_of
from allotment.devices.known_classes import CLASSES
from allotment.devices.slices import (
    AttributeValue,
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceId,
    Pool,
    ResourceSlice,
    Taint,
)
from allotment.devices.world import World
from allotment.needs import claim_for
from allotment.needs.fit import Explanation, explain
from allotment.needs.fit_words import alike_words, funnel_lines, headline, never_words, sentence, to_data
from allotment.needs.memory import memory_selectors
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import format_gi, parse_bytes

GI = 1 << 30
DRIVER = "gpu.nvidia.com"


def needing(gibibytes: float, **more: object) -> Need:
    return replace(Need(memory=MemoryRange(at_least=int(gibibytes * GI))), **more)  # type: ignore[arg-type]


def looked(fleet: str | World, need: Need | ClaimSpec, *taken: str) -> Explanation:
    world = parse_description(fleet) if isinstance(fleet, str) else fleet
    claim = need if isinstance(need, ClaimSpec) else claim_for(need)
    held = {id_ for id_, _ in world.devices() if f"{id_.pool}/{id_.device}" in taken}
    return explain(claim, world, held)


def card(
    name: str,
    memory: str | None = "80Gi",
    *,
    taints: Sequence[Taint] = (),
    consumes: Sequence[CounterConsumption] = (),
    **attributes: AttributeValue,
) -> Device:
    told: Mapping[str, AttributeValue] = {"type": "gpu", "productName": "NVIDIA X", **attributes}
    capacity = {} if memory is None else {"memory": Capacity(memory)}
    return Device(name, told, capacity, tuple(consumes), tuple(taints))


def machine(*devices: Device, driver: str = DRIVER) -> World:
    return World(slices_of(driver, "here", devices), {each.name: each for each in CLASSES}, "here")


def funnel(found: Explanation) -> list[tuple[int, str]]:
    return [(step.left, step.words) for step in found.alternatives[0].steps]


def test_each_clause_says_how_many_devices_are_left() -> None:
    found = looked("2 nodes of 8 x H100-SXM, 2 x A100-40 mig=1g.5gb*7, 4 x L4", needing(40))
    assert funnel(found) == [
        (34, "devices"),
        (20, "are whole NVIDIA cards"),
        (16, "have at least 40Gi of memory"),
    ]
    assert (found.fits_now, found.fits_ever, found.pods) == (True, True, 16)
    assert sentence(found) == "16 of 34 devices would do (16 x NVIDIA H100 80GB HBM3): 16 pods at once"
    (alike,) = found.alternatives[0].alike
    assert alike_words(alike) == "16 x NVIDIA H100 80GB HBM3, 79.64Gi (81559Mi), on node-1, node-2"


def test_a_need_for_several_clauses_is_a_funnel_of_each() -> None:
    need = needing(
        20, card=("Ada", "T4"), select="device.attributes['gpu.nvidia.com'].?brand.orValue('') != ''"
    )
    found = looked("4 x L4, 2 x T4, 1 x A30", need)
    assert funnel(found) == [
        (7, "devices"),
        (7, "are whole NVIDIA cards"),
        (6, "are T4 or Ada Lovelace"),
        (4, "have at least 20Gi of memory"),
        (4, "pass `device.attributes['gpu.nvidia.com'].?brand.orValue('') != ''`"),
    ]


def test_devices_in_use_are_told_apart_from_those_that_would_never_do() -> None:
    found = looked("1 x L4, 1 x L4", needing(10), "node-1/gpu-0")
    assert (found.pods, found.pods_ever) == (1, 2)
    assert list(funnel_lines(found.alternatives[0]))[-1] == "1 is free now  (-1)"
    busy = looked("1 x L4", needing(10), "node-1/gpu-0")
    assert not busy.fits_now
    assert busy.fits_ever
    assert (
        sentence(busy) == "1 of 1 device would do (1 x NVIDIA L4), and none is free: a pod waits until one is"
    )


@pytest.mark.parametrize(
    ("fleet", "need", "short", "suggested"),
    [
        (
            "2 nodes of 8 x H100-SXM",
            needing(80),
            "it has 79.64Gi (81559Mi) of memory, and at least 80Gi is asked for",
            ("memory", "79.64Gi", 16),
        ),
        ("4 x L4, 8 x T4", needing(24), "it has 22.49Gi (23034Mi)", ("memory", "22.49Gi", 4)),
        (
            "2 x A100-40",
            Need(memory=MemoryRange(more_than=40 * GI)),
            "it has 40Gi of memory, and more than 40Gi is asked for",
            ("memory", "40Gi", 2),
        ),
        (
            "2 x A100-40, 3 x A100-80",
            Need(memory=MemoryRange(at_least=10 * GI, at_most=20 * GI)),
            "it has 40Gi of memory, and 10Gi to 20Gi is asked for",
            ("memory", "10Gi..40Gi", 2),
        ),
        (
            "2 x T4",
            Need(memory=MemoryRange(at_least=20 * GI, at_most=24 * GI)),
            "it has 15Gi of memory, and 20Gi to 24Gi is asked for",
            ("memory", "15Gi..24Gi", 2),
        ),
        ("4 x L4, 2 x T4", needing(20, card=("Hopper",)), "it is no Hopper", ("card", "L4", 4)),
        ("8 x H100-SXM", Need(count=16), "node-1 has 8 that would do, and 16 on one node", ("count", "8", 8)),
        ("4 x L4, 2 nodes of 6 x T4", Need(count=8), "node-2 has 6 that would do", ("count", "6", 12)),
    ],
)
def test_where_nothing_fits_the_nearest_says_what_would(
    fleet: str, need: Need, short: str, suggested: tuple[str, str, int]
) -> None:
    key, value, would = suggested
    found = looked(fleet, need)
    assert not found.fits_ever
    nearest = found.alternatives[0].nearest
    assert nearest is not None
    assert len(nearest.short) == 1
    assert short in nearest.short[0]
    assert nearest.suggestion is not None
    assert (nearest.suggestion.key, nearest.suggestion.value, nearest.suggestion.would) == (key, value, would)
    message, hint = never_words(found, "in the described fleet")
    assert message.startswith("nothing in the described fleet will ever do: the nearest is gpu-0 of node-")
    assert hint == f"write `{key}: {value}`, and {would} devices would do"


@pytest.mark.parametrize(
    ("world", "need", "short"),
    [
        (machine(card("gpu-0", None)), needing(8), "it does not tell its memory"),
        (machine(card("gpu-0", "0")), needing(8), "it reports a memory of 0, which means that nobody knows"),
        (
            machine(card("gpu-0", taints=[Taint("gpu.nvidia.com/xid", "NoSchedule", "79")])),
            needing(8),
            "it is tainted (gpu.nvidia.com/xid)",
        ),
        (machine(card("gpu-0")), Need(select="1 == 2"), "it does not pass `1 == 2`"),
        (
            machine(
                Device("gpu-1-128", {"type": "amdgpu"}, {"memory": Capacity("80Gi")}), driver="gpu.amd.com"
            ),
            needing(8),
            "it is a whole card of gpu.amd.com, and whole NVIDIA cards are asked for",
        ),
    ],
)
def test_where_no_other_value_would_help_none_is_offered(world: World, need: Need, short: str) -> None:
    nearest = looked(world, need).alternatives[0].nearest
    assert nearest is not None
    assert nearest.short == (short,)
    assert nearest.suggestion is None


def test_the_nearest_is_short_of_the_fewest_things_and_then_of_the_least() -> None:
    world = machine(card("gpu-0", "24Gi"), card("gpu-1", "40Gi"), card("gpu-2", "32Gi"))
    nearest = looked(world, needing(80)).alternatives[0].nearest
    assert nearest is not None
    assert nearest.id == "gpu.nvidia.com/here/gpu-1"
    worse = machine(card("gpu-0", "40Gi", productName="NVIDIA L4"), card("gpu-1", "79Gi"))
    nearest = looked(worse, needing(80, card=("L4",))).alternatives[0].nearest
    assert nearest is not None
    assert nearest.id == "gpu.nvidia.com/here/gpu-0"


def test_a_taint_without_effect_keeps_no_card_off() -> None:
    world = machine(card("gpu-0", taints=[Taint("gpu.nvidia.com/xid", "None", "13")]))
    assert looked(world, needing(8)).fits_now


def test_alternatives_are_explained_one_by_one() -> None:
    found = looked("4 x L4", needing(80, fallback=(needing(20),)))
    assert [(each.name, each.left) for each in found.alternatives] == [("card", 0), ("card-2", 4)]
    assert found.fits_now
    assert sentence(found) == "4 of 4 devices would do (4 x NVIDIA L4): 4 pods at once"
    never = looked("4 x T4", needing(80, fallback=(needing(20),)))
    assert headline(never) == "nothing here will ever do"
    assert sentence(never).count("the nearest is gpu-0 of node-1 (Tesla T4)") == 2


def test_cards_that_must_be_alike_are_counted_by_what_they_share() -> None:
    need = needing(10, count=3, same="card-model")
    found = looked("2 x L4, 3 x A10, 1 x T4", need)
    assert funnel(found)[-1] == (3, "are 3 or more on one node, all of one model")
    assert found.pods == 1
    mixed = machine(*(card(f"gpu-{n}", productName=f"NVIDIA {n}") for n in range(3)))
    nearest = looked(mixed, need).alternatives[0].nearest
    assert nearest is not None
    assert nearest.short == ("here has 3 that would do, and no 3 of them are alike",)


def test_a_selector_that_cannot_be_evaluated_is_said_and_not_guessed_around() -> None:
    unguarded = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('1Gi')) >= 0"
    found = looked(machine(card("gpu-0"), card("gpu-1", None)), Need(select=unguarded))
    fault = found.alternatives[0].fault
    assert fault is not None
    assert fault == "CEL runtime error: no such key: memory (on gpu-1 of here)"
    assert fault in sentence(found)


def test_a_class_that_is_not_there_is_named() -> None:
    found = looked(machine(card("gpu-0")), ClaimSpec((Request("r", ExactRequest("gpu-a100")),)))
    assert sentence(found) == "nothing here will ever do: there is no device class `gpu-a100`"


def test_a_world_without_cards_says_so() -> None:
    here = machine(Device("cpu-0", {"cpuID": 0}), driver="cpu.allotment")
    assert sentence(looked(here, needing(8))) == "nothing here will ever do: there are no cards at all"
    assert looked(here, Need(cpu=1)).pods == 1


@pytest.mark.parametrize(
    ("memory", "pods", "said"),
    [
        ("160Gi", 2, "2 of 2 devices would do (2 x NVIDIA X): 2 pods at once"),
        ("100Gi", 1, "2 of 2 devices would do (2 x NVIDIA X): 1 pod at once"),
        ("40Gi", 0, "nothing here will ever do: 2 devices would do, but never enough of them at once"),
    ],
)
def test_devices_that_are_cut_on_demand_are_given_while_their_counters_last(
    memory: str, pods: int, said: str
) -> None:
    consumes = [CounterConsumption("set", {"memory": "80Gi"})]
    of = Pool("here", resource_slice_count=2)
    (devices,) = machine(card("gpu-0", consumes=consumes), card("gpu-1", consumes=consumes)).slices
    counters = ResourceSlice(
        "counters", DRIVER, of, "here", shared_counters=(CounterSet("set", {"memory": memory}),)
    )
    here = machine()
    found = looked(replace(here, slices=(replace(devices, pool=of), counters)), needing(8))
    assert found.pods == pods
    assert sentence(found) == said


def test_the_explanation_is_data_too() -> None:
    data = to_data(looked("2 x L4", needing(24)))
    assert data["fits_ever"] is False
    assert data["alternatives"][0]["funnel"][-1] == {"left": 0, "clause": "have at least 24Gi of memory"}
    assert data["alternatives"][0]["nearest"]["would_fit"] == {
        "key": "memory",
        "value": "22.49Gi",
        "devices": 2,
    }


@settings(deadline=None)
@given(st.integers(11, 400_000), st.integers(1, 400))
def test_a_value_that_is_suggested_is_met_and_never_rounded_up(mebibytes: int, gibibytes: int) -> None:
    world = machine(card("gpu-0", f"{mebibytes}Mi"))
    found = looked(world, needing(gibibytes))
    assert found.fits_ever is (mebibytes >= gibibytes * 1024)
    if found.fits_ever:
        return
    nearest = found.alternatives[0].nearest
    assert nearest is not None
    assert nearest.suggestion is not None
    value = nearest.suggestion.value
    assert parse_bytes(value) <= mebibytes << 20
    assert isinstance(
        allocate(claim_for(Need(memory=MemoryRange(at_least=parse_bytes(value)))), world, "here"), Allocation
    )
    assert value in {format_gi(mebibytes << 20), f"{mebibytes // 1024}Gi"}


# The traps of round numbers and odd cards, each seen on a world.


def test_trap_80gi_excludes_every_h100_and_the_value_that_fits_is_said() -> None:
    message, hint = never_words(looked("8 x H100-SXM, 8 x H100-PCIE", needing(80)))
    assert "79.64Gi (81559Mi)" in message
    assert hint == "write `memory: 79.64Gi`, and 16 devices would do"
    assert looked("8 x H100-SXM", needing(79.64)).pods == 8


def test_trap_a_card_of_exactly_40gi_has_40gi_and_not_more() -> None:
    assert looked("2 x A100-40", needing(40)).pods == 2
    assert not looked("2 x A100-40", Need(memory=MemoryRange(more_than=40 * GI))).fits_ever


@pytest.mark.parametrize(
    ("fleet", "value"),
    [("1 x A100-80 mig=3g.40gb*2", "39.25Gi"), ("1 x H100-SXM mig=3g.40gb*2", "39.50Gi")],
)
def test_trap_a_slice_called_40gb_has_less_than_40gi(fleet: str, value: str) -> None:
    parts = ClaimSpec(
        (Request("r", ExactRequest(MIG_CLASS, memory_selectors(MemoryRange(at_least=40 * GI)))),)
    )
    found = looked(fleet, parts)
    nearest = found.alternatives[0].nearest
    assert nearest is not None
    assert nearest.suggestion is not None
    assert nearest.suggestion.value == value
    whole = looked(fleet, needing(40)).alternatives[0].nearest
    assert whole is not None
    assert "it is a partition (MIG 3g.40gb), and whole NVIDIA cards are asked for" in whole.short


def test_trap_a_card_that_tells_no_memory_is_no_error_and_no_match() -> None:
    found = looked("1 x GB10, 1 x L4", needing(8))
    assert found.alternatives[0].fault is None
    assert found.pods == 1
    assert "memory not told by 1 card (NVIDIA GB10): a need for memory leaves such cards out" in found.notes
    assert looked("1 x GB10", Need()).pods == 1


def test_trap_a_memory_of_zero_is_not_taken_for_little() -> None:
    world = machine(card("gpu-0", "0"))
    assert not looked(world, Need(memory=MemoryRange(at_most=10 * GI))).fits_ever
    assert any("memory not told by 1 card" in note for note in looked(world, Need()).notes)


def test_trap_a_vgpu_looks_like_a_card_and_is_said_to_be_none() -> None:
    world = machine(card("gpu-0", "10Gi", productName="GRID A100-10C", brand="NvidiaVCS"))
    found = looked(world, needing(8))
    assert found.fits_now
    assert alike_words(found.alternatives[0].alike[0]) == "1 x GRID A100-10C (vGPU), 10Gi, on here"
    assert any(note.startswith("1 vGPU (GRID A100-10C) published like whole cards") for note in found.notes)
    assert not looked(world, Need(card=("A100-40",))).fits_ever


def test_trap_cards_with_mig_on_and_no_partitions_offer_nothing() -> None:
    empty = replace(slices_of(DRIVER, "node-b", [card("x")])[0], devices=())
    world = replace(machine(card("gpu-0")), slices=(*machine(card("gpu-0")).slices, empty))
    notes = looked(world, needing(8)).notes
    assert any(note.startswith("node-b publishes no device: cards with MIG switched on") for note in notes)


BUS: dict[str, AttributeValue] = {"resource.kubernetes.io/pciBusID": "0000:1b:00.0"}


@pytest.mark.parametrize(
    "devices",
    [
        (
            card("gpu-0", uuid="GPU-a"),
            card("gpu-0-mig-19-0-1", "9856Mi", type="mig", profile="1g.10gb", parentUUID="GPU-a"),
        ),
        (
            Device("gpu-0", {"type": "gpu", "productName": "NVIDIA H100", **BUS}),
            Device("gpu-vfio-0", {"type": "vfio", "productName": "GH100", **BUS}),
        ),
    ],
)
def test_trap_a_card_that_is_listed_twice_is_said(devices: tuple[Device, ...]) -> None:
    notes = looked(machine(*devices), needing(8)).notes
    assert any(note.startswith("gpu-0 of here is listed twice") for note in notes)


def test_partitions_of_a_card_that_is_not_listed_itself_are_not_listed_twice() -> None:
    notes = looked("1 x A100-40 mig=1g.5gb*7", needing(8)).notes
    assert not any("listed twice" in note for note in notes)


def test_devices_that_others_hold_by_claims_of_the_world_are_taken() -> None:
    world = machine(card("gpu-0"), card("gpu-1"))
    assert explain(claim_for(needing(8)), world, {DeviceId(DRIVER, "here", "gpu-1")}).pods == 1
