"""What lies under other recipes of a pipeline: results that a change of its steps has left behind.

Whoever changes a step gets another recipe, under which everything is done anew, beside what was done before.
That is right, and dear; so it is said.
"""

from __future__ import annotations

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import NameRefused, RecipeKeys
from allotment.running.engine.work import Work
from allotment.running.marks import read_marks

MOST_LOOKED_AT = 10


def left_behind(bucket: Bucket, work: Work) -> str:
    """In words, how many of a campaign's volumes are complete under another recipe alone; or nothing."""
    keys = RecipeKeys(work.team, work.pipeline, work.recipe)
    wanted = {volume.id for volume in work.volumes}
    others = [
        recipe for recipe in bucket.list_folders(f"{work.team}/{work.pipeline}/") if recipe != work.recipe
    ]
    complete = {recipe: _complete(bucket, work, recipe) & wanted for recipe in others[:MOST_LOOKED_AT]}
    if not any(complete.values()):
        return ""
    here = set(read_marks(bucket, keys).complete)
    left = {recipe: len(volumes - here) for recipe, volumes in complete.items() if volumes - here}
    if not left:
        return ""
    told = ", ".join(f"{_volumes(number)} complete under recipe {recipe}" for recipe, number in left.items())
    return f"{told}; this is recipe {work.recipe}, for the image, `prepare` or steps have changed since"


def _complete(bucket: Bucket, work: Work, recipe: str) -> set[str]:
    try:
        keys = RecipeKeys(work.team, work.pipeline, recipe)
    except NameRefused:
        return set()
    return set(read_marks(bucket, keys).complete)


def _volumes(number: int) -> str:
    return "1 volume is" if number == 1 else f"{number:,} volumes are"
