"""The shares of teams on this machine: what the platform's file says, and what the ledger says is in use.

The engine of a machine gives devices to whoever comes first and holds nobody to a quota: it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from allotment.devices.holders import Holder
from allotment.devices.slices import DeviceId
from allotment.kubernetes.cluster.capacity import NOTHING, Amount
from allotment.planning.queues import Share, Shares
from allotment.platform.model import Platform, Team
from allotment.running.engine.control import EngineDescription

LOCAL: Final = "local"
FILE: Final = "file"
CARDS: Final = "GPUs"
OTHERS: Final = "(others)"
NOT_HELD: Final = (
    "these are the platform's numbers: the engine of a machine gives devices to whoever comes first, and "
    "holds no team to its quota"
)
NOBODY_HOLDS: Final = "`scheduler: default` holds no team to its quota; Kueue and KAI would"
ASK_THE_CLUSTER: Final = (
    "these are the platform's numbers; what is in use and what waits only the cluster knows: add --cluster"
)

Whole = Mapping[DeviceId, Holder]
Parts = Mapping[DeviceId, tuple[Holder, ...]]


def shares_of_file(platform: Platform, name: str) -> Shares:
    """What a platform of a cluster says; how it stands is not known."""
    shares = tuple(_share(team, None) for team in platform.teams.values())
    unheld = (NOBODY_HOLDS,) if platform.scheduler == "default" else ()
    return Shares(name, FILE, shares, (*unheld, ASK_THE_CLUSTER))


def shares_here(
    platform: Platform, name: str, held: tuple[Whole, Parts], engines: Iterable[EngineDescription]
) -> Shares:
    """How the teams stand on this machine; whoever's engine is not known here is among the others."""
    listed = list(engines)
    teams = {engine.pid: engine.team for engine in listed}
    used: dict[str, Amount] = {}
    working: set[tuple[str, str]] = set()
    for holder, amount in _holdings(*held):
        team = teams.get(holder.pid or 0, OTHERS)
        team = team if team in platform.teams else OTHERS
        used[team] = used.get(team, NOTHING) + amount
        working.add((team, holder.campaign or ""))
    waiting: dict[str, set[str]] = {}
    for engine in listed:
        idle = {name for name in engine.campaigns if (engine.team, name) not in working}
        waiting.setdefault(engine.team, set()).update(idle)
    shares = [
        _share(team, used.get(team.name, NOTHING), len(waiting.get(team.name, ())))
        for team in platform.teams.values()
    ]
    if OTHERS in used:
        shares.append(Share(OTHERS, CARDS, None, None, Fraction(1), used=used[OTHERS]))
    return Shares(name, LOCAL, tuple(shares), (NOT_HELD,))


def _holdings(whole: Whole, parts: Parts) -> Iterator[tuple[Holder, Amount]]:
    """Each holder with how much of a device it has; those who share one have equal parts of it."""
    for holder in whole.values():
        yield holder, Fraction(1)
    for holders in parts.values():
        for holder in holders:
            yield holder, Fraction(1, len(holders))


def _share(team: Team, used: Amount | None, waiting: int | None = None) -> Share:
    queue = team.queue
    quota = None if queue.quota is None else Fraction(str(queue.quota))
    limit = None if queue.limit is None else Fraction(str(queue.limit))
    over = NOTHING if quota is None or used is None else max(NOTHING, used - quota)
    return Share(
        queue=team.name,
        resource=CARDS,
        quota=quota,
        limit=limit,
        weight=Fraction(str(queue.weight)),
        used=used,
        borrowed=over,
        waiting=waiting,
    )
