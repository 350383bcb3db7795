"""A campaign that runs narrower than its window lets it, and nothing is in its way: who would widen it.

With Kueue, and with the default scheduler, a window is moved by the window controller and by nobody else.
Whether that one runs is seen by its Deployment; one that somebody runs by hand cannot be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Cause, Evidence, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.kinds import DEPLOYMENT
from allotment.kubernetes.render.names import PREFIX
from allotment.kubernetes.render.platform.controller import NAME, SYSTEM

WINDOW: Final = f"{PREFIX}window"
AT_MOST: Final = f"{PREFIX}at-most"
_BOUNDS: Final = re.compile(r"(\d{1,6})\.\.(\d{1,6})")


def bounds_on(part: Part) -> tuple[int | None, int | None]:
    """The bounds of its window as they were sent, where it has them."""
    found = _BOUNDS.fullmatch(fields.annotation(part.owner, WINDOW))
    return (None, None) if found is None else (int(found[1]), int(found[2]))


def narrow(part: Part) -> Iterator[Cause]:
    """Why it is not wider, where volumes are left and nothing that is on the cluster keeps it narrow."""
    _, most = bounds_on(part)
    left = part.total - len(part.done | part.failed)
    if most is None or part.width >= min(most, left) or part.by_kai or (part.queue and not part.is_elastic):
        return
    if held := fields.annotation(part.owner, AT_MOST):
        words = f"it is held at {held} at most by hand"
        remedy = (
            f"`kubectl -n {part.namespace} annotate job {fields.name(part.owner)} {AT_MOST}-` lets go of it"
        )
        shown = evidence(part.owner, f"metadata.annotations[{AT_MOST}]", held)
        yield Cause("held-narrow", State.RUNNING, words, remedy, (shown,))
        return
    words, remedy, shown = _mover(part, most)
    width = evidence(part.owner, "spec.parallelism", str(part.width))
    yield Cause("narrow", State.RUNNING, words, remedy, (width, shown))


def _mover(part: Part, most: int) -> tuple[str, str, Evidence]:
    """Whether the window controller is there, and what to do."""
    controller = part.seen.named(DEPLOYMENT, NAME, SYSTEM)
    could = f"its window goes up to {most}"
    if controller is not None:
        words = f"{could}, and the window controller leaves it at {part.width} for now"
        remedy = f"its log says why: kubectl logs -n {SYSTEM} deployment/{NAME}"
        return words, remedy, evidence(controller, "metadata.name", NAME)
    words = f"{could}, and no window controller that would widen it is to be seen"
    remedy = (
        "`allot operate --dry-run` says what one would do; keep `allot operate` running, or write a larger "
        "`min` and send it anew"
    )
    return words, remedy, Evidence(f"namespace {SYSTEM}", DEPLOYMENT.shown, f"no {NAME} was seen")
