"""Each rule of the window controller, where it holds and where it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from allotment.kubernetes.operate import Decision, Memory, Pace, Verb, decide
from tests.kubernetes.operate.world import START, Queue, Work, Workload, World

PACE = Pace(settle=20, patience=10, minimum_runtime=600)


def decided(world: World, pace: Pace = PACE, memory: Memory | None = None) -> dict[str, Decision]:
    found, _ = decide(world.snapshot(), memory or Memory(), world.clock, pace)
    return {each.name: each for each in found}


def one(world: World, pace: Pace = PACE) -> Decision:
    (found,) = decided(world, pace).values()
    return found


def admitted(**more: object) -> World:
    world = World()
    world.admitted(Work("letters", **more))  # type: ignore[arg-type]
    return world


def test_it_grows_by_as_many_as_it_has_while_there_is_room() -> None:
    found = one(admitted())
    assert (found.verb, found.width, found.to) == (Verb.GROWS, 2, 4)
    assert "6 gpus free in queue archive" in found.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"window": (2, 2)}, "its window is at most 2"),
        ({"completions": 2}, "only 2 volumes are left"),
        ({"completions": 1}, "only 1 volume is left"),
        ({"annotations": {"allotment/at-most": "2"}}, "allotment/at-most says 2"),
        ({"stepped": START + 990}, "it has just been moved"),
        ({"unplaced": 1}, "1 of its pods have no place yet"),
    ],
)
def test_it_does_not_grow(change: dict[str, object], reason: str) -> None:
    found = one(admitted(**change))
    assert (found.verb, found.to) == (Verb.STAYS, 2)
    assert reason in found.reason


def test_it_grows_no_further_than_its_window() -> None:
    assert one(admitted(window=(2, 3))).to == 3


def test_it_grows_no_further_than_its_volumes() -> None:
    assert one(admitted(completions=3)).to == 3


def test_it_grows_no_further_than_what_is_free_without_a_victim() -> None:
    world = admitted(width=4)
    world.admitted(Work("lent", "laboratory", width=3, window=(1, 3)))
    assert decided(world)["letters"].to == 5
    world.works["lent"].slices[0].count = world.works["lent"].width = 4
    world.works["lent"].window = (1, 4)
    assert "0 gpus free" in decided(world)["letters"].reason


def test_it_grows_no_further_than_the_queues_limit() -> None:
    world = admitted(width=3)
    world.queues["archive"] = Queue(2, limit=4)
    assert one(world).to == 4


def test_it_grows_no_further_than_there_are_devices() -> None:
    world = admitted()
    world.devices = 3
    assert one(world).to == 3
    world.devices = 2
    assert "no device that its pods could have is free" in one(world).reason


def test_without_published_devices_quota_decides() -> None:
    world = admitted()
    world.devices = None
    assert one(world).to == 4


def test_two_cards_a_pod_are_counted_twice() -> None:
    world = admitted(width=3, cards=2)
    assert one(world).to == 4


def test_one_grows_at_a_time_and_the_narrowest_first() -> None:
    world = admitted(width=3)
    world.admitted(Work("maps", width=2))
    found = decided(world)
    assert (found["maps"].verb, found["maps"].to) == (Verb.GROWS, 4)
    assert found["letters"].reason == "archive/maps grows first"


def test_it_waits_for_a_growth_that_is_on_its_way() -> None:
    world = admitted()
    maps = world.admitted(Work("maps", width=1, stepped=world.clock - 2))
    maps.width = 2
    found = decided(world)
    assert found["letters"].reason == "archive/maps grows first"
    assert "may still grant 2" in found["maps"].reason


def test_it_waits_while_the_queues_numbers_may_be_old() -> None:
    world = admitted()
    world.works["letters"].slices[0].since = world.clock - 1
    assert "has just been admitted" in one(world).reason


def test_nobody_grows_while_somebody_waits_in_the_queue() -> None:
    world = admitted()
    waiting = world.add(Work("maps", width=7, window=(7, 7)))
    waiting.slices.append(Workload(1, 7, START, since=START, reason="WaitingForQuota"))
    assert "archive/maps (queue archive, 7 gpus) waits in its queue" in decided(world)["letters"].reason


@pytest.mark.parametrize(
    "never",
    [
        lambda work: setattr(work.slices[0], "reason", "Misconfigured"),
        lambda work: setattr(work.slices[0], "active", False),
        lambda work: setattr(work.slices[0], "count", 99),
    ],
)
def test_what_is_never_admitted_holds_nobody_up(never: Callable[[Work], None]) -> None:
    world = admitted()
    waiting = world.add(Work("maps", width=7, window=(7, 7)))
    waiting.slices.append(Workload(1, 7, START, since=START, reason="WaitingForQuota"))
    never(waiting)
    assert decided(world)["letters"].to == 4


def test_nobody_borrows_while_somebody_of_the_cohort_waits() -> None:
    world = admitted(width=3)
    world.queues["laboratory"] = Queue(4)
    waiting = world.add(Work("maps", "laboratory", width=7, window=(7, 7)))
    waiting.slices.append(Workload(1, 7, START, since=START, reason="WaitingForQuota"))
    assert decided(world)["letters"].to == 4
    world.works["letters"].width = world.works["letters"].slices[0].count = 4
    assert "it would borrow, and laboratory/maps" in decided(world)["letters"].reason


def test_a_growth_that_is_not_granted_is_taken_back_and_not_asked_for_again_at_once() -> None:
    world = admitted(width=4)
    letters = world.works["letters"]
    letters.width = 8
    letters.slices.append(Workload(2, 8, world.clock - 11, since=world.clock - 11, reason="WaitingForQuota"))
    letters.stepped = world.clock - 11
    (found,), memory = decide(world.snapshot(), Memory(), world.clock, PACE)
    assert (found.verb, found.to) == (Verb.TAKEN_BACK, 4)
    world.write([found])
    letters.slices[1].finished = "OutOfSync"
    world.clock += 30
    (found,), memory = decide(world.snapshot(), memory, world.clock, PACE)
    assert "asks again in 30 s" in found.reason
    world.clock += 31
    (found,), memory = decide(world.snapshot(), memory, world.clock, PACE)
    assert found.verb is Verb.GROWS


def test_a_growth_is_given_a_moment() -> None:
    world = admitted(width=4)
    letters = world.works["letters"]
    letters.width, letters.stepped = 8, world.clock - 9
    letters.slices.append(Workload(2, 8, world.clock - 9, since=world.clock - 9, reason="WaitingForQuota"))
    assert "may still grant 8" in one(world).reason


def test_after_an_eviction_it_is_lowered_to_what_fits() -> None:
    world = World()
    world.add(Work("letters", width=7)).slices.append(
        Workload(1, 7, START, since=START, evicted=True, reason="WaitingForQuota")
    )
    world.admitted(Work("maps", "laboratory", width=4))
    found = decided(world)["letters"]
    assert (found.verb, found.to) == (Verb.LOWERED, 4)
    assert "it was evicted" in found.reason


def test_after_an_eviction_it_waits_until_the_queues_tell_what_is_free() -> None:
    world = World()
    world.add(Work("letters", width=7)).slices.append(
        Workload(1, 7, START, since=world.clock - 1, evicted=True, reason="WaitingForQuota")
    )
    world.admitted(Work("maps", "laboratory", width=4))
    assert "has just been refused" in decided(world)["letters"].reason


def test_a_stopped_queue_lowers_and_widens_nobody() -> None:
    world = World(queues={"archive": Queue(4, stopped=True), "laboratory": Queue(4)})
    letters = world.admitted(Work("letters", width=4))
    world.admitted(Work("maps", "laboratory", width=5, window=(1, 5)))
    assert "queue archive admits nothing" in decided(world)["letters"].reason
    letters.slices[0].granted, letters.slices[0].evicted = None, True
    found = decided(world)["letters"]
    assert (found.verb, found.to) == (Verb.STAYS, 4)
    assert "queue archive admits nothing" in found.reason


def test_a_local_queue_that_is_not_there_is_said() -> None:
    world = World()
    world.add(Work("letters", queue="archive", width=4)).slices.append(Workload(1, 4, START, since=START))
    del world.queues["archive"]
    assert "its LocalQueue is not there" in decided(world)["letters"].reason


def test_after_an_eviction_it_leaves_what_a_peer_claims_of_its_own() -> None:
    world = World()
    world.add(Work("letters", width=8)).slices.append(
        Workload(1, 8, START, since=START, evicted=True, reason="WaitingForQuota")
    )
    maps = world.add(Work("maps", "laboratory", width=3, window=(3, 3)))
    maps.slices.append(Workload(1, 3, world.clock, since=world.clock - 5))
    assert decided(world)["letters"].to == 5


def test_it_is_not_lowered_below_its_least() -> None:
    world = World()
    world.add(Work("letters", width=6, window=(3, 6))).slices.append(
        Workload(1, 6, START, since=START, evicted=True, reason="WaitingForQuota")
    )
    world.admitted(Work("maps", "laboratory", width=7))
    assert decided(world)["letters"].to == 3
    world.works["letters"].width = world.works["letters"].slices[0].count = 3
    found = decided(world)["letters"]
    assert (found.verb, found.to) == (Verb.STAYS, 3)
    assert "1 of the 3 that it needs at least are free" in found.reason


def test_a_least_that_the_queue_can_never_have_holds_nobody() -> None:
    world = World(queues={"archive": Queue(2, limit=2), "laboratory": Queue(2)})
    world.add(Work("letters", width=3, window=(3, 6))).slices.append(
        Workload(1, 3, START, since=START, evicted=True, reason="WaitingForQuota")
    )
    assert decided(world)["letters"].to == 2


def test_the_last_volume_after_an_eviction_is_not_held_by_its_least() -> None:
    world = World(queues={"archive": Queue(1), "laboratory": Queue(4)})
    world.admitted(Work("maps", "laboratory", width=4))
    letters = world.add(Work("letters", width=4, window=(4, 6), completions=9, done=8))
    letters.slices.append(Workload(1, 4, START, since=START, evicted=True, reason="WaitingForQuota"))
    assert decided(world)["letters"].to == 1


def test_kueue_has_given_back_what_has_run_out_so_nothing_is_cut() -> None:
    world = admitted(width=4, completions=10, done=7)
    world.works["letters"].slices[0].reclaimable = 1
    world.works["letters"].annotations["allotment/at-most"] = "2"
    assert "Kueue has given back" in one(world).reason
    world.works["letters"].slices[0].granted = None
    world.works["letters"].slices[0].evicted = True
    assert "it waits for quota, and 3 volumes are left" in one(world).reason


@pytest.mark.parametrize(("said", "to"), [("3", 3), ("1", 2), ("0", 2)])
def test_it_shrinks_when_told_but_not_below_its_least(said: str, to: int) -> None:
    found = one(admitted(width=4, annotations={"allotment/at-most": said}))
    assert (found.verb, found.to) == (Verb.SHRINKS, to)


def test_it_shrinks_with_its_window() -> None:
    assert one(admitted(width=4, window=(1, 3))).to == 3


def peers(ask: int) -> World:
    """Five of archive's four, and a peer that asks for its own; Kueue may not reclaim here."""
    world = World()
    world.admitted(Work("letters", width=6, window=(2, 8)))
    maps = world.add(Work("maps", "laboratory", width=ask, window=(ask, 8)))
    maps.slices.append(Workload(1, ask, world.clock - 5, since=world.clock - 5, reason="WaitingForQuota"))
    return world


def test_it_shrinks_for_a_peer_whose_own_quota_it_holds_by_just_that() -> None:
    found = decided(peers(3))["letters"]
    assert (found.verb, found.to) == (Verb.SHRINKS, 5)
    assert "laboratory/maps (queue laboratory, 3 gpus) waits, and others hold 1 gpus" in found.reason


@pytest.mark.parametrize("ask", [2, 5])
def test_it_does_not_shrink_for_who_fits_or_wants_more_than_its_own(ask: int) -> None:
    assert decided(peers(ask))["letters"].to == 6


def test_it_does_not_shrink_within_its_minimum_runtime() -> None:
    world = peers(3)
    world.works["letters"].stepped = world.clock - 599
    assert decided(world)["letters"].to == 6


def test_what_was_just_given_is_not_given_again_by_another() -> None:
    world = peers(3)
    world.admitted(Work("plays", width=1, window=(1, 1), stepped=world.clock - 5))
    world.works["letters"].width = world.works["letters"].slices[0].count = 5
    world.works["maps"].slices[0].created = world.clock - 60
    found = decided(world, Pace(settle=20, minimum_runtime=0))
    assert found["letters"].to == 5
    world.works["plays"].stepped = START
    assert decided(world, Pace(settle=20, minimum_runtime=0))["letters"].to == 4


def test_it_gives_nothing_that_would_not_let_the_peer_in() -> None:
    world = peers(4)
    world.works["letters"].window = (5, 8)
    assert decided(world)["letters"].to == 6


def test_several_give_together_the_widest_first() -> None:
    world = World(queues={"archive": Queue(2), "laboratory": Queue(4), "library": Queue(2)})
    world.admitted(Work("letters", width=5, window=(3, 8)))
    world.admitted(Work("plays", "library", width=3, window=(2, 8)))
    maps = world.add(Work("maps", "laboratory", width=3, window=(3, 3)))
    maps.slices.append(Workload(1, 3, world.clock - 5, since=world.clock - 5, reason="WaitingForQuota"))
    found = decided(world)
    assert (found["letters"].to, found["plays"].to) == (3, 2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"owners": ("allotment-window", "scaler")}, "scaler moves its width"),
        ({"owners": ("kubectl",)}, "kubectl moves its width"),
        ({"window": None}, "does not say its window"),
        ({"owners": (), "ours": False}, "has not been handed over"),
        ({"elastic": False}, "it is not elastic"),
    ],
)
def test_what_is_not_its_own_is_left_alone_and_said_once(change: dict[str, object], reason: str) -> None:
    world = admitted(**change)
    (found,), memory = decide(world.snapshot(), Memory(), world.clock, PACE)
    assert (found.verb, found.is_move) == (Verb.LEFT, False)
    assert reason in found.reason
    again, memory = decide(world.snapshot(), memory, world.clock + 60, PACE)
    assert again == ()
    world.works["letters"].owners = ("another",)
    (found,), _ = decide(world.snapshot(), memory, world.clock, PACE)
    assert "another" in found.reason


def test_a_paused_job_stays() -> None:
    world = admitted(width=4, annotations={"allotment/at-most": "2"})
    world.works["letters"].slices[0].active = False
    assert one(world).reason == "it is paused"


def test_what_kueue_does_not_start_again_is_said_with_its_remedy() -> None:
    world = admitted(width=4)
    world.works["letters"].slices[0].finished = "FailedToStart"
    found = one(world)
    assert found.verb is Verb.ASKS
    assert "kubectl -n archive patch job letters" in found.reason
    assert '"kueue.x-k8s.io/workload":null' in found.reason


def test_nothing_grows_under_a_kueue_that_does_not_start_it_again() -> None:
    assert "does not start a Job again" in one(admitted(), Pace(grows=False)).reason


def plain(**more: object) -> World:
    world = World(queues={})
    world.add(Work("letters", queue=None, **more))  # type: ignore[arg-type]
    return world


@pytest.mark.parametrize(
    ("change", "to", "reason"),
    [
        ({"width": 8}, 8, "its window is at most 8"),
        ({"width": 8, "annotations": {"allotment/at-most": "3"}}, 3, "allotment/at-most says 3"),
        ({"width": 3}, 6, "up to 8"),
        ({"width": 3, "unplaced": 2}, 3, "have no place yet"),
        ({"width": 3, "suspended": True}, 3, "it is suspended"),
        ({"width": 8, "completions": 9, "done": 5}, 8, "only 4 volumes are left"),
        ({"width": 3, "stepped": START + 999}, 3, "just been moved"),
    ],
)
def test_by_default_it_is_narrowed_when_told_and_widened_again(
    change: dict[str, object], to: int, reason: str
) -> None:
    found = one(plain(**change))
    assert found.to == to
    assert reason in found.reason


def test_by_default_nothing_grows_where_no_devices_are_told_or_free() -> None:
    world = plain(width=3)
    world.devices = None
    assert "cannot be told" in one(world).reason
    world.devices = 3
    assert "no device" in one(world).reason


def test_kai_is_left_to_itself_and_a_gang_that_cannot_be_is_said() -> None:
    world = plain(width=8, scheduler="kai-scheduler", annotations={"kai.scheduler/batch-min-member": "4"})
    assert "KAI fills" in one(world).reason
    world.works["letters"].done = 18
    found = one(world)
    assert (found.verb, found.is_move) == (Verb.ASKS, False)
    assert "kai.scheduler/batch-min-member=2" in found.reason


def test_jobs_that_ended_or_are_no_campaigns_are_not_looked_at() -> None:
    world = admitted()
    snapshot = world.snapshot()
    objects = [dict(each) for each in snapshot.objects]
    for each in objects:
        if each["kind"] == "Job":
            each["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    ended = type(snapshot)(snapshot.time, tuple(objects))
    assert decide(ended, Memory(), world.clock, PACE)[0] == ()
