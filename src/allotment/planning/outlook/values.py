"""What a scheduler would do next with something that waits, in one form for Kueue and for KAI.

Kueue decides about Workloads as a whole; KAI about the pods of a group, of which some may start and others
wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

KUEUE: Final = "Kueue"
KAI: Final = "KAI"


class Next(StrEnum):
    """What becomes of it. Kueue admits, KAI starts; ``evicted`` is told of what itself waits for nothing."""

    ADMITTED = "admitted"
    STARTS = "starts"
    PREEMPTS = "preempts"
    EVICTED = "evicted"
    WAITS = "waits"
    NOT_TRIED = "not-tried"


@dataclass(frozen=True, slots=True)
class Victim:
    """What loses its place, and for what in the scheduler's words; ``pods`` of ``wide`` ones with KAI."""

    workload: str
    name: str
    why: str
    pods: int = 0
    wide: int = 0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the scheduler would do with something. ``cycle`` is the one that lets it in, from 1.

    ``pods`` of it wait, of which ``started`` get a place (with KAI alone). ``ends`` are those whose ends let
    it in, by name; None where it was not tried or none do.
    """

    workload: str
    name: str
    next: Next
    cycle: int = 0
    reason: str = ""
    message: str = ""
    victims: tuple[Victim, ...] = ()
    ends: tuple[str, ...] | None = None
    tried_all: bool = False
    notes: tuple[str, ...] = ()
    pods: int = 0
    started: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says of some; ``version`` is the cluster's release, ``model`` the model's."""

    outlooks: tuple[Outlook, ...] = ()
    version: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    unsent: bool = False
    scheduler: str = KUEUE


NOTHING_SAID: Final = Said()


@dataclass(frozen=True, slots=True)
class SaidOfQueues:
    """What it says of each queue, in the order of its line."""

    queues: Mapping[str, tuple[Outlook, ...]]
    version: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    scheduler: str = KUEUE
