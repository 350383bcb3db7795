"""A lint of files: what a reading finds in them, and what is odd in the slices that it has read.

Slices are read here once more, since a rule needs the place of everything; what that reading finds is told by
the first one already.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.devices.lint.on_devices import DEVICE_RULES
from allotment.devices.lint.on_nodes import without_node
from allotment.devices.lint.on_pools import POOL_RULES, current
from allotment.devices.lint.on_slices import SLICE_RULES
from allotment.devices.lint.seen import SeenSlice
from allotment.devices.read_slices import read_slice
from allotment.devices.reading import STANDARD_INPUT, read_world
from allotment.devices.server import ANY_SERVER, Server
from allotment.devices.slices import ResourceSlice
from allotment.devices.versions import GROUP, refusal
from allotment.documents.checking import Check, Place, RefusedError
from allotment.documents.document import Document
from allotment.documents.stream import scan_named, scan_stream_bytes
from allotment.errors import Finding, Severity, sorted_findings

_KIND: Final = "ResourceSlice"


@dataclass(frozen=True, slots=True)
class Linted:
    """What was looked at, and what was found."""

    findings: tuple[Finding, ...]
    files: int
    slices: int
    devices: int

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(finding.severity is severity for finding in self.findings)


def lint_files(
    paths: Sequence[Path],
    standard_input: Callable[[], bytes] | None = None,
    *,
    server: Server = ANY_SERVER,
) -> Linted:
    """The lint of files of API objects; ``-`` is standard input."""
    documents: list[Document] = []
    findings: list[Finding] = []
    given = list(dict.fromkeys(paths))
    for path in given:
        if str(path) == STANDARD_INPUT:
            data = (standard_input or sys.stdin.buffer.read)()
            read, found = scan_stream_bytes(data, name="standard input")
        else:
            read, found = scan_named(path)
        documents += read
        findings += found
    return lint_documents(documents, findings, files=len(given), server=server)


def lint_slices(slices: Iterable[ResourceSlice], name: str) -> Linted:
    """The lint of slices that stand in no file; places are those of the JSON that they would be."""
    items = [each.to_dict() for each in slices]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    documents, findings = scan_stream_bytes(text.encode(), name=name)
    return lint_documents(documents, findings)


def lint_documents(
    documents: Sequence[Document],
    findings: Iterable[Finding] = (),
    *,
    files: int = 1,
    server: Server = ANY_SERVER,
) -> Linted:
    """The lint of documents, as a server would take them; ``findings`` are what their YAML had already."""
    reading = read_world(documents, findings, server=server)
    checks = [Check(document) for document in documents]
    seen = [each for check in checks for each in _slices(check.document.value, check.root, "", "")]
    for check in checks:
        check.findings.clear()
        check.told.clear()
    for each in seen:
        _look_at(each)
    newest = current(seen)
    for rule in POOL_RULES:
        rule(newest)
    without_node(newest, reading.world.nodes)
    odd = [finding for check in checks for finding in check.findings]
    devices = sum(1 for each in seen for _ in each.devices())
    return Linted(sorted_findings({*reading.findings, *odd}), files, len(seen), devices)


def _look_at(each: SeenSlice) -> None:
    for look in SLICE_RULES:
        look(each)
    for rule in DEVICE_RULES:
        sightings = [sighting for device in each.devices() for sighting in rule.find(device)]
        if sightings:
            rule.tell(sightings)


def _slices(value: Any, place: Place, kind: str, api: str) -> Iterator[SeenSlice]:
    """Every slice of a document; lists within lists too."""
    if not isinstance(value, dict):
        return
    kind, api = value.get("kind") or kind, value.get("apiVersion") or api
    if not isinstance(kind, str) or not isinstance(api, str):
        return
    if kind.endswith("List"):
        below = "" if kind == "List" else kind.removesuffix("List")
        items = value.get("items")
        for number, item in enumerate(items if isinstance(items, list) else ()):
            yield from _slices(item, place / "items" / number, below, api if below else "")
        return
    group, _, version = api.rpartition("/")
    if kind != _KIND or group != GROUP:
        return
    spec = value.get("spec")
    raw = spec if isinstance(spec, dict) else {}
    yield SeenSlice(place, version, raw, _read(value, place, version))


def _read(value: Any, place: Place, version: str) -> ResourceSlice | None:
    if refusal(_KIND, version) is not None:
        return None
    try:
        return read_slice(value, place, version)
    except RefusedError:
        return None
