"""Who we are to the cluster, and whether its clock and ours agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE
from allotment.kubernetes.ready.objects import kinds_of
from allotment.kubernetes.ready.seen import NOT_SERVED, Seen, listed
from allotment.pictures.counts import counted

MOST_SKEW: Final = 5.0


def identity(seen: Seen) -> Iterator[Answer]:
    """As whom we speak."""
    if seen.identity:
        yield fine("cluster", f"{seen.snapshot.name}, as `{seen.identity}`")
    else:
        yield fine("cluster", seen.snapshot.name)


def clock(seen: Seen) -> Iterator[Answer]:
    """How far the server's clock is from ours: leases and events are told by the time."""
    if seen.skew is None:
        return
    if abs(seen.skew) <= MOST_SKEW:
        yield fine("clock", "the server's clock and this machine's agree")
        return
    way = "ahead of" if seen.skew > 0 else "behind"
    words = f"the server's clock is {abs(seen.skew):.0f} s {way} this machine's"
    yield problem("clock", words, "set both by NTP: leases and the age of events are told by the time")


def unread(seen: Seen) -> Iterator[Answer]:
    """What could not be looked at, all in one."""
    refused = {
        each.kind for each in seen.snapshot.missing if not each.why.startswith((NOT_SERVED, NOT_IN_FILE))
    }
    unasked = {kind for kind in kinds_of(seen.platform) if not seen.can_tell(kind) and seen.serves(kind)}
    names = sorted({kind.shown for kind in refused | unasked})
    if names:
        number = counted(len(names), "kind")
        words = f"{number} could not be read, and nothing is told of them: {listed(names, 12)}"
        yield note("not looked at", words, "let somebody who may read them run `allot doctor --cluster`")
