"""Between which widths a Job may be: its window, the volumes left, what a person holds it to.

The least is a promise of the file's only while it can be met: with fewer volumes left, or a smaller quota,
it is what is left or what the queue could ever have.
"""

from __future__ import annotations

from dataclasses import dataclass

from allotment.kubernetes.apply.fields import MANAGER
from allotment.kubernetes.apply.settling import AT_MOST
from allotment.kubernetes.operate.part import Part
from allotment.kubernetes.operate.values import Decision, Verb


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most, and what makes the most what it is."""

    least: int
    most: int
    because: str


def bounds_of(part: Part, window: tuple[int, int], possible: int | None = None) -> Bounds:
    """``possible`` is how many pods the queue could ever have; None: not known."""
    least = min(window[0], part.left, *([possible] if possible is not None else []))
    least = max(1, least) if part.left else 0
    limits = [(window[1], f"its window is at most {window[1]}"), (part.left, f"only {left_words(part)}")]
    if part.told is not None:
        told = max(part.told, least)
        because = f"{AT_MOST} says {part.told}"
        limits.append(
            (told, because if told == part.told else f"{because}, and its window is at least {told}")
        )
    most, because = min(limits, key=lambda each: each[0])
    return Bounds(least, max(most, least), because)


def left_words(part: Part) -> str:
    """``1 volume is left``, ``2 volumes are left``."""
    return "1 volume is left" if part.left == 1 else f"{part.left} volumes are left"


def left_alone(part: Part) -> str | None:
    """Why a Job is nothing for the controller; None where it is."""
    if part.owners:
        return f"{' and '.join(part.owners)} moves its width"
    if part.window is None:
        return "it does not say its window: apply its campaign again"
    if not part.is_ours:
        return f"its width has not been handed over by {MANAGER}: apply its campaign again"
    if part.is_queued and not part.is_elastic:
        return "Kueue would restart all its pods for another width: it is not elastic"
    return None


def decision(part: Part, verb: Verb, reason: str, to: int | None = None) -> Decision:
    """What is done with a Job."""
    return Decision(
        part.namespace,
        part.name,
        part.uid,
        str(part.job["metadata"].get("resourceVersion", "")),
        verb,
        part.width,
        part.width if to is None else to,
        reason,
        part.team,
        part.campaign,
    )
