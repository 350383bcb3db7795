"""This engine among the others of its machine: what they ask for and hold, and what it says of itself.

What an engine asks for and which of its workers hold what it says on the board beside the device ledger
(`devices.board`), in each of its turns and while the ledger is locked. What is held is what the ledger says;
the board adds whose it is and since when. An engine that was killed asks for nothing from that moment on, and
one that has said nothing for a while (it was stopped, or its bucket does not answer) is waited for by nobody:
neither for what it asks, nor for what it would give back.

A team's quota, weight and limit are what its oldest engine says, so that all engines decide by the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.devices.board import Post, notices
from allotment.devices.card_shares import amounts_taken
from allotment.devices.claims import Allocation
from allotment.devices.holders import Holder
from allotment.devices.ledger import LedgerView
from allotment.devices.slices import DeviceId
from allotment.platform.model import Platform, Team
from allotment.running.engine.team_lines import NAMELESS, Said, Unit, plain, said_by
from allotment.scheduling.local import (
    Ask,
    CampaignQueue,
    Decision,
    FleetQueue,
    GangQueue,
    GiveBack,
    Holding,
    LocalState,
    Queue,
    Reclaim,
    Replica,
    Sharing,
    Start,
    StartGang,
    StartReplica,
    TeamQueue,
)

SILENT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Sharer:
    """The team of an engine as the platform has it. ``several`` says that there are others, or a limit.

    ``minimum_runtime`` is how long what runs is never taken back, in seconds.
    """

    team: TeamQueue
    several: bool = False
    minimum_runtime: float = 0.0


def sharer_of(platform: Platform, team: Team) -> Sharer:
    """The team's part of this machine by the platform's file."""
    queue = team.queue
    return Sharer(
        TeamQueue(team.name, queue.quota, queue.weight, queue.limit),
        len(platform.teams) > 1 or queue.limit is not None,
        platform.defaults.minimum_runtime,
    )


@dataclass(slots=True)
class TeamTable:
    """This engine at the board. ``units`` gives its workers, as they are now."""

    engine: str
    sharer: Sharer
    units: Callable[[], Iterable[Unit]] = tuple
    post: Post = field(init=False)

    def __post_init__(self) -> None:
        self.post = Post(self.engine)

    def sharing(self, view: LedgerView, now: float) -> Sharing | None:
        """Who shares the machine; None where one team is alone on it, and has no limit."""
        said = {each.engine: each for each in map(said_by, notices(view, tidy=True)) if each is not None}
        said[self.engine] = self._own((), tuple(self.units()), now)
        return sharing_of(said, view, self.engine, now)

    def say(
        self,
        view: LedgerView,
        state: LocalState,
        decisions: Sequence[Decision],
        labels: Mapping[tuple[str, int], str],
        now: float,
    ) -> None:
        """Say what is asked for and held once the decisions are carried out.

        ``labels`` are those of what was started, by name and number; what could not be is not among them.
        """
        started = [*self._started(state, decisions, labels, now)]
        ends = {_end(each) for each in decisions}
        units = [
            replace(unit, holding=replace(unit.holding, ending=True))
            if (unit.holding.name, unit.holding.number) in ends
            else unit
            for unit in self.units()
        ]
        queues: tuple[Queue, ...] = (*state.campaigns, *state.fleets, *state.gangs)
        counts: dict[str, int] = {}
        for unit in started:
            counts[unit.holding.name] = counts.get(unit.holding.name, 0) + 1
        asks = tuple(_after(queue, counts.get(queue.name, 0)) for queue in queues)
        said = self._own(asks, (*units, *started), now)
        self.post.write(view, plain(said))

    def say_no_more(self, view: LedgerView, now: float) -> None:
        """Ask for nothing, while what runs still ends."""
        self.post.write(view, plain(self._own((), tuple(self.units()), now)))

    def _own(self, asks: tuple[Queue, ...], units: tuple[Unit, ...], now: float) -> Said:
        sharer = self.sharer
        return Said(self.engine, os.getpid(), sharer.team, sharer.several, now, asks, units)

    def holding(self, name: str, number: int, allocation: Allocation, since: float, **said: Any) -> Holding:
        """Something that this engine runs."""
        parts = amounts_taken(allocation)
        return Holding(
            self.engine,
            self.sharer.team.name,
            name,
            number,
            tuple(each.id for each in allocation.results if each.id not in parts and not each.admin_access),
            tuple(parts.items()),
            since=since,
            keeps_until=since + self.sharer.minimum_runtime,
            **said,
        )

    def _started(
        self,
        state: LocalState,
        decisions: Iterable[Decision],
        labels: Mapping[tuple[str, int], str],
        now: float,
    ) -> Iterator[Unit]:
        """What was just started, which is not among the workers yet."""
        listed: tuple[Queue, ...] = (*state.campaigns, *state.fleets, *state.gangs)
        queues = {queue.name: queue for queue in listed}
        for name, number, allocation in _given(decisions):
            if (name, number) not in labels:
                continue
            queue = queues[name]
            lends = queue.lends if isinstance(queue, CampaignQueue) else False
            if isinstance(queue, FleetQueue):
                lends = queue.preemptible and number >= queue.min
            about = self.holding(
                name,
                number,
                allocation,
                now,
                lends=lends,
                passes=isinstance(queue, CampaignQueue),
                lane_value=queue.lane_value,
                replica=isinstance(queue, FleetQueue),
                memory_bytes=queue.memory_bytes,
            )
            yield Unit(about, labels[name, number])


def sharing_of(
    said: Mapping[str, Said], view: LedgerView, engine: str, now: float, *, alone: bool = False
) -> Sharing | None:
    """Who shares the machine as one of its engines sees it; with ``alone``, though it is one team alone."""
    teams: dict[str, TeamQueue] = {}
    for name in sorted(said):
        teams.setdefault(said[name].team.name, said[name].team)
    if len(teams) < 2 and not alone and not any(each.several for each in said.values()):
        return None
    others = tuple(
        Ask(name, each.team.name, queue)
        for name, each in sorted(said.items())
        if name != engine and not _is_silent(each, now)
        for queue in each.asks
    )
    team = said[engine].team.name if engine in said else ""
    return Sharing(engine, team, tuple(teams.values()), others, tuple(_held(said, view, now)))


def _is_silent(said: Said, now: float) -> bool:
    return abs(now - said.at) > SILENT_SECONDS


def _held(said: Mapping[str, Said], view: LedgerView, now: float) -> Iterator[Holding]:
    """What is held by the ledger, with what the engines say of it.

    Of a dead engine's, it ends. Of one that lives and says nothing, or nothing that can be read, it stays.
    """
    whole, parts = dict(view.taken()), {device: list(each) for device, each in view.shares().items()}
    for _, each in sorted(said.items()):
        silent = _is_silent(each, now)
        for unit in each.units:
            holding = replace(unit.holding, ending=unit.holding.ending and not silent, deaf=silent)
            devices = tuple(device for device in holding.devices if _is_of(whole.get(device), each.pid, unit))
            for device in devices:
                del whole[device]
            shares = tuple(
                share for share in holding.shares if _take_share(parts.get(share[0], []), each.pid, unit)
            )
            if devices or shares:
                yield replace(holding, devices=devices, shares=shares)
    read = {each.pid for each in said.values()}
    for device, holder in whole.items():
        if holder.team:
            yield _unsaid(holder, read, (device,), ())
    for device, holders in parts.items():
        for holder in holders:
            if holder.team and holder.device_bytes is not None:
                yield _unsaid(holder, read, (), ((device, holder.device_bytes),))


def _unsaid(
    holder: Holder,
    read: Set[int],
    devices: tuple[DeviceId, ...],
    shares: tuple[tuple[DeviceId, int], ...],
) -> Holding:
    """What is held of which no engine says anything: left by one that is dead, or has let go of it, or of
    one that speaks another form."""
    ends = not holder.pid or holder.pid in read or not _is_there(holder.pid)
    team, name = holder.team or "", holder.campaign or ""
    return Holding("", team, name, NAMELESS, devices, shares, ending=ends, passes=ends, deaf=not ends)


def _is_there(pid: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _is_of(holder: Holder | None, pid: int, unit: Unit) -> bool:
    if holder is None:
        return False
    return (holder.pid, holder.campaign, holder.volume) == (pid, unit.holding.name, unit.label)


def _take_share(holders: list[Holder], pid: int, unit: Unit) -> bool:
    for holder in holders:
        if _is_of(holder, pid, unit):
            holders.remove(holder)
            return True
    return False


def _given(decisions: Iterable[Decision]) -> Iterator[tuple[str, int, Allocation]]:
    for each in decisions:
        if isinstance(each, Start):
            yield each.campaign, each.index, each.allocation
        elif isinstance(each, StartReplica):
            yield each.fleet, each.number, each.allocation
        elif isinstance(each, StartGang):
            for rank, allocation in enumerate(each.allocations):
                yield each.gang, rank, allocation


def _end(decision: Decision) -> tuple[str, int] | None:
    if isinstance(decision, Reclaim):
        return decision.campaign, decision.index
    return (decision.fleet, decision.number) if isinstance(decision, GiveBack) else None


def _after(queue: Queue, started: int) -> Queue:
    """What is left to ask for once so many have started."""
    if not started:
        return queue
    if isinstance(queue, CampaignQueue):
        return replace(queue, running=queue.running + started, ready=queue.ready[started:])
    if isinstance(queue, GangQueue):
        return replace(queue, workers=0, min=0)
    up = (*queue.up, *(Replica(NAMELESS, ()) for _ in range(started)))
    return replace(queue, up=up, ready=queue.ready[started:])
