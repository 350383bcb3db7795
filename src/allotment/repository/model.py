"""Pipelines, campaigns, fleets and gangs as frozen values: what a team's files say, after every check.

Nothing here is decided: a need is not yet a claim, a lane is a name, a window is two numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from allotment.documents import Document
from allotment.errors import Position
from allotment.platform.model import REF
from allotment.platform.need import NO_RESOURCES, Need, Resources

Runner = Literal["own", "image"]


class HasNeed(Protocol):
    """What states a need: a pipeline, a fleet, a gang."""

    @property
    def gpu(self) -> Need | None:
        """The need of one pod."""

    @property
    def resources(self) -> Resources:
        """What the pod itself needs."""

    def position(self, *loc: str | int) -> Position:
        """Where the file says it."""


@dataclass(frozen=True, slots=True)
class StepCall:
    """A step by its name (one of ours, ``module:function``, or the image's own) and its settings."""

    step: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """A variable for the steps: a plain value, or a key of a secret by name, never a secret's value."""

    name: str
    value: str | None = None
    secret: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """Pods of a campaign together within one part of the cluster's layout: ``rule`` is require or prefer."""

    rule: Literal["require", "prefer"]
    level: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What its authors think of a pipeline, for plans: seconds of a page, pages of a volume, loading."""

    page: float
    pages: int | None = None
    load: float | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What to run and what one pod of it needs; a size of the platform is already written out in ``gpu``."""

    id: str
    steps: tuple[StepCall, ...]
    image: str | None = None
    gpu: Need | None = None
    resources: Resources = NO_RESOURCES
    size: str | None = None
    prepare: StepCall | None = None
    env: tuple[EnvironmentVariable, ...] = ()
    topology: Topology | None = None
    max_seconds: int = 21_600
    ttl_seconds_after_finished: int = 604_800
    runner: Runner = "own"
    estimate: Estimate | None = None
    path: Path = Path()
    document: Document | None = field(default=None, repr=False, compare=False)

    def position(self, *loc: str | int) -> Position:
        """Where the file says it; what comes from a size is said where the size is named."""
        from_size = self.size is not None and loc[:1] in {("gpu",), ("resources",)}
        return _position(self.document, self.path, ("size",) if from_size else loc)


@dataclass(frozen=True, slots=True)
class FolderSource:
    """Pages are the files of a folder of the repository."""

    folder: str


@dataclass(frozen=True, slots=True)
class PrefixSource:
    """Pages are the objects of a folder of an object store, such as ``s3://scans/letters-3``."""

    prefix: str


@dataclass(frozen=True, slots=True)
class ManifestSource:
    """Pages are those of a IIIF Presentation manifest."""

    manifest: str


@dataclass(frozen=True, slots=True)
class ImagesSource:
    """Pages are listed by address."""

    images: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """A bare reference, and the platform's template that makes an address of it."""

    reference: str
    template: str

    @property
    def address(self) -> str:
        """Where the pages are."""
        return self.template.replace(REF, self.reference)


Source = FolderSource | PrefixSource | ManifestSource | ImagesSource | ReferenceSource


class Volume(NamedTuple):
    """One unit of work by its id, and where its pages come from. (A tuple: campaigns have very many.)"""

    id: str
    source: Source


@dataclass(frozen=True, slots=True)
class Window:
    """How many pods run at once: at least ``min`` is wished for, ``max`` is never passed."""

    min: int = 1
    max: int = 20


@dataclass(frozen=True, slots=True)
class Campaign:
    """A pipeline by its id, the volumes to run it over, and how wide."""

    name: str
    pipeline: str
    volumes: tuple[Volume, ...]
    window: Window = Window()
    priority: str = "bulk"
    suspend: bool = False
    pack: int = 1
    path: Path = Path()
    document: Document | None = field(default=None, repr=False, compare=False)

    def position(self, *loc: str | int) -> Position:
        """Where the file says it."""
        return _position(self.document, self.path, loc)


@dataclass(frozen=True, slots=True)
class Replicas:
    """How many copies of a fleet are up at once: ``min`` of them always, up to ``max`` on what is free."""

    min: int = 1
    max: int = 1


@dataclass(frozen=True, slots=True)
class Fleet:
    """What does not end, such as a model that is served: copies of one program, started again when they end.

    An empty ``command`` is the image's own. ``preemptible`` says whether its devices may be taken for others.
    """

    name: str
    command: tuple[str, ...] = ()
    replicas: Replicas = Replicas()
    image: str | None = None
    gpu: Need | None = None
    resources: Resources = NO_RESOURCES
    priority: str = "bulk"
    preemptible: bool = False
    topology: Topology | None = None
    env: tuple[EnvironmentVariable, ...] = ()
    path: Path = Path()
    document: Document | None = field(default=None, repr=False, compare=False)

    def position(self, *loc: str | int) -> Position:
        """Where the file says it."""
        return _position(self.document, self.path, loc)


@dataclass(frozen=True, slots=True)
class Gang:
    """Work of several workers that starts together: at least ``min`` of ``workers``, or none of them.

    An empty ``command`` is the image's own. ``duration`` is an estimate in seconds, for plans.
    """

    name: str
    workers: int
    min: int
    command: tuple[str, ...] = ()
    image: str | None = None
    gpu: Need | None = None
    resources: Resources = NO_RESOURCES
    priority: str = "bulk"
    preemptible: bool = True
    topology: Topology | None = None
    duration: int | None = None
    env: tuple[EnvironmentVariable, ...] = ()
    path: Path = Path()
    document: Document | None = field(default=None, repr=False, compare=False)

    def position(self, *loc: str | int) -> Position:
        """Where the file says it."""
        return _position(self.document, self.path, loc)


@dataclass(frozen=True, slots=True)
class Repository:
    """What a team's folder holds, by name; files with errors are in ``broken`` and in no mapping."""

    root: Path
    pipelines: Mapping[str, Pipeline] = field(default_factory=dict)
    campaigns: Mapping[str, Campaign] = field(default_factory=dict)
    fleets: Mapping[str, Fleet] = field(default_factory=dict)
    gangs: Mapping[str, Gang] = field(default_factory=dict)
    broken: frozenset[Path] = frozenset()


def _position(document: Document | None, path: Path, loc: tuple[str | int, ...]) -> Position:
    """The place in the file, or its beginning where a value was not read from one."""
    return document.position(loc) if document is not None else Position(str(path))
