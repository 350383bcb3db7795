"""What holds at every moment on a machine that teams share, whatever they ask for: hours in virtual time.

Each team has two engines that decide for themselves, one after the other, from what all have said; volumes
run for a while and end, or end early for others. The rules are looked at after every turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest
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
    Replica,
    Sharing,
    Start,
    StartGang,
    StartReplica,
    TeamQueue,
    decide,
)
from allotment.scheduling.local_accounts import Account, accounts_of
from allotment.scheduling.local_amounts import NOTHING, measure_of
from tests.devices.worlds import first_of, one, pool, world

TURN = 2.0
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # of hours of decisions, it takes hours
QUOTAS = st.sampled_from([None, 0, 1, 2, 3])
WEIGHTS = st.sampled_from([1, 0, 1, 3])
CLAIMS: tuple[ClaimSpec, ...] = (
    *([one("gpu")] * 5),
    one("gpu", 2),
    one("tpu"),
    first_of(ExactRequest("gpu"), ExactRequest("cpu.allotment")),
    one("cpu.allotment"),
)


@dataclass
class Work:
    """A campaign that comes at a moment: so many volumes, each of which runs so long."""

    name: str
    team: str
    comes: float
    claim: ClaimSpec
    window: int
    lane: int
    seconds: float
    left: list[int]
    running: int = 0
    engine: str = "0"


@dataclass
class Running:
    """What holds devices; ``ends`` is when it ends by itself."""

    holding: Holding
    ends: float
    work: Work | None = None


@dataclass
class Machine:
    """Teams on one machine, each with some engines: those of the team `a` are `a0` and `a1`."""

    world: World
    teams: tuple[TeamQueue, ...]
    works: list[Work]
    fleets: dict[str, FleetQueue]
    gangs: dict[str, GangQueue]
    minimum: float
    grace: float
    now: float = 0.0
    running: list[Running] = field(default_factory=list)
    memories: dict[str, LocalMemory] = field(default_factory=dict)
    reclaimed: int = 0

    def engines(self) -> list[tuple[str, str]]:
        """Each engine with its team."""
        return [(team.name + number, team.name) for team in self.teams for number in "01"]

    def queues(self, engine: str) -> list[Queue]:
        found: list[Queue] = []
        team, number = engine[:-1], engine[-1]
        for place, work in enumerate(self.works):
            ours = (work.team, work.engine) == (team, number)
            if ours and work.comes <= self.now and work.left:
                window = Window(1, work.window)
                found.append(
                    CampaignQueue(work.name, work.lane, place, window, work.running, work.left, work.claim)
                )
        if number != "0":
            return found
        if team in self.fleets:
            fleet = self.fleets[team]
            mine = [each.holding for each in self.running if each.holding.name == fleet.name]
            up = tuple(Replica(each.number, each.devices, each.ending) for each in mine)
            there = {each.number for each in mine}
            ready = [rank for rank in range(fleet.max) if rank not in there]
            found.append(
                FleetQueue(fleet.name, 0, 50, fleet.min, fleet.max, up, ready, fleet.claim, preemptible=True)
            )
        found += [self.gangs[team]] if team in self.gangs else []
        return found

    def holdings(self) -> tuple[Holding, ...]:
        return tuple(each.holding for each in self.running)

    def state(self, engine: str) -> LocalState:
        own = self.queues(engine)
        others = tuple(
            Ask(other, team, queue)
            for other, team in self.engines()
            if other != engine
            for queue in self.queues(other)
        )
        return LocalState(
            campaigns=tuple(each for each in own if isinstance(each, CampaignQueue)),
            fleets=tuple(each for each in own if isinstance(each, FleetQueue)),
            gangs=tuple(each for each in own if isinstance(each, GangQueue)),
            world=self.world,
            taken=frozenset(device for each in self.holdings() for device in each.devices),
            sharing=Sharing(engine, engine[:-1], self.teams, others, self.holdings()),
        )

    def accounts(self) -> dict[str, Account]:
        state = self.state(self.teams[0].name + "0")
        assert state.sharing is not None
        return accounts_of(state, state.sharing, measure_of(self.world))

    def turn_of(self, engine: str) -> int:
        """An engine decides, and does it."""
        before = self.accounts()
        state = self.state(engine)
        memory = self.memories.get(engine, LocalMemory())
        decisions, self.memories[engine] = decide(state, memory, self.now)
        done = 0
        for each in decisions:
            if isinstance(each, Start):
                work = next(work for work in self.works if work.name == each.campaign)
                work.left.remove(each.index)
                work.running += 1
                self.hold(engine, each.campaign, each.index, each.allocation, work)
            elif isinstance(each, StartReplica):
                self.hold(engine, each.fleet, each.number, each.allocation, None)
            elif isinstance(each, StartGang):
                del self.gangs[engine[:-1]]
                for rank, allocation in enumerate(each.allocations):
                    self.hold(engine, each.gang, rank, allocation, None, gang=True)
            elif isinstance(each, Reclaim | GiveBack):
                name, number = (
                    (each.campaign, each.index) if isinstance(each, Reclaim) else (each.fleet, each.number)
                )
                self.end_early(engine, name, number, each, before)
            else:
                continue
            done += 1
        self.look()
        return done

    def hold(
        self, engine: str, name: str, number: int, given: Allocation, work: Work | None, *, gang: bool = False
    ) -> None:
        team = engine[:-1]
        fleet = self.fleets.get(team)
        seconds = work.seconds if work is not None else 60.0 if gang else 1e9
        lends = not gang and (work is not None or fleet is None or number >= fleet.min)
        holding = Holding(
            engine,
            team,
            name,
            number,
            given.ids,
            since=self.now,
            keeps_until=self.now + self.minimum,
            lends=lends,
            passes=work is not None,
            replica=work is None and not gang,
        )
        self.running.append(Running(holding, self.now + seconds, work))

    def end_early(
        self, engine: str, name: str, number: int, why: Reclaim | GiveBack, before: dict[str, Account]
    ) -> None:
        team = engine[:-1]
        one = next(
            each for each in self.running if (each.holding.name, each.holding.number) == (name, number)
        )
        holding = one.holding
        assert holding.engine == engine, "an engine ends what is its own alone"
        assert holding.lends
        assert not holding.ending
        if why.whom in before and why.whom != team:
            self.reclaimed += 1
            assert self.now >= holding.keeps_until, "it has had its minimum runtime"
            account = before[team]
            measure = measure_of(self.world)
            ended = measure.of_holding(holding)
            left = sum(
                measure.of_holding(each.holding).cards
                for each in self.running
                if each.holding.team == team and not each.holding.ending
            )
            assert left - ended.cards >= account.quota - 1e-6 or not ended.cards, "nothing within quota"
            if ended.cards:
                assert left > account.fair.cards, "from what is above the share alone"
            assert before[why.whom].asked != (0, 0), "somebody waits for it"
        one.holding = replace(holding, ending=True)
        one.ends = min(one.ends, self.now + self.grace)

    def look(self) -> None:
        """What holds at every moment."""
        devices = [device for each in self.holdings() for device in each.devices]
        assert len(devices) == len(set(devices)), "a device was given out twice"
        for name, account in self.accounts().items():
            limit = account.team.limit
            assert limit is None or account.all.cards <= limit + 1e-6, f"{name} is above its limit"

    def advance(self) -> None:
        self.now += TURN
        for each in [each for each in self.running if each.ends <= self.now]:
            self.running.remove(each)
            if each.work is not None:
                each.work.running -= 1
                if each.holding.ending:
                    each.work.left.insert(0, each.holding.number)

    def round(self) -> None:
        """Every engine takes turns until none has anything to do."""
        for _ in range(12):
            if not sum(self.turn_of(engine) for engine, _ in self.engines()):
                return
        raise AssertionError("decisions go round")

    def idle(self) -> None:
        """No card is idle while one waits that may have it alone."""
        taken = {device for each in self.holdings() for device in each.devices}
        several = any(
            isinstance(queue, GangQueue) or measure_of(self.world).count(queue.claim, shared=False) > 1
            for engine, _ in self.engines()
            for queue in self.queues(engine)
        )
        accounts = self.accounts()
        for engine, team in self.engines():
            for queue in self.queues(engine):
                if not isinstance(queue, CampaignQueue) or queue.running >= queue.window.max or several:
                    continue
                unit = measure_of(self.world).typical(queue.claim, shared=False)
                if not queue.ready or unit == NOTHING or not accounts[team].has_room(unit):
                    continue
                usable = measure_of(self.world).usable(queue.claim)
                assert usable <= taken, f"{sorted(usable - taken)} idle while `{queue.name}` waits"


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    cards = draw(st.integers(2, 8))
    here = world(
        pool("gpu", [f"g{place}" for place in range(cards)]),
        pool("tpu", [f"t{place}" for place in range(draw(st.integers(0, 2)))]),
        pool("cpu.allotment", [f"c{place}" for place in range(draw(st.integers(0, 2)))]),
    )
    names = ["a", "b", "c"][: draw(st.integers(2, 3))]
    amounts = st.sampled_from([None, 0, 1, 2, 2.5, 4])
    teams = tuple(
        TeamQueue(
            name,
            draw(amounts),
            draw(st.sampled_from([0, 1, 1, 3])),
            draw(st.sampled_from([None, None, None, 2, 5])),
        )
        for name in names
    )
    first = Work("first", "a", 0.0, one("gpu"), draw(st.sampled_from([9, 3])), 0, 90.0, list(range(12)))
    works = [first] + [
        Work(
            f"w{number}",
            draw(st.sampled_from(names)),
            float(draw(st.sampled_from([0, 4, 8, 16]))),
            draw(st.sampled_from(CLAIMS)),
            draw(st.sampled_from([9, 1, 4])),
            draw(st.sampled_from([0, 0, 50])),
            float(draw(st.sampled_from([30, 2, 10, 90]))),
            list(range(draw(st.sampled_from([12, 1, 4])))),
            engine=draw(st.sampled_from("01")),
        )
        for number in range(draw(st.integers(1, 4)))
    ]
    fleets = {
        name: FleetQueue(f"fleet-{name}", 0, 50, draw(st.integers(0, 2)), 4, (), (), one("gpu"))
        for name in names
        if draw(st.integers(0, 4)) == 0
    }
    gangs = {
        name: GangQueue(f"gang-{name}", 0, 60, 3, draw(st.integers(1, 3)), one("gpu"))
        for name in names
        if draw(st.integers(0, 4)) == 0
    }
    minimum, grace = float(draw(st.sampled_from([0, 2, 8]))), float(draw(st.sampled_from([0, 1, 3])))
    return Machine(here, teams, works, fleets, gangs, minimum, grace)


@settings(max_examples=40, deadline=None, phases=NO_SHRINKING)
@given(machines())
def test_at_every_moment(machine: Machine) -> None:
    while machine.now < 36:
        machine.round()
        machine.idle()
        machine.advance()


@settings(max_examples=40, deadline=None, phases=NO_SHRINKING)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, 0, 1, 2, 3]), WEIGHTS, st.integers(0, 9)), min_size=2, max_size=4
    )
)
def test_whoever_comes_when_all_get_what_the_model_says(said: list[tuple[int | None, int, int]]) -> None:
    """Eight cards, one kind of volume, teams that come one after the other: in the end each has its share."""
    cards = world(pool("gpu", [f"g{place}" for place in range(8)]))
    teams = tuple(TeamQueue(f"t{place}", quota, weight) for place, (quota, weight, _) in enumerate(said))
    works = [
        Work(f"w{place}", f"t{place}", 3.0 * place, one("gpu"), 99, 0, 1e9, list(range(wanted)))
        for place, (_, _, wanted) in enumerate(said)
    ]
    machine = Machine(cards, teams, works, {}, {}, minimum=1.0, grace=1.0)
    while machine.now < 30:
        machine.round()
        machine.idle()
        machine.advance()
    accounts = machine.accounts()
    if sum(account.quota for account in accounts.values()) <= 8:
        for account in accounts.values():
            has, fair = account.all.cards, account.fair.cards
            assert has >= fair, f"{account.team.name} has {has} of its {fair}"
    assert sum(account.all.cards for account in accounts.values()) == min(
        8, sum(wanted for *_, wanted in said)
    )
