"""What is wished, and all that a group of objects is planned by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from allotment.kubernetes.apply.outcome import Refusal
from allotment.kubernetes.apply.wanted import Wanted
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.context import Context
from allotment.repository.model import Repository

Refusals = Mapping[str, tuple[Refusal, ...]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be applied, and how. ``impossible`` are needs that no device of the cluster meets, by group.

    ``is_whole`` says that the repository is all of it, so that what is not in it can be told apart.
    """

    repository: Repository
    mark: str | None = None
    again: Collection[str] = ()
    prune: bool = False
    is_whole: bool = True
    impossible: Refusals = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scene:
    """What all groups are planned by: live objects of the namespace, and the groups by what they make."""

    context: Context
    wish: Wish
    live: Snapshot
    wanted: Wanted
    here: Mapping[tuple[str, str], Object]
    makers: Mapping[tuple[str, str], list[str]]
