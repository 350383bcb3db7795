"""The record that an earlier platform kept in ``rendered/``: volumes and steps of what it has run.

Facts (that platform's format): a file for each campaign, or for each part of a long one, with a ConfigMap
whose ``volumes.txt`` has a line ``id<TAB>source`` for each index, where a source is the address of a
manifest, or ``images:`` and addresses with spaces between; labels that end in ``/campaign`` and
``/pipeline`` say whose it is. A file for each pipeline has a ConfigMap with its ``pipeline.yaml``, and a
Job with its image. Machines write these files, so there is one finding at most for each of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from allotment.documents import Document, scan_text
from allotment.documents.checking import Check, RefusedError, shown
from allotment.documents.shapes import Key, ListOf, Record
from allotment.documents.stream import scan_stream
from allotment.errors import Finding, Position
from allotment.platform.paths import is_within
from allotment.repository.before import Before, CampaignBefore, RecipeBefore
from allotment.repository.files import CAMPAIGNS, PIPELINES, Files, files_of
from allotment.repository.model import ImagesSource, ManifestSource, Source, Volume
from allotment.repository.steps import STEP

RENDERED: Final = "rendered"
IMAGES: Final = "images:"
PART: Final = re.compile(r"-part([0-9]{1,6})\Z")
STEPS: Final[Record[dict[str, Any]]] = Record(
    {"steps": Key(ListOf(STEP), required="-")}, lambda values, _place: values
)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the record holds, the namespaces that it names and where, and what cannot be read."""

    before: Before = field(default_factory=Before)
    namespaces: Mapping[str, Position] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def read_rendered(root: Path) -> Rendered:
    """The record in a repository's ``rendered/``; an empty one where there is none."""
    folder = root / RENDERED
    reading = _Reading()
    if (refused := _no_record(folder, root)) is not None:
        return Rendered(findings=(refused,))
    for kind, read in ((CAMPAIGNS, reading.campaign), (PIPELINES, reading.pipeline)):
        listed = files_of(folder, kind) if folder.is_dir() else Files({})
        files = listed.by_stem
        reading.findings += [each for each in listed.findings if each.rule == "file-escapes"]
        for stem in sorted(files, key=_part_of):
            path = files[stem]
            documents, findings = scan_stream(path, name=str(path))
            maps = [each for each in documents if _at(each.value, "kind") == "ConfigMap"]
            try:
                if findings or not maps:
                    raise _UnreadableError
                reading.namespace(maps[0])
                read(stem, maps[0], documents, f"{RENDERED}/{kind}/{path.name}")
            except _UnreadableError:
                reading.findings.append(_unreadable(path))
    return Rendered(reading.before(), reading.namespaces, tuple(reading.findings))


def _no_record(folder: Path, root: Path) -> Finding | None:
    """Why the record is not read, when it is no folder of the repository."""
    if folder.is_symlink() and not is_within(os.path.realpath(folder), os.path.realpath(root)):
        message = "this is a link that leads out of the repository, so the record in it is not read"
        return Finding(Position(str(folder)), "file-escapes", message, "put the folder itself here")
    if os.path.lexists(folder) and not folder.is_dir():
        message = "this is no folder, so there is no record of what was run to compare with"
        hint = "put the folder itself here, or take it away"
        return Finding(Position(str(folder)), "record-unreadable", message, hint)
    return None


class _UnreadableError(Exception):
    """A file of the record does not hold what it should."""


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    campaigns: dict[str, CampaignBefore] = field(default_factory=dict)
    recipes: dict[str, RecipeBefore] = field(default_factory=dict)
    namespaces: dict[str, Position] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def before(self) -> Before:
        """Everything read, as what was before."""
        return Before(self.campaigns, self.recipes)

    def namespace(self, document: Document) -> None:
        """Remember where a namespace is first named."""
        name = _at(document.value, "metadata", "namespace")
        if isinstance(name, str):
            self.namespaces.setdefault(name, document.position(("metadata", "namespace")))

    def campaign(self, stem: str, document: Document, _all: list[Document], origin: str) -> None:
        """A campaign, or the next part of one."""
        name = _labelled(document.value, "campaign") or PART.sub("", stem)
        pipeline = _labelled(document.value, "pipeline")
        text = _at(document.value, "data", "volumes.txt")
        if pipeline is None or not isinstance(text, str):
            raise _UnreadableError
        volumes = tuple(map(_volume, text.rstrip("\n").split("\n")))
        earlier = self.campaigns.get(name)
        if earlier is not None:
            volumes = earlier.volumes + volumes
        self.campaigns[name] = CampaignBefore(pipeline, volumes, origin)

    def pipeline(self, stem: str, document: Document, documents: list[Document], origin: str) -> None:
        """A pipeline's steps, and its image from the Job beside them."""
        text = _at(document.value, "data", "pipeline.yaml")
        steps, _ = scan_text(text, name=origin) if isinstance(text, str) else (None, [])
        images = [image for each in documents for image in _images(each.value)]
        if steps is None or not images:
            raise _UnreadableError
        try:
            values = STEPS.read(steps.value, Check(steps).root)
        except RefusedError:
            raise _UnreadableError from None
        self.recipes[stem] = RecipeBefore(images[0], None, values["steps"], origin)


def _volume(line: str) -> Volume:
    name, tab, source = line.partition("\t")
    if not tab or not name or not source:
        raise _UnreadableError
    return Volume(name, _source(source))


def _source(text: str) -> Source:
    if text.startswith(IMAGES):
        return ImagesSource(tuple(text.removeprefix(IMAGES).split()))
    return ManifestSource(text)


def _images(value: Any) -> Iterator[str]:
    """The images of a Job's containers."""
    containers = _at(value, "spec", "template", "spec", "containers")
    for container in containers if isinstance(containers, list) else ():
        image = _at(container, "image")
        if isinstance(image, str):
            yield image


def _labelled(value: Any, ending: str) -> str | None:
    labels = _at(value, "metadata", "labels")
    for key, label in labels.items() if isinstance(labels, dict) else ():
        if key.endswith(f"/{ending}") and isinstance(label, str):
            return label
    return None


def _at(value: Any, *keys: str) -> Any:
    """What lies under these keys, or None where the value is of another shape."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _part_of(stem: str) -> tuple[str, int]:
    part = PART.search(stem)
    return (stem[: part.start()], int(part.group(1))) if part else (stem, 0)


def _unreadable(path: Path) -> Finding:
    message = f"the record `{shown(path.name)}` cannot be read, so nothing is held against it"
    return Finding(
        Position(str(path)), "record-unreadable", message, "restore it from git: it says what was run"
    )
