"""Filling what is free: which indexes may start is looked up, which do is decided, and then they are
started.

Looking up (is a volume complete by now, does another engine hold it?) asks the bucket and may be slow, so
it comes first and outside the ledger's lock; deciding and locking devices is one short turn of the
ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from allotment.devices.card_shares import memory_of_cards
from allotment.devices.claims import Allocation
from allotment.devices.ledger import DevicesTakenError, Hold, Holder, Ledger, LedgerView
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.indexes import Phase
from allotment.running.engine.programs import Held, Programs
from allotment.running.engine.sharing import parts_of
from allotment.running.engine.standing import IndexStanding, Look
from allotment.running.engine.team_shares import Shown, shown_shares
from allotment.running.engine.team_table import TeamTable
from allotment.scheduling.local import LocalMemory, LocalState, Reclaim, Start, Ties, Wait, WaitReason, decide

LOOKED_UP_SECONDS = 2.0
LOOKING_SECONDS = 0.2
SHARED_SECONDS = 0.1
_MOST_OTHERS = 3

Settle = Callable[[CampaignRun, int, IndexStanding], None]


@dataclass(frozen=True, slots=True)
class Started:
    """An index to start: its volumes that are left to do, its devices, and the hold on them."""

    run: CampaignRun
    index: int
    volumes: tuple[str, ...]
    allocation: Allocation
    hold: Hold
    reason: str


@dataclass(frozen=True, slots=True)
class Filled:
    """What devices were taken for: indexes of campaigns, and processes of fleets and gangs.

    ``reclaims`` are volumes that end for other teams, ``shares`` how this team stands among them, by what it
    runs; none where it is alone.
    """

    indexes: Sequence[Started]
    programs: Sequence[Held]
    reclaims: Sequence[Reclaim] = ()
    shares: Mapping[str, Shown] = field(default_factory=dict)


@dataclass(slots=True)
class Filler:
    """Fills free devices with indexes. ``clock`` is monotonic, ``wall`` is Unix time; both in seconds."""

    world: World
    ledger: Ledger
    look: Look
    clock: Callable[[], float]
    wall: Callable[[], float]
    user: str
    table: TeamTable | None = None
    _memory: LocalMemory = field(default_factory=LocalMemory)
    _looked_up: dict[tuple[str, int], tuple[float, IndexStanding]] = field(default_factory=dict)
    _refused: frozenset[DeviceId] = frozenset()
    _shared: float | None = None
    _devices: int = field(init=False)
    _there: frozenset[DeviceId] = field(init=False)
    _memories: Mapping[DeviceId, int] = field(init=False)

    def __post_init__(self) -> None:
        self._there = frozenset(device for device, _ in self.world.devices())
        self._devices = len(self._there)
        self._memories = memory_of_cards(self.world)

    def fill(
        self,
        runs: Sequence[CampaignRun],
        settle: Settle,
        programs: Programs | None = None,
        passing: frozenset[DeviceId] = frozenset(),
    ) -> Filled:
        """Take devices for as many indexes as may start now; each run's ``wait`` says why there are no more.

        ``settle`` is told of indexes that need no worker now; ``programs`` are fleets and gangs that share
        the machine, ``passing`` the devices of volumes that run. What is started is started afterwards. Of
        what fails half-way nothing stays taken.
        """
        now, programs = self.clock(), programs or Programs()
        ready = {run.work.campaign: self._ready(run, now, settle) for run in runs}
        by_name = {run.work.campaign: run for run in runs}
        fleets, gangs = programs.queues(now)
        started: list[Started] = []
        with self.ledger.locked() as view, ExitStack() as undo:
            state = LocalState(
                campaigns=tuple(run.queue(ready[run.work.campaign]) for run in runs),
                world=self.world,
                taken=frozenset(view.taken()) | self._refused,
                free_memory=self._free_memory(view),
                fleets=fleets,
                gangs=gangs,
                passing=passing,
                shares=self._shares(view),
                sharing=None if self.table is None else self.table.sharing(view, now),
            )
            decisions, self._memory = decide(state, self._memory, now, Ties.LISTED)
            self._refused = frozenset()
            for step in (step for step in decisions if isinstance(step, Start)):
                if (taken := self._taken(view, by_name, step)) is not None:
                    undo.callback(taken.hold.close)
                    started.append(taken)
            holder = Holder(pid=os.getpid(), user=self.user, since=self.wall(), team=self._team)
            held = programs.take(view, decisions, holder, undo)
            if self.table is not None:
                self.table.say(view, state, decisions, _labels(started, held), now)
            own = {*by_name, *(each.name for each in fleets), *(each.name for each in gangs)}
            others = others_words(view, self._there, own)
            undo.pop_all()
        others = "" if state.sharing is not None else others
        waits = [_with_others(step, others) for step in decisions if isinstance(step, Wait)]
        self._note_waits(runs, waits)
        programs.note_waits(waits)
        programs.give_back(decisions, now)
        self._shared = None if state.sharing is None else self.clock()
        reclaims = [step for step in decisions if isinstance(step, Reclaim)]
        return Filled(started, held, reclaims, shown_shares(state))

    @property
    def is_early(self) -> bool:
        """Whether teams share the machine and a decision was taken just now: one for all of them is dear."""
        return self._shared is not None and self.clock() < self._shared + SHARED_SECONDS

    def say_no_more(self) -> None:
        """Let others know that nothing is asked for any more."""
        if self.table is not None:
            with self.ledger.locked() as view:
                self.table.say_no_more(view, self.clock())

    @property
    def _team(self) -> str | None:
        return None if self.table is None else self.table.sharer.team.name

    def _ready(self, run: CampaignRun, now: float, settle: Settle) -> list[int]:
        """The next indexes that may start: not complete by now, not failed, held by nobody."""
        run.indexes.wake(now)
        most = run.work.window.max - run.indexes.number(Phase.RUNNING)
        slots = most if run.work.shares else min(most, self._devices)
        ready: list[int] = []
        while len(ready) < slots and self.clock() < now + LOOKING_SECONDS:
            unknown = [index for index in run.indexes.next_waiting(slots) if index not in ready]
            if not unknown:
                break
            for index in unknown:
                standing = self._standing(run, index, now)
                if standing.ready:
                    ready.append(index)
                else:
                    settle(run, index, standing)
        return sorted(ready)

    def _standing(self, run: CampaignRun, index: int, now: float) -> IndexStanding:
        key = (run.work.campaign, index)
        when, standing = self._looked_up.get(key, (-LOOKED_UP_SECONDS, None))
        if standing is None or now - when >= LOOKED_UP_SECONDS:
            standing = self.look(run.work, index)
            self._looked_up[key] = (now, standing)
        if not standing.ready:
            del self._looked_up[key]
        return standing

    def _taken(self, view: LedgerView, runs: Mapping[str, CampaignRun], start: Start) -> Started | None:
        """An index with its devices; None where the ledger refuses them, which counts as taken next time."""
        run = runs[start.campaign]
        _, standing = self._looked_up[start.campaign, start.index]
        holder = Holder(
            pid=os.getpid(),
            user=self.user,
            campaign=start.campaign,
            volume=standing.left[0],
            memory_bytes=run.work.memory_bytes,
            since=self.wall(),
            team=self._team,
        )
        try:
            hold = view.take(start.allocation.ids, holder, parts_of(start.allocation, self._memories))
        except DevicesTakenError as error:
            self._refused |= frozenset(error.ids)
            return None
        del self._looked_up[start.campaign, start.index]
        return Started(run, start.index, standing.left, start.allocation, hold, start.reason)

    def _shares(self, view: LedgerView) -> tuple[tuple[DeviceId, int], ...]:
        """What is held of cards in parts; a share that does not say how much it is counts as the card."""
        return tuple(
            (device, self._memories.get(device, 0) if holder.device_bytes is None else holder.device_bytes)
            for device, holders in view.shares().items()
            for holder in holders
        )

    def _free_memory(self, view: LedgerView) -> int | None:
        total = self.world.memory_bytes
        return None if total is None else max(0, total - view.memory_held())

    def _note_waits(self, runs: Iterable[CampaignRun], waits: Iterable[Wait]) -> None:
        by_campaign = {wait.campaign: wait for wait in waits}
        for run in runs:
            run.wait = by_campaign.get(run.work.campaign)


def _labels(started: Iterable[Started], held: Iterable[Held]) -> dict[tuple[str, int], str]:
    """The words by which the ledger knows what was started."""
    labels = {(each.run.work.campaign, each.index): each.volumes[0] for each in started}
    for each in held:
        kind, name = each.run.program.kind, each.run.program.name
        labels |= {(name, place.rank): f"{kind}-{place.rank}" for place in each.places}
    return labels


def others_words(view: LedgerView, there: Set[DeviceId], own: Set[str]) -> str:
    """Which other runs hold some of these devices; empty where none does."""
    holders = [holder for device, holder in view.taken().items() if device in there]
    holders += [each for device, sharing in view.shares().items() if device in there for each in sharing]
    names = sorted(
        f"{holder.campaign or 'something'} of {holder.user or 'somebody'}"
        for holder in {(each.campaign, each.user): each for each in holders}.values()
        if holder.campaign not in own and (holder.campaign or holder.pid != os.getpid())
    )
    more = f" and {len(names) - _MOST_OTHERS:,} more" if len(names) > _MOST_OTHERS else ""
    return f"other runs hold some of the devices: {', '.join(names[:_MOST_OTHERS])}{more}" if names else ""


def _with_others(wait: Wait, others: str) -> Wait:
    """What waits for devices says who else has some."""
    if not others or wait.reason is not WaitReason.DEVICES:
        return wait
    return replace(wait, message=f"{wait.message}; {others}")
