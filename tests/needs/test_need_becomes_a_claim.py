"""What a pipeline needs, as the claim that it makes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.allocator import allocate
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.known_classes import CLASSES
from allotment.devices.limits import claim_problems
from allotment.devices.world import World
from allotment.errors import AllotmentError
from allotment.needs import claim_for, describe
from allotment.platform.need import MemoryRange, Need, Resources
from tests.devices.worlds import NODE, pool

GI = 1 << 30
MEMORY = "device.capacity['gpu.nvidia.com'].?memory.orValue(quantity('0')).compareTo(quantity('{}')) {} 0"
EIGHT = Need(memory=MemoryRange(at_least=8 * GI))
OR_ONE_CORE = Need(memory=MemoryRange(at_least=8 * GI), fallback=(Need(cpu=1),))


def requests(claim: ClaimSpec) -> list[tuple[str, str, int, tuple[str, ...]]]:
    return [
        (sub.name, sub.exactly.device_class, sub.exactly.count, sub.exactly.selectors)
        for request in claim.requests
        for sub in request.alternatives
    ]


@pytest.mark.parametrize(
    ("need", "cores", "expected"),
    [
        (None, None, [("device", "cpu.allotment", 1, ())]),
        (None, 0.5, [("device", "cpu.allotment", 1, ())]),
        (None, 3, [("device", "cpu.allotment", 3, ())]),
        (None, 2.5, [("device", "cpu.allotment", 3, ())]),
        (None, 64, [("device", "cpu.allotment", 32, ())]),
        (Need(cpu=2), 8, [("device", "cpu.allotment", 2, ())]),
        (Need(), None, [("device", "gpu.nvidia.com", 1, ())]),
        (Need(count=4, isolation="hardware"), None, [("device", "gpu.nvidia.com", 4, ())]),
        (EIGHT, None, [("device", "gpu.nvidia.com", 1, (MEMORY.format("8Gi", ">="),))]),
        (
            OR_ONE_CORE,
            None,
            [
                ("card", "gpu.nvidia.com", 1, (MEMORY.format("8Gi", ">="),)),
                ("cores", "cpu.allotment", 1, ()),
            ],
        ),
        (
            Need(cpu=4, fallback=(Need(count=2), Need(cpu=2), Need())),
            None,
            [
                ("cores", "cpu.allotment", 4, ()),
                ("card", "gpu.nvidia.com", 2, ()),
                ("cores-2", "cpu.allotment", 2, ()),
                ("card-2", "gpu.nvidia.com", 1, ()),
            ],
        ),
    ],
)
def test_a_need_becomes_requests(
    need: Need | None, cores: float | None, expected: list[tuple[str, str, int, tuple[str, ...]]]
) -> None:
    assert requests(claim_for(need, Resources(cpu=cores))) == expected


@pytest.mark.parametrize(
    ("memory", "selectors"),
    [
        (MemoryRange(), ()),
        (MemoryRange(at_least=40 * GI), (MEMORY.format("40Gi", ">="),)),
        (MemoryRange(more_than=40 * GI), (MEMORY.format("40Gi", ">"),)),
        (
            MemoryRange(at_least=20 * GI, at_most=40 * GI),
            (MEMORY.format("20Gi", ">="), MEMORY.format("40Gi", "<=")),
        ),
        (MemoryRange(at_most=40 * GI), (MEMORY.format("0", ">"), MEMORY.format("40Gi", "<="))),
        (MemoryRange(at_least=81559 << 20), (MEMORY.format("81559Mi", ">="),)),
        (MemoryRange(at_least=1000), (MEMORY.format("1000", ">="),)),
    ],
)
def test_memory_becomes_a_guarded_selector(memory: MemoryRange, selectors: tuple[str, ...]) -> None:
    assert requests(claim_for(Need(memory=memory)))[0][3] == selectors


def test_the_claim_as_the_api_has_it() -> None:
    assert claim_for(OR_ONE_CORE).to_template("read") == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "read"},
        "spec": {
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "device",
                            "firstAvailable": [
                                {
                                    "name": "card",
                                    "deviceClassName": "gpu.nvidia.com",
                                    "selectors": [{"cel": {"expression": MEMORY.format("8Gi", ">=")}}],
                                    "allocationMode": "ExactCount",
                                    "count": 1,
                                },
                                {
                                    "name": "cores",
                                    "deviceClassName": "cpu.allotment",
                                    "allocationMode": "ExactCount",
                                    "count": 1,
                                },
                            ],
                        }
                    ]
                }
            }
        },
    }


def test_on_a_machine_without_cards_the_fallback_is_allocated() -> None:
    cores = pool("cpu.allotment", ["cpu-0", "cpu-1"])
    here = World((cores,), {each.name: each for each in CLASSES}, NODE)
    answer = allocate(claim_for(OR_ONE_CORE), here, NODE)
    assert isinstance(answer, Allocation)
    assert [f"{each.request} {each.id.device}" for each in answer.results] == ["device/cores cpu-0"]


needs = st.builds(
    Need,
    memory=st.none() | st.builds(MemoryRange, at_least=st.integers(1, 1 << 50)),
    count=st.integers(1, 32),
) | st.builds(Need, cpu=st.integers(1, 32))


@given(needs, st.lists(needs, max_size=7), st.floats(0.01, 4096))
def test_every_claim_is_one_that_the_api_takes(need: Need, fallback: list[Need], cores: float) -> None:
    with_fallback = Need(need.memory, need.count, cpu=need.cpu, fallback=tuple(fallback))
    assert claim_problems(claim_for(with_fallback)) == ()
    assert claim_problems(claim_for(None, Resources(cpu=cores))) == ()


def test_a_need_that_cannot_be_had_makes_no_claim() -> None:
    with pytest.raises(AllotmentError, match="names several cards"):
        claim_for(Need(card=("h100",)))


@pytest.mark.parametrize(
    ("need", "words"),
    [
        (None, "1 core"),
        (Need(cpu=2), "2 cores"),
        (Need(), "a card"),
        (EIGHT, "a card of at least 8Gi"),
        (OR_ONE_CORE, "a card of at least 8Gi; else 1 core"),
        (Need(MemoryRange(more_than=40 * GI), count=2), "2 cards of more than 40Gi each"),
        (Need(MemoryRange(at_least=20 * GI, at_most=40 * GI)), "a card of 20Gi to 40Gi"),
        (Need(MemoryRange(at_most=40 * GI)), "a card of at most 40Gi"),
        (Need(MemoryRange(at_least=81559 << 20)), "a card of at least 79.64Gi (81559Mi)"),
        (Need(MemoryRange(at_least=3 << 10)), "a card of at least 3Ki"),
        (Need(MemoryRange(at_least=999)), "a card of at least 999 bytes"),
    ],
)
def test_a_claim_in_words(need: Need | None, words: str) -> None:
    assert describe(claim_for(need)) == words


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (ClaimSpec(), "nothing"),
        (
            ClaimSpec(
                (Request("a", ExactRequest("mig.nvidia.com")), Request("b", ExactRequest("x", ("true",), 2)))
            ),
            "a partition of a card, and 2 devices of class x that pass `true`",
        ),
    ],
)
def test_a_claim_that_no_need_made_in_words(claim: ClaimSpec, words: str) -> None:
    assert describe(claim) == words
