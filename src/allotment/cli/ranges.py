"""Numbers of options: within their bounds, and numbers at all, which ``nan`` and ``inf`` are not."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A range that holds no ``nan``, which is within any bounds, and no ``inf``, where it has no end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the refusal that click words."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number
