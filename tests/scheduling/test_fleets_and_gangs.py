"""Decisions over fleets and gangs beside campaigns: what starts, what is lent and given back, what waits."""

from __future__ import annotations

import pytest

from allotment.devices.slices import DeviceId
from allotment.repository.model import Window
from allotment.scheduling.local import (
    CampaignQueue,
    Decision,
    FleetQueue,
    GangQueue,
    GiveBack,
    LocalMemory,
    LocalState,
    Replica,
    Start,
    StartGang,
    StartReplica,
    Wait,
    decide,
)
from tests.devices.worlds import one, pool, world

CPUS = world(pool("cpu", ["c0", "c1", "c2", "c3"]), memory=16)


def cpu(name: str) -> DeviceId:
    return DeviceId("cpu", "p", name)


def campaign(name: str = "camp", ready: int = 9, **said: object) -> CampaignQueue:
    usual: dict[str, object] = {
        "lane_value": 0,
        "arrival": 0,
        "window": Window(1, 8),
        "running": 0,
        "ready": range(ready),
        "claim": one("cpu"),
    }
    return CampaignQueue(name, **(usual | said))  # type: ignore[arg-type]


def fleet(name: str = "web", up: tuple[Replica, ...] = (), **said: object) -> FleetQueue:
    taken = {replica.number for replica in up}
    usual: dict[str, object] = {
        "lane_value": 0,
        "arrival": 1,
        "min": 1,
        "max": 3,
        "up": up,
        "claim": one("cpu"),
        "preemptible": True,
    }
    usual |= said
    usual.setdefault("ready", [number for number in range(int(str(usual["max"]))) if number not in taken])
    return FleetQueue(name, **usual)  # type: ignore[arg-type]


def gang(name: str = "train", **said: object) -> GangQueue:
    usual: dict[str, object] = {
        "lane_value": 0,
        "arrival": 2,
        "workers": 3,
        "min": 3,
        "claim": one("cpu"),
    }
    return GangQueue(name, **(usual | said))  # type: ignore[arg-type]


def up(*names: str, ending: bool = False) -> tuple[Replica, ...]:
    return tuple(Replica(number, (cpu(name),), ending) for number, name in enumerate(names))


def words(decision: Decision) -> str:
    if isinstance(decision, Start):
        return f"{decision.campaign}{decision.index} {_names(decision.allocation.ids)}"
    if isinstance(decision, StartReplica):
        return f"{decision.fleet}#{decision.number} {_names(decision.allocation.ids)}"
    if isinstance(decision, StartGang):
        return f"{decision.gang} {' | '.join(_names(each.ids) for each in decision.allocations)}"
    if isinstance(decision, GiveBack):
        return f"{decision.fleet}#{decision.number} back for {decision.whom}"
    return f"{decision.campaign} waits: {decision.reason}"


def _names(ids: tuple[DeviceId, ...]) -> str:
    return " ".join(device.device for device in ids)


def shown(
    *queues: CampaignQueue | FleetQueue | GangQueue,
    taken: tuple[str, ...] = (),
    passing: tuple[str, ...] = (),
    free_memory: int | None = None,
) -> list[str]:
    held = {
        device for each in queues if isinstance(each, FleetQueue) for r in each.up for device in r.devices
    }
    state = LocalState(
        tuple(each for each in queues if isinstance(each, CampaignQueue)),
        CPUS,
        frozenset({*map(cpu, (*taken, *passing)), *held}),
        free_memory,
        tuple(each for each in queues if isinstance(each, FleetQueue)),
        tuple(each for each in queues if isinstance(each, GangQueue)),
        frozenset(map(cpu, passing)),
    )
    decisions, _ = decide(state, LocalMemory(), 0.0)
    return [words(decision) for decision in decisions]


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        ((fleet(),), ["web#0 c0", "web#1 c1", "web#2 c2"]),
        ((fleet(max=1),), ["web#0 c0"]),
        ((fleet(min=0, max=2),), ["web#0 c0", "web#1 c1"]),
        ((fleet(min=2, max=2, up=up("c0")),), ["web#1 c1"]),
        ((fleet(min=2, max=2, paused=1, ready=[1]),), ["web#1 c0"]),
        ((fleet(min=2, max=2, paused=2, ready=[]),), []),
        ((campaign(), fleet()), ["camp0 c0", "camp1 c1", "camp2 c2", "camp3 c3", "camp waits: devices"]),
        ((campaign(ready=2), fleet()), ["camp0 c0", "camp1 c1", "web#0 c2", "web#1 c3"]),
        (
            (campaign(), fleet(lane_value=50)),
            ["web#0 c0", "camp0 c1", "camp1 c2", "camp2 c3", "camp waits: devices"],
        ),
    ],
)
def test_a_fleet_has_its_least_number_in_its_turn_and_the_rest_on_what_is_left(
    queues: tuple[CampaignQueue | FleetQueue, ...], expected: list[str]
) -> None:
    outcome = shown(*queues)
    if campaign() in queues and fleet() in queues:
        expected = [*expected, "web waits: devices"]
    assert outcome == expected


def test_a_fleet_that_cannot_have_its_least_number_waits() -> None:
    assert shown(fleet(min=2), taken=("c0", "c1", "c2")) == ["web#0 c3", "web waits: devices"]


LENT = fleet(up=up("c0", "c1", "c2"), max=3)


@pytest.mark.parametrize(
    ("waiter", "lender", "expected"),
    [
        (campaign(ready=1, lane_value=50), LENT, ["camp0 c3"]),
        (campaign(ready=2, lane_value=50), LENT, ["camp0 c3", "web#2 back for camp", "camp waits: devices"]),
        (
            campaign(ready=9, lane_value=50),
            LENT,
            ["camp0 c3", "web#2 back for camp", "web#1 back for camp", "camp waits: devices"],
        ),
        (campaign(ready=2), LENT, ["camp0 c3", "camp waits: devices"]),
        (
            campaign(ready=9, lane_value=50, window=Window(1, 2), running=1),
            LENT,
            ["camp0 c3", "camp waits: window"],
        ),
        (
            campaign(ready=2, lane_value=50),
            fleet(up=up("c0", "c1", "c2"), preemptible=False),
            ["camp0 c3", "camp waits: devices"],
        ),
        (
            campaign(ready=1, lane_value=50, claim=one("cpu", 2)),
            LENT,
            ["web#2 back for camp", "camp waits: devices"],
        ),
        (campaign(ready=1, lane_value=50, claim=one("cpu", 4)), LENT, ["camp waits: devices"]),
        (gang(lane_value=50), LENT, ["web#2 back for train", "web#1 back for train", "train waits: devices"]),
        (gang(lane_value=50, workers=4, min=4), LENT, ["train waits: devices"]),
        (fleet("new", min=2, lane_value=50), LENT, ["new#0 c3", "web#2 back for new", "new waits: devices"]),
    ],
)
def test_what_is_lent_is_given_back_only_where_that_helps(
    waiter: CampaignQueue | FleetQueue | GangQueue, lender: FleetQueue, expected: list[str]
) -> None:
    assert shown(waiter, lender) == expected


def test_what_is_ending_is_waited_for_and_nobody_is_asked_twice() -> None:
    ending = (*up("c0", "c1"), Replica(2, (cpu("c2"),), ending=True))
    wide = campaign(ready=1, lane_value=50, claim=one("cpu", 2))
    assert shown(wide, fleet(up=ending)) == ["camp waits: devices"]
    assert shown(wide, fleet(up=up("c0", "c1"), max=3)) == ["camp0 c2 c3"]


def test_a_replica_does_not_take_what_is_promised_to_somebody_else() -> None:
    ending = (*up("c0"), Replica(1, (cpu("c1"),), ending=True))
    wide = campaign(ready=1, lane_value=50, claim=one("cpu", 3))
    assert shown(wide, fleet(up=ending, max=4)) == ["camp waits: devices"]


def test_memory_is_given_back_too() -> None:
    hungry = campaign(ready=1, lane_value=50, memory_bytes=6)
    lender = fleet(up=up("c0", "c1", "c2"), memory_bytes=4)
    assert shown(hungry, lender, free_memory=4) == ["web#2 back for camp", "camp waits: memory"]


@pytest.mark.parametrize(
    ("queues", "taken", "passing", "expected"),
    [
        ((gang(),), (), (), ["train c0 | c1 | c2"]),
        ((gang(workers=4, min=2),), ("c1",), (), ["train c0 | c2 | c3"]),
        ((gang(claim=one("cpu", 2), workers=2, min=2),), (), (), ["train c0 c1 | c2 c3"]),
        ((gang(),), ("c0", "c1"), (), ["train waits: devices"]),
        ((gang(workers=5, min=5),), (), (), ["train waits: never"]),
        # nobody knows when c0 and c1 come free, so nothing is kept
        ((gang(), campaign(arrival=3, ready=1)), ("c0", "c1"), (), ["camp0 c2", "train waits: devices"]),
        # they come free when volumes end, so c2 is kept
        (
            (gang(), campaign(arrival=3)),
            (),
            ("c0", "c1"),
            ["camp0 c3", "train waits: devices", "camp waits: devices"],
        ),
        # who goes first takes what it can
        (
            (gang(), campaign(arrival=1)),
            (),
            ("c0", "c1"),
            ["camp0 c2", "camp1 c3", "camp waits: devices", "train waits: devices"],
        ),
    ],
)
def test_a_gang_starts_together_or_not_at_all(
    queues: tuple[CampaignQueue | GangQueue, ...],
    taken: tuple[str, ...],
    passing: tuple[str, ...],
    expected: list[str],
) -> None:
    assert shown(*queues, taken=taken, passing=passing) == expected


def test_a_gang_needs_its_memory_at_once() -> None:
    assert shown(gang(memory_bytes=5), free_memory=14) == ["train waits: memory"]
    assert shown(gang(memory_bytes=6), free_memory=14) == ["train waits: never"]


def test_a_wait_of_a_gang_says_how_many_are_missing() -> None:
    state = LocalState((), CPUS, frozenset({cpu("c0"), cpu("c1")}), gangs=(gang(),))
    decisions, _ = decide(state, LocalMemory(), 0.0)
    assert [each.message for each in decisions if isinstance(each, Wait)] == [
        "1 of class cpu needed, 0 free, 4 taken for 1 of 3 that start together"
    ]


@pytest.mark.parametrize("paused_first", [True, False])
def test_extras_of_one_fleet_leave_room_for_the_least_of_another_that_pauses(*, paused_first: bool) -> None:
    up = tuple(Replica(number, (cpu(f"c{number}"),)) for number in range(2))
    wide = fleet("wide", up=up, min=1, max=4, ready=[2, 3], arrival=int(paused_first))
    steady = fleet("steady", min=2, max=2, ready=[], paused=2, arrival=int(not paused_first))
    state = LocalState((), CPUS, frozenset({cpu("c0"), cpu("c1")}), fleets=(wide, steady))
    decisions, _ = decide(state, LocalMemory(), 0.0)
    assert decisions == ()


def test_what_pauses_above_its_least_number_keeps_nothing() -> None:
    up = (Replica(0, (cpu("c0"),)),)
    other = fleet("other", up=up, min=1, max=3, ready=[2], paused=1)
    state = LocalState(
        (), CPUS, frozenset({cpu("c0")}), fleets=(fleet("web", min=0, max=3, ready=[0, 1, 2]), other)
    )
    decisions, _ = decide(state, LocalMemory(), 0.0)
    assert len([each for each in decisions if isinstance(each, StartReplica)]) == 3
