"""How an index stands in the bucket, from how each of its volumes does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys
from allotment.running.engine.work import Work
from allotment.running.state import VolumeState, VolumeStatus, volume_state


class Standing(StrEnum):
    """How one volume stands in the bucket."""

    OPEN = "open"
    COMPLETE = "complete"
    FAILED = "failed"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class VolumeStanding:
    """One volume's standing; ``pages_done`` as far as known, ``message`` says why it failed or who holds
    it."""

    volume: str
    standing: Standing
    reason: str = ""
    message: str = ""
    pages_done: int = 0
    pages_failed: int = 0


@dataclass(frozen=True, slots=True)
class IndexStanding:
    """The standing of an index: ``left`` holds the volumes that a worker could do now."""

    volumes: tuple[VolumeStanding, ...]
    left: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        left = tuple(volume.volume for volume in self.volumes if volume.standing is Standing.OPEN)
        object.__setattr__(self, "left", left)

    @property
    def ready(self) -> bool:
        """Whether there is something to start."""
        return bool(self.left)

    def some(self, standing: Standing) -> bool:
        """Whether any of its volumes stands so."""
        return any(volume.standing is standing for volume in self.volumes)


Look = Callable[[Work, int], IndexStanding]


def look_with(volume_standing: Callable[[Work, str], VolumeStanding]) -> Look:
    """How to look at an index, from how to look at a volume."""

    def look(work: Work, index: int) -> IndexStanding:
        ids: Iterable[str] = (volume.id for volume in work.index_volumes(index))
        return IndexStanding(tuple(volume_standing(work, volume) for volume in ids))

    return look


def volume_standing(bucket: Bucket, work: Work, volume: str, now: float) -> VolumeStanding:
    """How a volume of this work stands at ``now`` (Unix seconds); asks the bucket."""
    keys = RecipeKeys(work.team, work.pipeline, work.recipe).volume(volume)
    state = volume_state(bucket, keys, work.limits, now=now)
    message = state.message
    if state.held_by is not None:
        message = f"{state.held_by} works on it"
    return VolumeStanding(
        volume, _standing(state), state.reason, message, state.pages_done, state.pages_refused
    )


def _standing(state: VolumeState) -> Standing:
    if state.held_by is not None:
        return Standing.HELD
    if state.status is VolumeStatus.COMPLETE:
        return Standing.COMPLETE
    return Standing.FAILED if state.status is VolumeStatus.FAILED else Standing.OPEN
