"""How the queues stand when a cycle begins: what each may have, holds and asks for, and who goes first.

KAI keeps these numbers in its scheduler alone, for the length of a cycle: a Queue's status has what was
allocated and requested a moment ago, and no fair share. Amounts are cpu in thousandths, memory in bytes, and
GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from allotment.scheduling.kai.accounts import Account, within
from allotment.scheduling.kai.axes import Triple
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.lines import in_order
from allotment.scheduling.kai.memory import Memory
from allotment.scheduling.kai.runtimes import young
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.ties import Ties
from allotment.scheduling.state.state import State


@dataclass(frozen=True, slots=True)
class Standing:
    """A queue's books. ``asked`` is all that its pods ask for, what they hold included.

    ``line`` are the groups that wait in it, in their order. ``goes_first`` is the group that its siblings
    would get pods of first, empty where it has nothing beyond its quota; ``kept_until`` is until when it is
    left alone, if it is.
    """

    name: str
    parent: str | None
    quota: Triple
    limit: Triple
    weight: Triple
    fair: Triple
    held: Triple
    asked: Triple
    line: tuple[str, ...] = ()
    goes_first: str = ""
    kept_until: float | None = None


@dataclass(frozen=True, slots=True)
class Standings:
    """All queues by name, and what the cluster has for them."""

    total: Triple
    queues: Mapping[str, Standing]


def standings(state: State, memory: Memory, now: float, ties: Ties = Ties.FIRST_USED) -> Standings:
    """How the queues of a state stand."""
    session = Session(state, memory, now, ties)
    lines = in_order(session, session.askers)
    candidates = (group for group in session.groups.values() if group.preemptible and group.active)
    victims = in_order(session, candidates, victims=True)
    found = {}
    for name, account in session.accounts.items():
        is_over = not within(account.held, account.quota)
        first, kept = _first_to_go(session, account, victims.get(name, ()) if is_over else ())
        found[name] = Standing(
            name=name,
            parent=None if account.parent is None else account.parent.name,
            quota=_triple(account.quota),
            limit=_triple(account.limit),
            weight=_triple(account.weight),
            fair=_triple(account.fair),
            held=_triple(account.held),
            asked=_triple(account.asked),
            line=tuple(group.key for group in lines.get(name, ())),
            goes_first=first,
            kept_until=kept,
        )
    return Standings(session.total, found)


def _first_to_go(session: Session, account: Account, victims: Sequence[Group]) -> tuple[str, float | None]:
    """The first that may lose pods now; where all are kept for a time, the one that is kept the shortest."""
    least = _kept_for(session, account)
    kept: list[tuple[float, str]] = []
    for each in victims:
        if each.elastic or each.started is None or not young(session, each, least):
            return each.key, None
        kept.append((each.started + least, each.key))
    until, key = min(kept, default=(None, ""))
    return key, until


def _kept_for(session: Session, account: Account) -> float:
    """How long a group runs at least before a sibling of its queue may have it."""
    for each in account.line:
        told = session.queue_specs[each.name].reclaim_min_runtime
        if told is not None:
            return told
    return session.settings.reclaim_min_runtime


def _triple(amounts: list[float]) -> Triple:
    cpu, memory, gpu = amounts
    return (cpu, memory, gpu)
