"""A world for volumes in memory: a bucket, a source, a step, its own clock, workers that come and go."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys, VolumeKeys
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import Patience
from allotment.events.sinks import ListSink
from allotment.running.assignment import Assignment, Limits, StepSpec, VolumeSpec
from allotment.running.endings import Outcome, PermanentFailureError
from allotment.running.holder import Holder
from allotment.running.interrupts import Interrupts
from allotment.running.page import Page, PageRefused, page_name
from allotment.running.sources.source import Fetched, PageRef, Source
from allotment.running.steps import Step
from allotment.running.steps.loading import LabelledStep
from allotment.running.steps_once import StepsOnce
from allotment.running.surroundings import Surroundings
from allotment.running.volume import VolumeRun
from allotment.running.worker import run_pack

RECIPE = RecipeKeys("team", "read", "0123456789ab")
ASSIGNMENT = Assignment(
    team="team",
    campaign="letters",
    pipeline="read",
    recipe="0123456789ab",
    steps=(StepSpec("copy"),),
    indexes=((VolumeSpec("v1", {"pages": 3}),),),
    root="/repository",
    bucket="memory",
    limits=Limits(look_ahead=1),  # pages come in their order
)


class ListSource:
    """Pages from a list of bytes; a page whose bytes are an exception raises it."""

    at_once = 4

    def __init__(self, files: Sequence[tuple[str, bytes | Exception]]) -> None:
        self._files = files
        self.pages = tuple(
            PageRef(number, page_name(number), name, len(data) if isinstance(data, bytes) else 1)
            for number, (name, data) in enumerate(files, 1)
        )

    def fetch(self, page: PageRef) -> Fetched:
        data = self._files[page.number - 1][1]
        if isinstance(data, Exception):
            raise data
        return Fetched(data, "text/plain", hashlib.sha256(data).hexdigest())

    def digest(self, page: PageRef) -> str:
        return f"digest of {page.source}"


class Clockwork(Interrupts):
    """Sleeping moves the world's clock."""

    def __init__(self, world: World) -> None:
        self.world = world

    def sleep(self, seconds: float) -> None:
        self.world.now += seconds


@dataclass
class World:
    """What stays while workers come and go."""

    bucket: MemoryBucket = field(default_factory=MemoryBucket)
    now: float = 1_000_000.0
    files: dict[str, list[tuple[str, bytes | Exception]]] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    loads: int = 0
    dead: set[str] = field(default_factory=set)
    sink: ListSink = field(default_factory=ListSink)
    assignment: Assignment = ASSIGNMENT
    holders: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        if not self.files:
            self.give("v1", pages=3)

    def give(self, volume: str, *, pages: int) -> None:
        """Let a volume have so many pages."""
        self.files[volume] = [(f"p{n}.txt", f"{volume} page {n}".encode()) for n in range(1, pages + 1)]

    def pass_time(self, seconds: float) -> None:
        """Let the clock go on."""
        self.now += seconds

    def limited(self, **limits: Any) -> None:
        """Change limits."""
        self.assignment = replace(self.assignment, limits=replace(self.assignment.limits, **limits))

    def keys(self, volume: str = "v1") -> VolumeKeys:
        return RECIPE.volume(volume)

    def copy(self, page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The step: two outputs that depend on the page alone."""
        self.done.append(page.name)
        return {"txt": page.data.upper(), "json": json.dumps({"page": page.name}).encode()}

    def around(
        self,
        *,
        bucket: Bucket | None = None,
        step: Step | None = None,
        steps: Sequence[tuple[str, Step]] = (),
        load: Callable[[], tuple[LabelledStep, ...]] | None = None,
        volume: str = "v1",
        interrupts: Interrupts | None = None,
    ) -> Surroundings:
        """A new worker's surroundings."""
        calls = steps or (("copy", step or self.copy),)

        def loaded() -> tuple[LabelledStep, ...]:
            self.loads += 1
            return tuple(LabelledStep(label, call) for label, call in calls)

        def open_source(source: Mapping[str, Any]) -> Source:
            name = source.get("files", volume)
            if name not in self.files:
                raise PermanentFailureError("source-missing", f"there is no folder {name}")
            return ListSource(self.files[name])

        return Surroundings(
            assignment=self.assignment,
            bucket=bucket or self.bucket,
            steps=StepsOnce(load or loaded, lambda: self.now),
            open_source=open_source,
            holder=Holder(f"holder-{next(self.holders)}", host="here", pid=1),
            sink=self.sink,
            clock=lambda: self.now,
            monotonic=lambda: self.now,
            interrupts=interrupts or Clockwork(self),
            is_dead=lambda holder: holder.id in self.dead,
            patience=Patience(tries=4),
            pause=self.pass_time,
        )

    def run(self, volume: str = "v1", **options: Any) -> Outcome:
        """Let a new worker work on one volume."""
        around = self.around(volume=volume, **options)
        return VolumeRun(around, VolumeSpec(volume, {"files": volume})).run()

    def run_pack(self, *volumes: str, **options: Any) -> int:
        """Let a new worker work on several volumes."""
        return run_pack(self.around(**options), [VolumeSpec(name, {"files": name}) for name in volumes])

    def manifest(self, volume: str = "v1") -> dict[str, Any]:
        """The manifest without what was measured."""
        manifest: dict[str, Any] = json.loads(self.bucket.objects[self.keys(volume).manifest])
        del manifest["measured"]
        return manifest

    def outputs(self, volume: str = "v1") -> dict[str, bytes]:
        """The outputs of pages."""
        prefix = self.keys(volume).pages
        return {
            key: data
            for key, data in self.bucket.objects.items()
            if key.startswith(prefix) and key.count(".") > 1 + prefix.count(".")
        }

    def attempts(self, volume: str = "v1") -> list[str]:
        """How the attempts ended, by their numbers; a start without an end is `reclaimed`."""
        prefix = self.keys(volume).attempts
        ends: list[str] = []
        for number in itertools.count(1):
            start = self.bucket.objects.get(f"{prefix}{number}.json")
            if start is None:
                return ends
            end = self.bucket.objects.get(f"{prefix}{number}.end.json", b'{"outcome": "reclaimed"}')
            ends.append(json.loads(start)["kind"] if b'"retry"' in start else json.loads(end)["outcome"])
        return ends


def refusing(*names: str) -> Callable[[World], Step]:
    """A step that refuses some pages."""

    def step_of(world: World) -> Step:
        def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
            if page.name in names:
                raise PageRefused("it is no page")
            return world.copy(page, earlier)

        return step

    return step_of
