"""What work of others has left to do, and how fast it goes, as far as its Job tells.

An Indexed Job of ours has an index for each volume. How long an index takes can be told from how many are
complete since it began, at the width that it has now; of a Job with none, nobody knows. Anything else stays,
unless the caller says for how long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.ranges import indexes_of
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import PREFIX
from allotment.pictures.counts import counted
from allotment.planning.scenes.times_taken import seconds_words, taken
from allotment.planning.scenes.values import Assumption, Source
from allotment.scheduling.state.read_workloads import seconds
from allotment.simulation.distributions import Constant, through
from allotment.simulation.run_times import Basis, Times
from allotment.simulation.work import Kind, Unit

SPREAD: Final = 2.5
"""How much longer one index in twenty takes than half of them."""


@dataclass(frozen=True, slots=True)
class Left:
    """Units, and the key of their run times, with the times themselves where the Job tells them.

    ``each`` is how many seconds an index takes then, in the middle.
    """

    kind: Kind
    units: tuple[Unit, ...] = ()
    recipe: str = ""
    times: Times | None = None
    each: float = 0.0

    def assumption(self, name: str) -> Assumption | None:
        """What is taken for it."""
        if self.times is None:
            return None
        said = "; ".join(part for part in (self.times.said, taken(self.each, self.times.doubt)) if part)
        return Assumption(f"an index of {name}", seconds_words(self.each), Source.SEEN, said)


def left_of(
    job: Object | None, labels: Mapping[str, Any], count: int, now: float, stays: float | None
) -> Left:
    """What is left of a Job (or of pods without one) of ``count`` pods."""
    completions = fields.number(job, "spec", "completions")
    if job is None or f"{PREFIX}campaign" not in labels or completions is None:
        if stays is None:
            return Left(Kind.FLEET)
        return Left(Kind.CAMPAIGN, tuple(Unit(f"pod {place}", 1, seconds=stays) for place in range(count)))
    done = len(indexes_of(fields.text(job, "status", "completedIndexes")))
    over = done + len(indexes_of(fields.text(job, "status", "failedIndexes")))
    began = fields.text(job, "status", "startTime")
    elapsed = now - seconds(began) if began else 0.0
    if done and elapsed > 0:
        name = f"{job['metadata'].get('namespace')} {job['metadata']['name']}"
        units = tuple(Unit(f"index {place}") for place in range(completions - over))
        each = elapsed * count / done
        return Left(Kind.CAMPAIGN, units, f"indexes of {name}", _times(each, done, name), each)
    units = tuple(Unit(f"index {place}", 0) for place in range(completions - over))
    return Left(Kind.CAMPAIGN, units, str(labels.get(f"{PREFIX}recipe", "")))


def _times(each: float, done: int, name: str) -> Times:
    """Of one index, loading and all."""
    said = f"{counted(done, 'index')} of it complete since it began"
    doubt = max(0.1, 0.5 / math.sqrt(done))
    return Times(through(each, 0.95, each * SPREAD), Constant(0.0), Basis.MEASURED, said, doubt, name)
