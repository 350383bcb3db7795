"""What is taken for how fast things go and how often they fail: ``--set KEY=VALUE``, the same everywhere.

The keys are those of ``Pace`` and ``Chances``, which say where their values are from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import click

from allotment.cli.shared import Command
from allotment.errors import UsageError, did_you_mean
from allotment.quantities import QuantityError, parse_duration

if TYPE_CHECKING:
    from allotment.simulation.setting import Chances, Pace


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
        if key in of_pace:
            pace = replace(pace, **{key: number})
        else:
            chances = replace(chances, **{key: number})
    return pace, chances


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
