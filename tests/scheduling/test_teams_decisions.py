"""Single decisions on a machine that teams share: who starts, who gives back, and what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from allotment.devices.card_shares import CardShare, memory_of_cards, sized
from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.repository.model import Window
from allotment.scheduling.local import (
    Ask,
    CampaignQueue,
    FleetQueue,
    GangQueue,
    GiveBack,
    Holding,
    LocalMemory,
    LocalState,
    Queue,
    Reclaim,
    Sharing,
    Start,
    StartGang,
    StartReplica,
    TeamQueue,
    Wait,
    WaitReason,
    decide,
)
from allotment.scheduling.local_accounts import accounts_of
from allotment.scheduling.local_amounts import measure_of
from allotment.scheduling.local_desk import Desk
from tests.devices.worlds import one, pool, world

CARDS = world(pool("gpu", [f"g{place}" for place in range(8)]), pool("cpu.allotment", ["c0", "c1"]))
NOW = 1000.0
TAKEN = "1 of class gpu needed, 0 free, 8 taken; team `a` has 0 GPUs, its share is 4"
TURN = "what is free goes to others first: team `b`"


def campaign(name: str, ready: int = 9, claim: ClaimSpec = one("gpu"), **said: object) -> CampaignQueue:  # noqa: B008
    usual: dict[str, object] = {"lane_value": 0, "arrival": 0, "window": Window(1, 99), "running": 0}
    return CampaignQueue(name, ready=range(ready), claim=claim, **(usual | said))  # type: ignore[arg-type]


def held(team: str, *cards: int, since: float = 0.0, name: str = "", **said: object) -> list[Holding]:
    """A volume of the team on each of these cards, the later ones newer."""
    return [
        Holding(
            team,
            team,
            name or f"{team}-camp",
            number,
            (DeviceId("gpu", "p", f"g{card}"),),
            since=since + number,
            **said,  # type: ignore[arg-type]
        )
        for number, card in enumerate(cards)
    ]


def decided(
    team: str,
    asks: dict[str, Queue],
    holdings: Sequence[Holding] = (),
    teams: Sequence[TeamQueue] = (),
    here: World = CARDS,
) -> list[str]:
    """What the engine of a team decides, in words; asks of several queues are told apart by what follows."""
    own = [queue for name, queue in asks.items() if name.split()[0] == team]
    state = LocalState(
        campaigns=tuple(each for each in own if isinstance(each, CampaignQueue)),
        fleets=tuple(each for each in own if isinstance(each, FleetQueue)),
        gangs=tuple(each for each in own if isinstance(each, GangQueue)),
        world=here,
        taken=frozenset(device for each in holdings for device in each.devices),
        sharing=Sharing(
            team,
            team,
            tuple(teams),
            tuple(
                Ask(name.split()[0], name.split()[0], queue)
                for name, queue in asks.items()
                if name.split()[0] != team
            ),
            tuple(holdings),
        ),
    )
    decisions, _ = decide(state, LocalMemory(), NOW)
    said = []
    for each in decisions:
        if isinstance(each, Start):
            said.append(f"{each.campaign} {each.index} on {each.allocation.ids[0].device}")
        elif isinstance(each, StartReplica):
            said.append(f"{each.fleet} {each.number} on {each.allocation.ids[0].device}")
        elif isinstance(each, StartGang):
            said.append(f"{each.gang} on {len(each.allocations)}")
        elif isinstance(each, Reclaim):
            said.append(f"{each.campaign} {each.index} ends for {each.whom}")
        elif isinstance(each, GiveBack):
            said.append(f"{each.fleet} {each.number} ends for {each.whom}")
        elif isinstance(each, Wait):
            said.append(f"{each.campaign} waits: {each.reason}")
    return said


def number(said: Sequence[str], words: str) -> int:
    return sum(words in each for each in said)


def test_a_team_alone_has_the_whole_machine() -> None:
    said = decided("a", {"a": campaign("one")})
    assert number(said, "one ") == 9
    assert said[-1] == "one waits: devices"


def test_two_teams_that_ask_start_half_each_whoever_decides_first() -> None:
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two")}
    assert number(decided("a", asks), " on g") == 4
    assert number(decided("b", asks), " on g") == 4
    assert "one waits: share" in decided("a", asks)


def test_weights_and_quotas_are_kais() -> None:
    """Quota 1 + 1 of 8, weights 3 to 1: 1 + 4.5 and 1 + 1.5, in whole cards 6 and 2."""
    teams = (TeamQueue("a", 1, 3), TeamQueue("b", 1, 1))
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two")}
    assert number(decided("a", asks, (), teams), " on g") == 6
    assert number(decided("b", asks, (), teams), " on g") == 2


def test_campaigns_of_a_team_start_with_one_volume_each_and_grow_in_turns() -> None:
    asks: dict[str, Queue] = {
        "a": campaign("late", arrival=1),
        "a 2": campaign("early"),
        "b": campaign("two", ready=1),
    }
    said = decided("a", asks)
    assert [each.split()[0] for each in said if " on g" in each] == [
        "early", "late", "early", "late", "early", "late", "early",
    ]  # fmt: skip


def test_a_higher_lane_of_the_team_goes_first() -> None:
    asks: dict[str, Queue] = {"a": campaign("slow"), "a 2": campaign("fast", lane_value=50, ready=3)}
    assert [each.split()[0] for each in decided("a", asks) if " on g" in each][:3] == ["fast"] * 3


def test_a_limit_is_never_passed_though_cards_are_idle() -> None:
    said = decided("a", {"a": campaign("one")}, held("a", 0), (TeamQueue("a", 1, 1, 3),))
    assert said == ["one 0 on g1", "one 1 on g2", "one waits: limit"]


def test_what_is_above_the_share_comes_back_the_newest_first() -> None:
    """Four of eight are its share: of eight that it has, the newest four end."""
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two")}
    said = decided("a", asks, held("a", *range(8)))
    assert [each for each in said if "ends" in each] == [
        f"a-camp {place} ends for b" for place in (7, 6, 5, 4)
    ]


def test_no_more_ends_than_helps() -> None:
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two", ready=1)}
    assert number(decided("a", asks, held("a", *range(8))), "ends") == 1


def test_what_ends_already_counts_as_free() -> None:
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two", ready=1)}
    holdings = [*held("a", *range(7)), *held("a", 7, name="x", ending=True)]
    assert number(decided("a", asks, holdings), "ends") == 0


def test_nothing_ends_before_its_minimum_runtime() -> None:
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two")}
    young = held("a", *range(8), keeps_until=NOW + 5)
    assert number(decided("a", asks, young), "ends") == 0
    old = [*young[:6], *held("a", 6, 7, name="old", keeps_until=NOW - 5)]
    assert [each for each in decided("a", asks, old) if "ends" in each] == [
        "old 1 ends for b", "old 0 ends for b",
    ]  # fmt: skip


def test_nothing_within_a_quota_ends() -> None:
    teams = (TeamQueue("a", 6), TeamQueue("b", 2))
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two")}
    assert number(decided("a", asks, held("a", *range(8)), teams), "ends") == 2
    assert number(decided("a", asks, held("a", *range(6)), teams), "ends") == 0


def test_a_volume_of_several_cards_that_reaches_into_the_quota_stays() -> None:
    teams = (TeamQueue("a", 3), TeamQueue("b", 4))
    wide = Holding("a", "a", "wide", 0, tuple(DeviceId("gpu", "p", f"g{place}") for place in range(8)))
    assert number(decided("a", {"b": campaign("two")}, [wide], teams), "ends") == 0


def test_nobody_ends_for_a_team_that_has_its_share() -> None:
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two")}
    holdings = [*held("a", *range(5)), *held("b", 5, 6, 7)]
    teams = (TeamQueue("a", 3), TeamQueue("b", 3, 0))
    assert number(decided("a", asks, holdings, teams), "ends") == 0


def test_what_does_not_help_stays() -> None:
    """The asking team can use other cards alone."""
    mixed = world(pool("gpu", ["g0", "g1"]), pool("tpu", ["t0", "t1"]))
    holdings = [
        Holding("a", "a", "one", 0, (DeviceId("gpu", "p", "g0"),)),
        Holding("a", "a", "one", 1, (DeviceId("gpu", "p", "g1"),), since=2.0),
        Holding("a", "a", "one", 2, (DeviceId("tpu", "p", "t0"),), since=1.0),
        Holding("a", "a", "one", 3, (DeviceId("tpu", "p", "t1"),), since=1.0),
    ]
    asks: dict[str, Queue] = {"b": campaign("two", claim=one("tpu"), ready=1)}
    assert decided("a", asks, holdings, here=mixed) == ["one 3 ends for b"]


def test_free_cards_are_kept_for_what_needs_several_and_is_owed_them() -> None:
    """Two cards at once for b: one is free, and one will be when a volume is over."""
    asks: dict[str, Queue] = {"a": campaign("one"), "b": campaign("two", ready=1, claim=one("gpu", 2))}
    young = held("a", *range(7), keeps_until=NOW + 500)
    assert decided("a", asks, young) == ["one waits: share"]


def test_a_gang_of_another_team_starts_by_ends_of_those_above_their_share() -> None:
    gang = GangQueue("gang", 0, 0, 4, 4, one("gpu"))
    asks: dict[str, Queue] = {"a": campaign("one"), "b": gang}
    assert number(decided("a", asks, held("a", *range(8))), "ends for b") == 4
    assert decided("b", asks, held("a", *range(4)))[0] == "gang on 4"


def test_what_is_never_taken_back_stays_within_a_quota_that_is_stated() -> None:
    fleet = FleetQueue("fleet", 0, 0, 2, 5, (), range(5), one("gpu"), preemptible=True)
    asks: dict[str, Queue] = {"a": fleet}
    assert number(decided("a", asks, (), (TeamQueue("a", 2),)), "fleet ") == 5
    assert decided("a", asks, (), (TeamQueue("a", 1),)) == ["fleet 0 on g0", "fleet waits: quota"]
    gang = GangQueue("gang", 0, 0, 4, 4, one("gpu"))
    assert decided("a", {"a": gang}, (), (TeamQueue("a", 3),)) == ["gang waits: quota"]


def test_replicas_above_the_least_number_end_for_another_team_and_for_a_higher_lane() -> None:
    replicas = [
        Holding(
            "a",
            "a",
            "fleet",
            place,
            (DeviceId("gpu", "p", f"g{place}"),),
            replica=True,
            passes=False,
            lends=place >= 2,
        )
        for place in range(8)
    ]
    asks: dict[str, Queue] = {"b": campaign("two", ready=9)}
    assert number(decided("a", asks, replicas), "ends for b") == 4
    asks = {"a": campaign("urgent", lane_value=50, ready=7)}
    assert number(decided("a", asks, replicas), "ends for urgent") == 6


def test_machines_without_cards_share_their_processors_by_weight() -> None:
    small = world(pool("cpu.allotment", [f"c{place}" for place in range(4)]))
    cpu = one("cpu.allotment")
    teams = (TeamQueue("a", 4, 1), TeamQueue("b", 0, 3))
    asks: dict[str, Queue] = {"a": campaign("one", claim=cpu), "b": campaign("two", claim=cpu)}
    assert number(decided("b", asks, (), teams, small), " on c") == 3
    assert number(decided("a", asks, (), teams, small), " on c") == 1


@pytest.mark.parametrize(
    ("asks", "holdings", "words"),
    [
        (
            {"a": campaign("one"), "b": campaign("two")},
            held("b", *range(8), keeps_until=NOW + 150),
            f"{TAKEN}; what others have above their shares has its minimum runtime, at most 3 minutes more",
        ),
        (
            {"a": campaign("one"), "b": campaign("two")},
            held("b", *range(8)),
            f"{TAKEN}; team `b` gives back after the pages in flight",
        ),
        (
            {"a": campaign("one"), "b": campaign("two")},
            held("a", *range(7)),
            f"{TURN} has 1 GPU, its share is 4; team `a` has 7 GPUs, its share is 4",
        ),
    ],
)
def test_words(asks: dict[str, Queue], holdings: list[Holding], words: str) -> None:
    state = LocalState(
        campaigns=(asks["a"],),  # type: ignore[arg-type]
        world=CARDS,
        taken=frozenset(device for each in holdings for device in each.devices),
        sharing=Sharing("a", "a", (), (Ask("b", "b", asks["b"]),), tuple(holdings)),
    )
    decisions, _ = decide(state, LocalMemory(), NOW)
    assert [each.message for each in decisions if isinstance(each, Wait)] == [words]


def test_parts_that_another_engine_asks_for_are_kept_for_it() -> None:
    """Half of the only card is held by this team, and the other half is the other's, which has none."""
    card = parse_description("1 x L4")
    memories = memory_of_cards(card)
    (device,) = memories
    whole = ClaimSpec((Request("r", ExactRequest("gpu.nvidia.com")),))
    half, _ = sized(whole, {"r": CardShare(part=0.5)}, memories)
    mine = campaign("one", claim=half, shared=True, ready=1)
    theirs = campaign("two", claim=half, shared=True, ready=1)
    half_held = Holding("a", "a", "one", 9, (), ((device, memories[device] // 2),))
    state = LocalState(
        (mine,),
        card,
        shares=((device, memories[device] // 2),),
        sharing=Sharing("a", "a", (), (Ask("b", "b", theirs),), (half_held,)),
    )
    decisions, _ = decide(state, LocalMemory(), NOW)
    assert [each.reason for each in decisions if isinstance(each, Wait)] == [WaitReason.SHARE]
    without = replace(state, campaigns=(campaign("one", claim=whole, ready=1),))
    decisions, _ = decide(without, LocalMemory(), NOW)
    assert [each.reason for each in decisions if isinstance(each, Wait)] == [WaitReason.DEVICES]


def test_of_a_gang_as_many_start_as_its_team_may_have() -> None:
    gang = GangQueue("gang", 0, 0, 4, 2, one("gpu"))
    for bounds in (TeamQueue("a", 3), TeamQueue("a", limit=3)):
        assert decided("a", {"a": gang}, teams=[bounds]) == ["gang on 3"]


NEVER_HAD: list[tuple[Queue, TeamQueue, float]] = [
    (GangQueue("gang", 0, 0, 9, 9, one("gpu")), TeamQueue("a"), 0),
    (GangQueue("gang", 0, 0, 4, 4, one("gpu")), TeamQueue("a", limit=2), 0),
    (GangQueue("gang", 0, 0, 4, 4, one("gpu")), TeamQueue("a", 2), 0),
    (GangQueue("gang", 0, 0, 4, 2, one("gpu")), TeamQueue("a", 2), 2),
    (campaign("camp", claim=one("gpu", 4)), TeamQueue("a", limit=2), 0),
    (campaign("camp", lends=False), TeamQueue("a", 1), 1),
    (campaign("camp", lends=True), TeamQueue("a", 1), 9),
    (FleetQueue("fleet", 0, 0, 2, 5, (), range(5), one("gpu")), TeamQueue("a", 3), 3),
    (FleetQueue("fleet", 0, 0, 2, 5, (), range(5), one("gpu"), preemptible=True), TeamQueue("a", 3), 5),
    (FleetQueue("fleet", 0, 0, 2, 5, (), range(5), one("gpu"), preemptible=True), TeamQueue("a", 1), 1),
]


@pytest.mark.parametrize(("queue", "team", "asked"), NEVER_HAD)
def test_what_a_team_can_never_have_takes_nothing_from_the_others(
    queue: Queue, team: TeamQueue, asked: float
) -> None:
    state = LocalState((), CARDS, sharing=Sharing("b", "b", (team,), (Ask("a", "a", queue),)))
    assert state.sharing is not None
    assert accounts_of(state, state.sharing, measure_of(CARDS))["a"].asked.cards == asked


def test_firm_asks_share_one_quota_the_higher_lane_first() -> None:
    asks: dict[str, Queue] = {
        "a first": campaign("first", lends=False),
        "a second": GangQueue("gang", 50, 0, 3, 3, one("gpu")),
        "b": campaign("bs"),
    }
    said = decided("a", asks, teams=[TeamQueue("a", 4), TeamQueue("b", 4)])
    assert (number(said, "gang on 3"), number(said, "first 0")) == (1, 1)
    assert "first waits: quota" in said
    assert number(decided("b", asks, teams=[TeamQueue("a", 4), TeamQueue("b", 4)]), "bs") == 4 + 1


def test_who_hears_gives_back_in_place_of_who_does_not() -> None:
    deaf = held("b", 0, 1, 2, 3, since=90.0, deaf=True)
    holdings = [*deaf, *held("c", 4, 5, 6, 7)]
    asks: dict[str, Queue] = {"a": campaign("as", ready=2), "c": campaign("cs")}
    assert decided("b", asks, holdings) == []
    assert decided("c", asks, holdings)[:2] == ["c-camp 3 ends for a", "c-camp 2 ends for a"]
    told = decided("a", {"a": campaign("as")}, [*deaf, *held("a", 4, 5, 6, 7, lends=False)])
    assert told == ["as waits: devices"]


def test_what_nobody_can_take_back_is_made_up_for_by_those_who_can_give() -> None:
    teams = [TeamQueue("a", 2), TeamQueue("b"), TeamQueue("c")]
    holdings = [*held("b", 0, 1, 2, 3, lends=False), *held("c", 4, 5, 6, 7)]
    said = decided("c", {"a": campaign("as", ready=2), "c": campaign("cs")}, holdings, teams)
    assert number(said, "ends for a") == 2


def test_nothing_ends_on_account_of_what_is_only_about_to_start() -> None:
    here = world(pool("gpu", ["g0", "g1", "g2", "g3"]), pool("tpu", ["t0"]))
    asks: dict[str, Queue] = {"a": campaign("as"), "b": campaign("tp", ready=1, claim=one("tpu"))}
    teams = [TeamQueue("a", 0, 3), TeamQueue("b", 4, 1)]
    assert decided("b", asks, held("b", 0, 1, 2, 3), teams, here) == ["tp 0 on t0"]


def test_hundreds_of_campaigns_that_wait_alike_are_decided_on_at_few_desks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desks: list[LocalState] = []
    begin = Desk.__init__

    def counted(desk: Desk, state: LocalState) -> None:
        desks.append(state)
        begin(desk, state)

    monkeypatch.setattr(Desk, "__init__", counted)
    asks: dict[str, Queue] = {f"{team} {n}": campaign(f"{team}{n}") for team in "ab" for n in range(100)}
    said = decided("b", asks, held("a", 0, 1, 2, 3, 4, 5, 6, 7))
    assert number(said, "waits") == 100
    assert len(desks) < 20
