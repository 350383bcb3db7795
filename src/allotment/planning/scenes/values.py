"""What goes into a scene, what it is, and on what it rests.

A plan is no better than what it assumes, so each figure that is no decision says where it is from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from allotment.devices.world import World
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.planning.figures import Figures
from allotment.repository.measured import MeasuredFile
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Chances, Pace, Setting
from allotment.simulation.work import Work


class Source(StrEnum):
    """Where a figure is from, the best first."""

    MEASURED = "measured"
    OTHER_CARD = "measured on another card"
    SEEN = "seen on the cluster"
    STATED = "stated in the files"
    SET = "set with --set"
    ESTIMATE = "estimate"
    PUBLISHED = "published"
    DEFAULT = "default"
    GUESS = "guess"


class Maturity(StrEnum):
    """How finished a feature is that is relied on."""

    STABLE = "stable"
    BETA = "beta"
    ALPHA = "alpha"


@dataclass(frozen=True, slots=True, order=True)
class Assumption:
    """One thing that a plan relies on: about what, what is taken for it, and where that is from.

    ``maturity`` is set where it is about a feature of a cluster; ``remedy`` says how to know better.
    """

    subject: str
    value: str
    source: Source
    said: str = ""
    maturity: Maturity | None = None
    remedy: str = ""


THEY_STAY: Final = "they stay"
"""What is taken of others of whom nobody says when they end."""


@dataclass(frozen=True, slots=True)
class Place:
    """The world: devices, and the cluster that they were read from, if from one.

    ``name`` is what to call it; ``is_here`` says that it is this machine.
    """

    world: World
    name: str
    snapshot: Snapshot | None = None
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What was looked up outside of the files: what the bucket holds, and how many pages folders have.

    By recipe, whichever pipelines do the same: ``figures`` of some complete volumes, and ``counts`` of the
    pages of all of them. By pipeline, as results are kept: which volumes are ``complete`` and which have
    ``failed`` for good, and ``begun`` pages of the others. ``pages`` is how many pages a source has, by where
    it is. Without a bucket nothing is known. ``beside`` is what is known of the files of others that are sent
    at the same time, by the root of their repository.
    """

    figures: Mapping[str, Figures] = field(default_factory=dict)
    complete: Mapping[str, frozenset[str]] = field(default_factory=dict)
    begun: Mapping[tuple[str, str], int] = field(default_factory=dict)
    pages: Mapping[str, int] = field(default_factory=dict)
    measured: MeasuredFile = field(default_factory=MeasuredFile)
    notes: tuple[str, ...] = ()
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    failed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    beside: Mapping[Path, Known] = field(default_factory=dict)


NOTHING_KNOWN = Known()


@dataclass(frozen=True, slots=True)
class Choices:
    """What a caller may choose beside the files: paces, chances, what others do, and from when on.

    ``window`` says whether the window controller runs, which grows and shrinks campaigns of Kueue's.
    """

    pace: Pace = field(default_factory=Pace)
    chances: Chances = field(default_factory=Chances)
    window: bool = True

    @property
    def stays(self) -> float | None:
        """How many seconds a pod of others takes, where nothing tells; None: it stays."""
        return self.pace.others_stay or None


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a simulation needs: ``simulate(scene.setting, scene.works, scene.run_times, draws, until)``.

    ``works`` holds the planned works first, then what runs already. Time 0 is ``now`` (Unix seconds).
    """

    setting: Setting
    works: tuple[Work, ...]
    run_times: RunTimes
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    now: float = 0.0

    @property
    def planned(self) -> tuple[Work, ...]:
        """What the plan is about."""
        return tuple(each for each in self.works if each.planned)
