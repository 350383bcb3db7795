"""The scene of a plan: where, what, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence

from allotment.planning.scenes.values import NOTHING_KNOWN, Choices, Known, Place, Scene
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository
from allotment.simulation.setting import Scheduler

FREELY = Choices()


def scene_for(
    repository: Repository,
    platform: Platform,
    team: Team,
    place: Place,
    *,
    scheduler: Scheduler | str | None = None,
    names: Sequence[str] = (),
    known: Known = NOTHING_KNOWN,
    choices: Choices = FREELY,
    now: float = 0.0,
    beside: Sequence[tuple[Repository, Team]] = (),
) -> Scene:
    """The scene in which the named campaigns, fleets and gangs (none: all) are sent ``now``.

    ``scheduler`` decides instead of the platform's; ``beside`` are other teams' repositories that are sent at
    the same time. AllotmentError for a need that cannot be had.
    """
    raise NotImplementedError
