"""The digest of a recipe: what was run, in twelve digits, as a folder of the bucket.

Image, `prepare` and steps make a recipe; the need does not, for a page is the same on any card. Another
recipe never writes over the results of this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from allotment.repository.model import Pipeline, StepCall

DIGITS: Final = 12


def recipe_digest(image: str | None, prepare: StepCall | None, steps: Iterable[StepCall]) -> str:
    """The first twelve hexadecimal digits of the SHA-256 of the recipe as canonical JSON."""
    recipe = {
        "image": image,
        "prepare": None if prepare is None else _written(prepare),
        "steps": [_written(step) for step in steps],
    }
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return sha256(text.encode()).hexdigest()[:DIGITS]


def recipe_of(pipeline: Pipeline) -> str:
    """The digest of a pipeline's recipe."""
    return recipe_digest(pipeline.image, pipeline.prepare, pipeline.steps)


def _written(step: StepCall) -> dict[str, Any]:
    return {"step": step.step, "settings": dict(step.settings)}
