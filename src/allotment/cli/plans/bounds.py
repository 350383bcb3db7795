"""Bounds that a plan is held to: ``--deadline`` as a time or a span from now, ``--budget`` as money."""

from __future__ import annotations

import math
import re
from datetime import datetime

from allotment.errors import UsageError
from allotment.quantities import QuantityError, parse_duration

_WHOLE = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)*"
_EITHER = re.compile(r"0*[1-9][0-9]{0,2}[.,][0-9]{3}")
_MONEY = re.compile(rf"\s*((?:{_WHOLE})(?:\.[0-9]+)?)\s*([A-Za-z]{{3}})?\s*")


def deadline_of(text: str | None, at: float) -> float | None:
    """The seconds from ``at`` until the deadline: ``36h``, or ``2026-12-01T08:00`` in this machine's zone."""
    if text is None:
        return None
    try:
        return float(parse_duration(text))
    except QuantityError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.astimezone()).timestamp() - at
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"`{text}` is neither a time nor a span",
            where="--deadline",
            remedy="write 36h or 3d, or a time such as 2026-12-01T08:00",
        ) from None
    if seconds <= 0:
        raise UsageError(f"the deadline {text} has passed already", where="--deadline")
    return seconds


def budget_of(text: str | None, currency: str) -> float | None:
    """The amount of money, in the platform's currency."""
    if text is None:
        return None
    match = _MONEY.fullmatch(text)
    if match is None:
        raise UsageError(
            f"`{text}` is no amount of money",
            where="--budget",
            remedy=f"write 500, 5.00, 12500 or 500{currency}",
        )
    if _EITHER.fullmatch(match[1]):
        whole, part = re.split("[.,]", match[1])
        raise UsageError(
            f"`{match[1]}` is {whole}{part} to some and {whole}.{part} to others",
            where="--budget",
            remedy=f"write {whole}{part}, or {whole}.{part[:2]}",
        )
    amount, said = float(match[1].replace(",", "").replace("_", "")), match[2]
    if said is not None and said.upper() != currency.upper():
        raise UsageError(
            f"the platform's prices are in {currency}, and the budget is in {said}",
            where="--budget",
            remedy=f"write it in {currency}",
        )
    if not math.isfinite(amount):
        raise UsageError(f"`{text}` is no amount of money", where="--budget")
    return amount
