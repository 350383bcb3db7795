"""The images that a repository and its platform name, each with what it is for and the verdict on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.errors import Finding, Position, Severity
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.images import PLATFORMS, Fetch, ImageVerdict, State, Use, judged
from allotment.kubernetes.kinds import DEPLOYMENT, JOB, NODE, Object
from allotment.platform.model import Platform
from allotment.repository.model import Pipeline, Repository

OF_PLATFORM: Final = "platform"
_SEVERITY: Final[Mapping[State, tuple[str, Severity]]] = {
    State.WRONG: ("image-unfit", Severity.ERROR),
    State.UNTOLD: ("image-untold", Severity.WARNING),
}


@dataclass(frozen=True, slots=True)
class Named:
    """An image as it is named: by whom (``pipelines/read``), what for, and where that stands."""

    about: str
    image: str
    use: Use
    position: Position


def images_of(repository: Repository, platform: Platform, origin: str) -> Iterator[Named]:
    """Every image, the platform's own first where a pipeline has use for it."""
    bringer = platform.runner.image
    uses = {name: use_of(pipeline, platform) for name, pipeline in repository.pipelines.items()}
    if bringer is not None and Use.BROUGHT in uses.values():
        yield Named(OF_PLATFORM, bringer, Use.BRINGER, Position(origin))
    for name, pipeline in repository.pipelines.items():
        if pipeline.image is not None:
            place = pipeline.position("image")
            yield Named(f"pipelines/{name}", pipeline.image, uses[name], place)
    for kind, standing in (("fleets", repository.fleets), ("gangs", repository.gangs)):
        for name, each in standing.items():
            if each.image is not None:
                yield Named(f"{kind}/{name}", each.image, Use.PROGRAM, each.position("image"))


def use_of(pipeline: Pipeline, platform: Platform) -> Use:
    """What a pipeline's image is for."""
    if pipeline.runner == "image":
        return Use.PROGRAM
    return Use.RUNNER if platform.runner.image is None else Use.BROUGHT


def looked_at(
    named: Iterable[Named], fetch: Fetch, platforms: Sequence[str] = PLATFORMS
) -> Iterator[tuple[Named, ImageVerdict]]:
    """The verdict on each that is not fine."""
    for each in named:
        verdict = judged(each.image, each.use, fetch, platforms)
        if verdict.state is not State.FINE:
            yield each, verdict


def finding_of(named: Named, verdict: ImageVerdict) -> Finding:
    """A verdict as a finding at the place where the image is named."""
    rule, severity = _SEVERITY[verdict.state]
    name, _, digest = named.image.partition("@")
    short = f"{name}@{digest[: len('sha256:') + 12]}…"
    return Finding(named.position, rule, f"{short}: {verdict.said}", verdict.remedy, severity)


def platforms_of(snapshot: Snapshot) -> tuple[str, ...]:
    """What the nodes of a cluster are (``linux/amd64``); the usual where it shows none."""
    labels = [each["metadata"].get("labels") or {} for each in snapshot.of(NODE)]
    found = {
        f"{each.get('kubernetes.io/os', 'linux')}/{each['kubernetes.io/arch']}"
        for each in labels
        if "kubernetes.io/arch" in each
    }
    return tuple(sorted(found)) or PLATFORMS


def unseen(named: Iterable[Named], snapshot: Snapshot, namespace: str) -> Iterator[Named]:
    """Those that no live Job or Deployment has for the same use: those were looked at before."""
    live = {
        seen for kind in (JOB, DEPLOYMENT) for each in snapshot.of(kind, namespace) for seen in _seen(each)
    }
    for each in named:
        if (each.image, each.use is Use.BROUGHT) not in live:
            yield each


def _seen(value: Object) -> Iterator[tuple[str, bool]]:
    """The images of a pod's containers, with whether something is brought into them."""
    pod = value["spec"]["template"]["spec"]
    brought = pod.get("initContainers") or ()
    yield from ((str(each.get("image")), bool(brought)) for each in pod["containers"])
    yield from ((str(each.get("image")), False) for each in brought)
