"""Steps by name: which are ours, without importing any of them.

Ours are found by the entry points of the group ``allotment.steps`` and by ``module:function``. A step that is
neither belongs to an image, whose own entry then runs the whole pipeline. A team's code is never imported
here: a check must be safe to run on anybody's files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import FreeTable, Key, Record, Text
from allotment.errors import Severity, did_you_mean
from allotment.platform.names import look_printable
from allotment.repository.model import Runner, StepCall

GROUP: Final = "allotment.steps"
PREPARE_GROUP: Final = "allotment.prepare"
FUNCTION: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
RUNNERS: Final = ("own", "image")
LONGEST: Final = 200

StepNames = Callable[[], frozenset[str]]


@cache
def installed_steps() -> frozenset[str]:
    """The names of the steps that are installed; none of them is imported."""
    return frozenset(point.name for point in entry_points(group=GROUP))


@cache
def installed_prepares() -> frozenset[str]:
    """The names of the preparations that are installed; none of them is imported."""
    return frozenset(point.name for point in entry_points(group=PREPARE_GROUP))


STEP: Final = Record(
    {
        "step": Key(Text(look_printable, longest=LONGEST), required="name the step: `step: ocr`"),
        "settings": Key(FreeTable(), nullable=True),
    },
    lambda values, _place: StepCall(values["step"], values.get("settings", {})),
)


def choose_runner(
    steps: Sequence[tuple[StepCall, Place]], *, image: bool, asked: str | None, names: StepNames
) -> Runner:
    """Who runs the steps: our runner, or the image's own entry when a step is none of ours."""
    known = [_known(place, names) for _, place in steps]
    foreign = [
        (call.step, place / "step", known_here)
        for (call, place), known_here in zip(steps, known, strict=True)
        if not _is_ours(call.step, known_here)
    ]
    if not foreign:
        return "image" if asked == "image" else "own"
    if not image or asked == "own":
        for name, place, ours in foreign:
            _refuse_unknown(name, place, ours())
        return "own"
    if asked is None:
        for name, place, ours in foreign:
            _warn_of_likeness(name, place, ours())
    return "image"


def _known(place: Place, steps: StepNames) -> StepNames:
    """The names of what can stand at a place: steps, or preparations."""
    return installed_prepares if place.loc[:1] == ("prepare",) else steps


def _is_ours(name: str, names: StepNames) -> bool:
    return FUNCTION.fullmatch(name) is not None or name in names()


def _refuse_unknown(name: str, place: Place, known: frozenset[str]) -> None:
    hint = did_you_mean(name, known) or "write an installed step, or module:function"
    place.found("unknown-step", f"there is no step `{shown(name)}`", hint)


def _warn_of_likeness(name: str, place: Place, known: frozenset[str]) -> None:
    """A name that is nearly one of ours is more likely a slip than the image's own."""
    hint = did_you_mean(name, known)
    if not hint.startswith("did you mean"):
        return
    message = f"`{shown(name)}` is none of our steps, so the image's own entry runs the whole pipeline"
    place.found("step-of-image", message, f"{hint} If not, say `runner: image`", severity=Severity.WARNING)
