"""How often a comparison plays its columns, where nobody says: very much work less often, for it takes long.

Fewer than six draws tell nothing from chance, so no work gets fewer. What decides most, how long all pages
take, varies from draw to draw however many there are; so an interval of few draws is rougher, and it is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.planning.compare.comparing import Variant
from allotment.planning.compare.differences import FEWEST
from allotment.planning.plan.drawing import COUNTS, pods_of

DRAWS: Final = 10
MOST_PODS: Final = COUNTS[0][0]


def draws_for(variants: Sequence[Variant], asked: int | None) -> int:
    """How many draws each column gets."""
    if asked is not None:
        return asked
    return FEWEST if _pods(variants) > MOST_PODS else DRAWS


def why_fewer(variants: Sequence[Variant], asked: int | None) -> str:
    """Why they are fewer than usual; empty where they are not."""
    draws = draws_for(variants, asked)
    if asked is not None or draws == DRAWS:
        return ""
    return (
        f"{_pods(variants):,} pods take long to play: drawn {draws} times instead of {DRAWS}, the fewest "
        f"that tell a difference from chance (--draws {DRAWS} for more)"
    )


def _pods(variants: Sequence[Variant]) -> int:
    return max((pods_of(each.scene) for each in variants if each.scene is not None), default=0)
