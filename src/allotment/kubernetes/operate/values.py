"""What the window controller decides and remembers, as frozen values.

All that matters is in the cluster: who moved a width and when stands in the Job's ``managedFields``, what was
asked for and granted in its Workloads. What is remembered between two looks only keeps it from saying a thing
twice, and from asking soon again for what was refused; a controller that starts anew loses nothing by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

LAG: Final = 3.0
"""For how many seconds a ClusterQueue's status may not yet say what was just admitted."""
FIRST_PAUSE: Final = 60.0
LONGEST_PAUSE: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast windows move, in seconds.

    ``settle`` passes between two steps of a Job; a growth that is not admitted within ``patience`` is taken
    back; within ``minimum_runtime`` of its last step a Job gives nothing to a peer. ``grows`` is false for
    releases of Kueue under which a Job that has grown does not come back from an eviction.
    """

    settle: float = 20.0
    patience: float = 10.0
    minimum_runtime: float = 600.0
    grows: bool = True


class Verb(StrEnum):
    """What is done with a Job."""

    GROWS = "grows"
    SHRINKS = "shrinks"
    LOWERED = "is lowered"
    TAKEN_BACK = "is taken back"
    STAYS = "stays"
    LEFT = "is left alone"
    ASKS = "needs you"


@dataclass(frozen=True, slots=True)
class Decision:
    """One Job: what is done, from which width to which, and why. ``version`` is that of the Job looked at."""

    namespace: str
    name: str
    uid: str
    version: str
    verb: Verb
    width: int
    to: int
    reason: str
    team: str = ""
    campaign: str = ""

    @property
    def is_move(self) -> bool:
        """Whether anything is to be written."""
        return self.to != self.width

    @property
    def words(self) -> str:
        """The decision as a line."""
        change = f" {self.width} -> {self.to}" if self.is_move else f" {self.width} wide"
        change = "" if self.verb in {Verb.LEFT, Verb.ASKS} else change
        return f"{self.namespace}/{self.name} {self.verb}{change}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Pause:
    """Until when a Job is not asked for more, and how often that was so in a row."""

    until: float
    times: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Between two looks: growths that were refused by the Job's uid, and what has been said once."""

    pauses: Mapping[str, Pause] = field(default_factory=dict)
    said: frozenset[tuple[str, str]] = frozenset()


def pause_after(before: Pause | None, now: float) -> Pause:
    """The pause after one more refusal: twice as long as the last."""
    times = 1 if before is None else before.times + 1
    return Pause(now + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(times - 1, 10)), times)
