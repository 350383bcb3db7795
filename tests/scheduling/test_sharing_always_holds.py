"""What holds for every decision over campaigns, fleets and gangs, and over many turns of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.repository.model import Window
from allotment.scheduling.local import (
    CampaignQueue,
    FleetQueue,
    GangQueue,
    GiveBack,
    LocalMemory,
    LocalState,
    Queue,
    Replica,
    Start,
    StartGang,
    StartReplica,
    decide,
)
from tests.devices.worlds import first_of, one, pool, world

MEMORY = 12
CLAIMS: tuple[ClaimSpec, ...] = (
    one("cpu"),
    one("cpu", 2),
    one("gpu"),
    first_of(ExactRequest("gpu"), ExactRequest("cpu")),
)
LANES = st.sampled_from([-10, 0, 50])
SIZES = st.sampled_from([0, 1, 4])


@dataclass
class Machine:
    """A machine on which decisions are carried out, turn by turn."""

    world: World
    campaigns: list[tuple[str, int, int, ClaimSpec, int, int]]  # name, lane, window, claim, memory, volumes
    fleets: list[FleetQueue]
    gangs: list[GangQueue]
    foreign: frozenset[DeviceId]
    memory_looked_at: bool
    running: dict[tuple[str, int], tuple[Allocation, int]] = field(default_factory=dict)
    started: set[tuple[str, int]] = field(default_factory=set)
    replicas: dict[str, dict[int, Replica]] = field(default_factory=dict)
    ganged: dict[str, tuple[Allocation, ...]] = field(default_factory=dict)
    remembered: LocalMemory = field(default_factory=LocalMemory)

    def state(self) -> LocalState:
        used = sum(memory for _, memory in self.running.values())
        used += sum(fleet.memory_bytes * len(self.replicas.get(fleet.name, {})) for fleet in self.fleets)
        used += sum(gang.memory_bytes * len(self.ganged.get(gang.name, ())) for gang in self.gangs)
        return LocalState(
            campaigns=tuple(self._campaign(place, each) for place, each in enumerate(self.campaigns)),
            world=self.world,
            taken=self.foreign | self.held(),
            free_memory=max(0, MEMORY - used) if self.memory_looked_at else None,
            fleets=tuple(self._fleet(fleet) for fleet in self.fleets),
            gangs=tuple(gang for gang in self.gangs if gang.name not in self.ganged),
            passing=frozenset(id_ for allocation, _ in self.running.values() for id_ in allocation.ids),
        )

    def held(self) -> frozenset[DeviceId]:
        devices = [id_ for allocation, _ in self.running.values() for id_ in allocation.ids]
        devices += [id_ for up in self.replicas.values() for each in up.values() for id_ in each.devices]
        devices += [id_ for each in self.ganged.values() for allocation in each for id_ in allocation.ids]
        assert len(set(devices)) == len(devices), "a device was given out twice"
        return frozenset(devices)

    def _campaign(self, place: int, said: tuple[str, int, int, ClaimSpec, int, int]) -> CampaignQueue:
        name, lane, window, claim, memory, volumes = said
        running = sum(campaign == name for campaign, _ in self.running)
        ready = [index for index in range(volumes) if (name, index) not in self.started]
        return CampaignQueue(name, lane, place, Window(1, window), running, ready, claim, memory)

    def _fleet(self, fleet: FleetQueue) -> FleetQueue:
        up = self.replicas.get(fleet.name, {})
        ready = [number for number in range(fleet.max) if number not in up]
        return FleetQueue(
            fleet.name,
            fleet.lane_value,
            fleet.arrival,
            fleet.min,
            fleet.max,
            tuple(up.values()),
            ready,
            fleet.claim,
            fleet.memory_bytes,
            0,
            fleet.preemptible,
        )

    def turn(self) -> int:
        """Decide, hold the decisions to what must be, carry them out; returns how many there were."""
        state = self.state()
        decisions, self.remembered = decide(state, self.remembered, 0.0)
        again, _ = decide(state, LocalMemory(), 0.0)
        assert len(again) == len(decisions), "the same state gets the same decisions"
        queues: list[Queue] = [*state.campaigns, *state.fleets, *state.gangs]
        lanes = {each.name: each.lane_value for each in queues}
        count = 0
        for each in decisions:
            if isinstance(each, Start):
                memory = next(queue.memory_bytes for queue in state.campaigns if queue.name == each.campaign)
                self.running[each.campaign, each.index] = (each.allocation, memory)
                self.started.add((each.campaign, each.index))
            elif isinstance(each, StartReplica):
                up = self.replicas.setdefault(each.fleet, {})
                assert each.number not in up
                up[each.number] = Replica(each.number, each.allocation.ids)
            elif isinstance(each, StartGang):
                gang = next(queue for queue in state.gangs if queue.name == each.gang)
                assert gang.min <= len(each.allocations) <= gang.workers
                self.ganged[each.gang] = each.allocations
            elif isinstance(each, GiveBack):
                fleet = next(queue for queue in state.fleets if queue.name == each.fleet)
                replica = self.replicas[each.fleet][each.number]
                assert fleet.preemptible
                assert not replica.ending
                assert lanes[each.whom] > fleet.lane_value
                self.replicas[each.fleet][each.number] = Replica(each.number, replica.devices, ending=True)
            else:
                continue
            count += 1
        for fleet in self.fleets:
            up = self.replicas.get(fleet.name, {})
            assert len(up) <= fleet.max
            lent = next(each for each in state.fleets if each.name == fleet.name).up
            if sum(not each.ending for each in lent) >= fleet.min:
                assert sum(not each.ending for each in up.values()) >= fleet.min
        for queue in state.campaigns:
            assert sum(campaign == queue.name for campaign, _ in self.running) <= queue.window.max
        used = MEMORY - (self.state().free_memory or 0)
        assert not self.memory_looked_at or used <= MEMORY
        self.held()
        assert self.foreign.isdisjoint(self.held())
        return count

    def end_what_ends(self) -> None:
        for name, up in self.replicas.items():
            self.replicas[name] = {number: each for number, each in up.items() if not each.ending}


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    cpus = [f"c{place}" for place in range(draw(st.integers(1, 6)))]
    gpus = [f"g{place}" for place in range(draw(st.integers(0, 3)))]
    here = world(pool("cpu", cpus), pool("gpu", gpus), memory=MEMORY)
    ids = [device_id for device_id, _ in here.devices()]
    campaigns = [
        (
            f"camp{n}",
            draw(LANES),
            draw(st.integers(1, 5)),
            draw(st.sampled_from(CLAIMS)),
            draw(SIZES),
            draw(st.integers(0, 8)),
        )
        for n in range(draw(st.integers(0, 2)))
    ]
    fleets = []
    for n in range(draw(st.integers(0, 2))):
        most = draw(st.integers(1, 4))
        fleets.append(
            FleetQueue(
                f"fleet{n}",
                draw(LANES),
                draw(st.integers(0, 3)),
                draw(st.integers(0, most)),
                most,
                (),
                (),
                draw(st.sampled_from(CLAIMS)),
                draw(SIZES),
                0,
                draw(st.booleans()),
            )
        )
    gangs = []
    for n in range(draw(st.integers(0, 2))):
        workers = draw(st.integers(1, 4))
        gangs.append(
            GangQueue(
                f"gang{n}",
                draw(LANES),
                draw(st.integers(0, 3)),
                workers,
                draw(st.integers(1, workers)),
                draw(st.sampled_from(CLAIMS)),
                draw(SIZES),
            )
        )
    return Machine(
        here,
        campaigns,
        fleets,
        gangs,
        frozenset(draw(st.sets(st.sampled_from(ids), max_size=2))),
        draw(st.booleans()),
    )


@given(machines(), st.lists(st.sampled_from(["turn", "volume", "replica", "gang", "foreign"]), max_size=25))
@settings(max_examples=150, deadline=None)
def test_no_device_twice_gangs_whole_fleets_within_bounds(machine: Machine, happenings: list[str]) -> None:
    for happening in happenings:
        if happening == "volume" and machine.running:
            del machine.running[min(machine.running)]
        if happening == "replica":
            machine.end_what_ends()
        if happening == "gang" and machine.ganged:
            gone = min(machine.ganged)
            del machine.ganged[gone]
            machine.gangs = [gang for gang in machine.gangs if gang.name != gone]
        if happening == "foreign":
            machine.foreign = frozenset()
        machine.turn()


@given(machines())
@settings(max_examples=100, deadline=None)
def test_turns_without_an_event_come_to_rest(machine: Machine) -> None:
    """What is started and given back does not go round in circles: soon nothing changes any more."""
    for _ in range(30):
        moved = machine.turn()
        ending = any(each.ending for up in machine.replicas.values() for each in up.values())
        machine.end_what_ends()
        if not moved and not ending:
            return
    raise AssertionError("thirty turns, and still something moves")


@given(machines())
@settings(max_examples=100, deadline=None)
def test_a_gang_that_fits_the_machine_starts_once_the_volumes_of_others_are_over(machine: Machine) -> None:
    """Volumes come and go for ever in lower lanes, and the gang still gets its devices."""
    assume(machine.gangs)
    (gang, *_), machine.gangs, machine.fleets, machine.foreign = machine.gangs, [], [], frozenset()
    alone = Machine(machine.world, [], [], [gang], frozenset(), machine.memory_looked_at)
    alone.turn()
    machine.campaigns = [(n, -20, w, c, m, 1000) for n, _, w, c, m, _ in machine.campaigns]
    machine.turn()
    machine.gangs = [gang]
    for _ in range(40):
        machine.turn()
        if machine.running:  # the one that was started first ends first
            del machine.running[next(iter(machine.running))]
    assert (gang.name in machine.ganged) == (gang.name in alone.ganged)
