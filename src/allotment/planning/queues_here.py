"""The shares of teams on this machine: what the platform's file says, who holds what, who asks for what.

The engines of a machine hold each other to the queues of their teams, by an agreement: it is no wall between
those who use the machine, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final

from allotment.kubernetes.cluster.capacity import NOTHING, Amount
from allotment.planning.queues import Share, Shares
from allotment.platform.model import Platform, Queue, Team
from allotment.running.engine.team_standing import NextEnd, Standing
from allotment.scheduling.local_accounts import Account
from allotment.scheduling.local_state import TeamQueue
from allotment.scheduling.local_words import share_words

LOCAL: Final = "local"
FILE: Final = "file"
CARDS: Final = "GPUs"
PROCESSORS: Final = "processors"
OTHERS: Final = "(others)"
NO_WALL: Final = (
    "the engines of a machine keep to these shares by agreement; it is no wall between those who use it"
)
NO_CARDS: Final = "quotas and limits are of GPUs, and this machine has none: processors are shared by weight"
NOBODY_HOLDS: Final = "`scheduler: default` holds no team to its quota; Kueue and KAI would"
ASK_THE_CLUSTER: Final = (
    "these are the platform's numbers; what is in use and what waits only the cluster knows: add --cluster"
)


def shares_of_file(platform: Platform, name: str) -> Shares:
    """What a platform of a cluster says; how it stands is not known."""
    shares = tuple(_share(team, None, None, CARDS) for team in platform.teams.values())
    unheld = (NOBODY_HOLDS,) if platform.scheduler == "default" else ()
    return Shares(name, FILE, shares, (*unheld, ASK_THE_CLUSTER))


def shares_here(platform: Platform, name: str, now: Standing) -> Shares:
    """How the teams stand on this machine."""
    has_cards = bool(now.total.cards)
    resource = CARDS if has_cards else PROCESSORS
    strangers = (Team(each) for each in now.accounts if each not in platform.teams)
    teams = [_as_held(team, now) for team in (*platform.teams.values(), *strangers)]
    listed = [_here(team, now, resource) for team in teams]
    over = sum((each.borrowed for each in listed), NOTHING)
    shares = [replace(each, lent=_lent(each, over)) for each in listed]
    if any(now.others):
        used = _exact(now.others.cards if has_cards else sum(now.others))
        shares.append(Share(OTHERS, resource, None, None, Fraction(1), used=used))
    notes = (*_notes(platform, now), NO_WALL) if has_cards else (NO_CARDS, NO_WALL)
    there = now.total.cards if has_cards else sum(now.total)
    return Shares(name, LOCAL, tuple(shares), notes, there=((resource, _exact(there)),))


def _as_held(team: Team, now: Standing) -> Team:
    """A team with the queue that its engines go by, where some run."""
    held = now.queues.get(team.name)
    return team if held is None else replace(team, queue=Queue(held.quota, held.weight, held.limit))


def _notes(platform: Platform, now: Standing) -> Iterator[str]:
    """What of the platform's numbers does not hold now, or cannot."""
    for team in platform.teams.values():
        held = _as_held(team, now).queue
        if held != team.queue:
            yield (
                f"the engines of team `{team.name}` that run go by {_queue_words(held)}, and the platform's "
                f"file says {_queue_words(team.queue)}: it holds once they have ended"
            )
    quotas = sum(_as_held(team, now).queue.quota or 0.0 for team in platform.teams.values())
    if quotas > now.total.cards:
        yield (
            f"the quotas are {_plain(quotas)} GPUs together and the machine has {_plain(now.total.cards)}: "
            "they cannot all be kept at once, and who has its cards within its quota keeps them"
        )


def _queue_words(queue: Queue) -> str:
    parts = [f"weight {queue.weight:g}"]
    parts += [] if queue.limit is None else [f"limit {queue.limit:g}"]
    return ", ".join([f"quota {queue.quota:g}" if queue.quota is not None else "no quota", *parts])


def _here(team: Team, now: Standing, resource: str) -> Share:
    """One team: with the queue that its engines go by, where one of them runs."""
    account = now.accounts.get(team.name) or Account(TeamQueue(team.name))
    part = 0 if resource == CARDS else 1
    share = _share(team, _exact(account.all[part]), now.waiting.get(team.name, 0), resource)
    room = max(0.0, now.free[part])
    if account.team.limit is not None and resource == CARDS:
        room = min(room, max(0.0, account.team.limit - account.all.cards))
    return replace(
        share,
        fair=_exact(account.fair[part]),
        waiting_for=_exact(account.asked[part]),
        free=_exact(room),
        next_end=_end_words(now.next_ends.get(team.name)),
        sum=f"{share_words(account)}, and it asks for {_plain(account.asked[part])} more"
        if team.name in now.accounts
        else f"team `{team.name}` has no engine here now",
    )


def _lent(share: Share, over: Amount) -> Amount:
    """What of its unused quota others have that are over theirs."""
    if share.quota is None or share.used is None:
        return NOTHING
    return min(max(NOTHING, share.quota - share.used), over)


def _end_words(end: NextEnd | None) -> str:
    if end is None:
        return ""
    kept = f", not before {math.ceil(end.kept_seconds):,} s from now" if end.kept_seconds > 0 else ""
    return f"{end.name}/{end.label}{kept}"


def _exact(amount: float) -> Amount:
    return Fraction(amount).limit_denominator(1000)


def _plain(amount: float) -> str:
    return f"{amount:.2f}".rstrip("0").rstrip(".")


def _share(team: Team, used: Amount | None, waiting: int | None, resource: str) -> Share:
    queue, counts = team.queue, resource == CARDS
    quota = Fraction(str(queue.quota)) if counts and queue.quota is not None else None
    limit = Fraction(str(queue.limit)) if counts and queue.limit is not None else None
    over = NOTHING if used is None or not counts else max(NOTHING, used - (quota or NOTHING))
    return Share(
        queue=team.name,
        resource=resource,
        quota=quota,
        limit=limit,
        weight=Fraction(str(queue.weight)),
        used=used,
        borrowed=over if quota is not None else NOTHING,
        waiting=waiting,
    )
