"""Shares of queues for programs; what is unknown or without limit is null."""

from __future__ import annotations

from typing import Any, Final

from allotment.kubernetes.cluster.capacity import NOTHING, Amount
from allotment.planning.queues import Share, Shares, total

FORMAT_VERSION: Final = 1


def as_data(shares: Shares) -> dict[str, Any]:
    """The same for programs; what is unknown or without limit is null."""
    return {
        "format_version": FORMAT_VERSION,
        "source": shares.name,
        "holder": shares.holder,
        "queues": [_data(each) for each in shares.shares],
        "totals": [
            {
                "resource": resource,
                "quota": _number(shares.quota_in_all(resource)),
                "there": _number(shares.there_in_all(resource)),
                "used": _number(total(each.used for each in rows)),
                "borrowed": _number(sum((each.borrowed for each in rows), NOTHING)),
                "waiting": sum(each.waiting or 0 for each in rows),
                "waiting_for": _number(total(each.waiting_for for each in rows)),
            }
            for resource in shares.resources
            if (rows := shares.of(resource))
        ],
        "notes": list(shares.notes),
    }


def _data(share: Share) -> dict[str, Any]:
    return {
        "queue": share.queue,
        "resource": share.resource,
        "quota": _number(share.quota),
        "limit": _number(share.limit),
        "weight": _number(share.weight),
        "used": _number(share.used),
        "borrowed": _number(share.borrowed),
        "lent": _number(share.lent),
        "free": _number(share.free),
        "fair": _number(share.fair),
        "next_end": share.next_end,
        "waiting": share.waiting,
        "waiting_for": _number(share.waiting_for),
        "paused": share.paused,
        "within": list(share.within),
        "inactive": share.inactive,
        "sum": share.sum,
        "limit_never_reached": share.unreached,
    }


def _number(amount: Amount | None) -> float | None:
    if amount is None:
        return None
    return int(amount) if amount.denominator == 1 else round(float(amount), 6)
