"""What is asked of a plan beside its scene: how many draws, until when, which bounds, and at which prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.planning.plan.plan import Fits

DAY: Final = 86_400.0
HORIZON: Final = 30 * DAY


@dataclass(frozen=True, slots=True)
class Question:
    """Money is in the platform's currency, times are seconds; a deadline counts from the plan's beginning.

    Without ``draws``, as many are made as the work needs. ``fits`` is by work; ``caveats`` and ``notes`` are
    what whoever asks knows already. ``risks`` says whether what could go wrong is tried.
    """

    draws: int | None = None
    seed: int = 1
    until: float = HORIZON
    budget: float | None = None
    deadline: float | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    currency: str = "EUR"
    fits: Mapping[str, Fits] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    risks: bool = True
