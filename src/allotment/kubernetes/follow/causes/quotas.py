"""Quota that is used up, and quota that can never be: in numbers, and with the window that would fit.

Kueue holds a wider window against the maximum by its increase alone, so that one that never fits says the
same as one that waits; that is worked out here. Facts: Kueue 0.19, seen on a real one.
"""

from __future__ import annotations

from typing import Final

from allotment.kubernetes.cluster.capacity import amount_text
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.out_of_date import quota_is_free
from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR, place_words, short
from allotment.kubernetes.follow.model import Cause, State, by_condition, evidence
from allotment.kubernetes.follow.part import RESERVED, Part
from allotment.kubernetes.follow.queueing import cluster_queue_name, position
from allotment.kubernetes.follow.sums import Lack, lacks_of, never_fits, pods_of
from allotment.kubernetes.kinds import Object
from allotment.pictures.counts import counted

NARROWER: Final = "write a narrower `window` in its file and apply"


def growth_never(part: Part, workload: Object) -> Cause | None:
    """A wider window that its queue can never have, though Kueue says that it waits."""
    if not part.is_growth:
        return None
    found = never_fits(part)
    if found is None or part.live is None:
        return None
    has, wants = pods_of(part.live), pods_of(workload)
    capacity = found.capacity
    top = capacity.most_at_once if capacity.most_at_once is not None else found.asked
    most = amount_text(top, capacity.resource)
    fits = int(top * wants / found.asked) if found.asked else 0
    words = (
        f"the window was made wider, from {has} to {wants}, than its queue can ever have: that takes "
        f"{amount_text(found.asked, capacity.resource)} `{capacity.resource}`, and "
        f"`{capacity.queue}` may have "
        f"{most} at most"
    )
    shown = (
        *by_condition(workload, RESERVED),
        evidence(workload, "spec.podSets[0].count", str(wants)),
        evidence(part.live, "spec.podSets[0].count", str(has)),
    )
    remedy = f"write `window: {fits}` or less, and apply" if fits >= has else NARROWER
    return Cause("growth-never-fits", State.NEVER, words, remedy, shown)


def exceeds(part: Part, workload: Object, found: fields.Condition) -> Cause:
    """More at once than its queue can ever have."""
    over = [each for each in lacks_of(found.message) if each.most]
    queue = cluster_queue_name(workload, part.seen)
    of = f"the queue `{queue}`" if queue else "its queue"
    pods = pods_of(workload)
    if over:
        sums = "; ".join(_over_words(each, several=len({lack.flavor for lack in over}) > 1) for each in over)
        words = f"it asks for more at once than {of} can ever have: {counted(pods, 'pod')} take {sums}"
    else:
        words = f"it asks for more at once than {of} can ever have: {short(found.message)}"
    remedy = _narrower(part, over, pods) + f", or ask {ADMINISTRATOR} for more quota"
    return Cause("never-fits", State.NEVER, words, remedy, by_condition(workload, RESERVED))


def _over_words(lack: Lack, *, several: bool) -> str:
    flavor = f" in flavor `{lack.flavor}`" if several else ""
    return f"{lack.asked} `{lack.resource}`, and at most {lack.most} can be had{flavor}"


def _narrower(part: Part, over: list[Lack], pods: int) -> str:
    """How narrow a window would fit, where the numbers tell."""
    if part.kind != "campaign":
        return "ask for fewer or smaller pods in its file and apply"
    best = [int(each.most) * pods // int(each.asked) for each in over if _whole(each)]
    fits = max(best, default=0)
    if fits > 0 and len({each.resource for each in over}) == 1:
        return f"write `window: {fits}` (its `min` too must not be more) and apply"
    if fits == 0 and best:
        return "ask for fewer devices per pod in its pipeline and apply: not even one of its pods fits"
    return NARROWER


def _whole(lack: Lack) -> bool:
    return lack.most.isdecimal() and lack.asked.isdecimal() and int(lack.asked) > 0


def used_up(part: Part, workload: Object, found: fields.Condition) -> Cause:
    """What its queue may use is used, by others or by what it has already."""
    stale = quota_is_free(part, workload, found)
    if stale is not None:
        return stale
    short_of = [each for each in lacks_of(found.message) if each.more]
    queue = cluster_queue_name(workload, part.seen)
    of = f"the quota of `{queue}`" if queue else "the quota of its queue"
    place = place_words(position(workload, part.seen))
    if short_of:
        lacks = " or ".join(f"{each.more} more `{each.resource}`" for each in short_of[:3])
        lacks = " or ".join(dict.fromkeys(lacks.split(" or ")))
        words = f"{of} is used up: {lacks} {'is' if short_of[0].more == '1' else 'are'} needed{place}"
    else:
        words = f"{of} is taken by others: {short(found.message)}{place}"
    if part.is_growth and part.live is not None:
        more = pods_of(workload) - pods_of(part.live)
        words = f"{more} more {'waits' if more == 1 else 'wait'}: {words}"
        remedy = "nothing: what runs goes on, and the window grows when others of the queue end"
        return Cause("growth-waits", State.WAITING, words, remedy, by_condition(workload, RESERVED))
    remedy = "nothing: it starts by itself when others of the queue end"
    if part.kind == "campaign" and pods_of(workload) > 1:
        remedy += "; with a narrower `window` it can start sooner"
    return Cause("waiting-for-quota", State.WAITING, words, remedy, by_condition(workload, RESERVED))
