"""Single decisions on a machine, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import pytest

from allotment.devices.claims import ExactRequest
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.repository.model import Window
from allotment.scheduling.local import (
    CampaignQueue,
    LocalMemory,
    LocalState,
    Start,
    Ties,
    Wait,
    WaitReason,
    decide,
)
from tests.devices.worlds import first_of, one, pool, world

GI = 1 << 30
CPUS = world(pool("cpu", ["c0", "c1", "c2"]), pool("gpu", ["g0"]), memory=16 * GI)
NOTHING = LocalMemory()


def queue(name: str = "a", **said: object) -> CampaignQueue:
    usual: dict[str, object] = {
        "lane_value": 0,
        "arrival": 0,
        "window": Window(1, 8),
        "running": 0,
        "ready": range(5),
        "claim": one("cpu"),
    }
    return CampaignQueue(name, **(usual | said))  # type: ignore[arg-type]


def state(
    *campaigns: CampaignQueue,
    here: World = CPUS,
    taken: Sequence[str] = (),
    free_memory: int | None = None,
) -> LocalState:
    held = frozenset(DeviceId("gpu" if name[0] == "g" else "cpu", "p", name) for name in taken)
    return LocalState(campaigns, here, held, free_memory)


def shown(given: LocalState, ties: Ties = Ties.NAME) -> list[str]:
    decisions, _ = decide(given, NOTHING, 0.0, ties)
    return [
        f"{each.campaign}{each.index} {' '.join(device.device for device in each.allocation.ids)}"
        if isinstance(each, Start)
        else f"{each.campaign} waits: {each.reason}"
        for each in decisions
        if isinstance(each, Start | Wait)
    ]


def test_it_starts_with_what_is_free_and_grows() -> None:
    assert shown(state(queue(), taken=["c1"])) == ["a0 c0", "a1 c2", "a waits: devices"]
    assert shown(state(queue(running=2, ready=range(2, 5)), taken=["c0", "c2"])) == [
        "a2 c1",
        "a waits: devices",
    ]


def test_a_higher_lane_goes_first_then_an_earlier_arrival() -> None:
    late = queue("late", arrival=2)
    early = queue("early", arrival=1, window=Window(1, 1), ready=range(1))
    urgent = queue("urgent", lane_value=50, arrival=3, window=Window(1, 1), ready=range(1))
    assert shown(state(late, early, urgent)) == ["urgent0 c0", "early0 c1", "late0 c2", "late waits: devices"]


def test_what_the_first_cannot_use_goes_to_the_next() -> None:
    wide = queue("wide", lane_value=50, claim=one("cpu", 2))
    narrow = queue("narrow", ready=range(2))
    assert shown(state(wide, narrow)) == [
        "wide0 c0 c1",
        "narrow0 c2",
        "wide waits: devices",
        "narrow waits: devices",
    ]


def test_ties_by_name_or_as_listed() -> None:
    pair = (queue("b", ready=range(1)), queue("a", ready=range(1)))
    assert shown(state(*pair), Ties.NAME) == ["a0 c0", "b0 c1"]
    assert shown(state(*pair), Ties.LISTED) == ["b0 c0", "a0 c1"]


def test_the_fallback_is_taken_when_the_cards_are_out() -> None:
    either = first_of(ExactRequest("gpu"), ExactRequest("cpu"))
    decisions, _ = decide(state(queue(claim=either, ready=range(2))), NOTHING, 0.0)
    assert [
        (each.allocation.ids[0].device, each.reason) for each in decisions if isinstance(each, Start)
    ] == [
        ("g0", "it fits, 1 of at most 8 at once"),
        ("c0", "it fits, 2 of at most 8 at once, with the fallback r/b"),
    ]


@pytest.mark.parametrize(
    ("campaign", "taken", "free_memory", "reason", "message"),
    [
        (queue(running=8), (), None, WaitReason.WINDOW, "8 run, and its window is 8"),
        (
            queue(claim=one("cpu", 2)),
            ("c0", "c1"),
            None,
            WaitReason.DEVICES,
            "2 of class cpu needed, 1 free, 2 taken",
        ),
        (
            queue(memory_bytes=12 * GI),
            (),
            5 * GI,
            WaitReason.MEMORY,
            "12.00Gi of memory needed, 5.00Gi free",
        ),
        (
            queue(memory_bytes=20 * GI),
            (),
            5 * GI,
            WaitReason.NEVER,
            "20.00Gi of memory needed, the machine has 16.00Gi",
        ),
        (queue(claim=one("gpu", 2)), (), None, WaitReason.NEVER, "2 of class gpu needed, only 1 would do"),
        (
            queue(claim=one("gpu", 2), memory_bytes=12 * GI),
            ("g0",),
            5 * GI,
            WaitReason.NEVER,
            "2 of class gpu needed, only 1 would do",
        ),
        (
            queue(claim=one("tpu")),
            (),
            None,
            WaitReason.NEVER,
            "request r: device class tpu does not exist",
        ),
    ],
)
def test_why_a_campaign_waits(
    campaign: CampaignQueue, taken: Sequence[str], free_memory: int | None, reason: WaitReason, message: str
) -> None:
    decisions, _ = decide(state(campaign, taken=taken, free_memory=free_memory), NOTHING, 7.0)
    assert decisions == (Wait("a", reason, message, 7.0),)


def test_memory_that_is_not_looked_at_keeps_nobody_waiting() -> None:
    assert shown(state(queue(memory_bytes=99 * GI, ready=range(1)))) == ["a0 c0"]


def test_a_campaign_with_nothing_ready_is_not_spoken_of() -> None:
    decisions, memory = decide(state(queue(ready=()), queue("b", ready=(), claim=one("tpu"))), NOTHING, 0.0)
    assert decisions == ()
    assert memory == NOTHING


def test_since_when_it_waits_is_remembered_while_the_reason_stays() -> None:
    busy = state(queue(), taken=["c0", "c1", "c2"])
    _, memory = decide(busy, NOTHING, 10.0)
    decisions, memory = decide(busy, memory, 20.0)
    assert [each.since for each in decisions if isinstance(each, Wait)] == [10.0]
    full = state(queue(running=8), taken=["c0", "c1", "c2"])
    decisions, memory = decide(full, memory, 30.0)
    assert [(each.reason, each.since) for each in decisions if isinstance(each, Wait)] == [
        (WaitReason.WINDOW, 30.0)
    ]
    _, memory = decide(state(queue(ready=())), memory, 40.0)
    assert memory == NOTHING


class Counted(Sequence[int]):
    """A hundred thousand ready indexes that count how many of them are looked at."""

    looked_at = 0

    def __len__(self) -> int:
        return 100_000

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        raise AssertionError("not copied, not searched")

    def __iter__(self) -> Iterator[int]:
        for index in range(len(self)):
            self.looked_at += 1
            yield index


def test_only_as_many_ready_indexes_are_looked_at_as_can_start() -> None:
    ready = Counted()
    many = world(pool("cpu", [f"c{place}" for place in range(200)]))
    wide = queue(ready=ready, window=Window(1, 100_000))
    decisions, _ = decide(state(wide, here=many), NOTHING, 0.0)
    assert len(decisions) == 201
    assert ready.looked_at <= 201
