"""What is taken for how fast things go and how often they fail: ``--set KEY=VALUE``, the same everywhere.

The keys are those of ``Pace`` and ``Chances``, which say where their values are from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.shared import Command
from allotment.errors import UsageError, did_you_mean
from allotment.quantities import QuantityError, parse_duration

if TYPE_CHECKING:
    from allotment.simulation.setting import Chances, Pace


_LONGEST: Final = 315_360_000.0
_RATE: Final = (1e-6, 1e6, "a number above 0, of how many a second")
_BOUNDS: Final[Mapping[str, tuple[float, float, str]]] = {
    "default_rate": _RATE,
    "kueue_rate": _RATE,
    "kai_period": (1e-3, _LONGEST, "a time above 0"),
    "unit_fails": (0.0, 1.0, "a part from 0 to 1"),
    "node_lost_per_hour": (0.0, 3600.0, "a number from 0 to 3600"),
}
"""What each may be, with words for it; what is not here is a time in seconds or hours."""


def inputs_option(command: Command) -> Command:
    """The option ``--set``; the command gets the texts as ``inputs``."""
    return click.option(
        "--set",
        "inputs",
        multiple=True,
        metavar="KEY=VALUE",
        help="Take something else for how fast things go or how often they fail, such as image_pull=3m, "
        "model_load=90 or unit_fails=0.02. May be given again.",
    )(command)


def inputs_of(texts: Sequence[str]) -> tuple[Pace, Chances]:
    """The paces and chances that the texts say; UsageError for a key or a value that there is not."""
    from allotment.simulation.setting import Chances, Pace

    pace, chances = Pace(), Chances()
    of_pace = {each.name for each in fields(Pace)}
    of_chances = {each.name for each in fields(Chances)}
    for text in texts:
        key, sign, value = text.partition("=")
        known = of_pace | of_chances
        if key not in known:
            raise UsageError(
                f"there is nothing to set that is called `{key}`",
                where="--set",
                remedy=did_you_mean(key, known)
                or f"write KEY=VALUE; the keys are {', '.join(sorted(known))}",
            )
        if not sign:
            raise UsageError(f"`{text}` sets nothing", where="--set", remedy=f"write {key}=VALUE")
        number = _number(text, value)
        _within(key, number, text)
        if key in of_pace:
            pace = replace(pace, **{key: number})
        else:
            chances = replace(chances, **{key: number})
    return pace, chances


def _within(key: str, number: float, text: str) -> None:
    """Refuse what no pace and no chance can be."""
    least, most, words = _BOUNDS.get(key, (0.0, _LONGEST, "a time of at most ten years"))
    if number > most or number < least:
        raise UsageError(f"`{text}` cannot be", where="--set", remedy=f"write {words}")


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        try:
            number = float(parse_duration(value))
        except QuantityError:
            number = math.nan
    if not math.isfinite(number) or number < 0:
        raise UsageError(f"`{text}` sets no number", where="--set", remedy="write a number, or 90s, 3m, 1h")
    return number
