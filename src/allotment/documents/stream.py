"""Files that hold several documents, and JSON: what clusters print, as plain values that know their places.

A team's own file holds one document (`allotment.documents.reading`). What ``kubectl get -o yaml`` or ``-o
json`` prints may be a stream of them, and large: JSON is read by Python's own parser, in a twentieth of the
time, and YAML's reader only comes when a place is asked for. In either form a text means the same, because
JSON is YAML.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from allotment.documents.document import Document
from allotment.documents.loader import Loaded, load_all
from allotment.documents.positions import Index, iter_indexes
from allotment.documents.reading import FAULT_MESSAGES
from allotment.documents.source import Limits, Source, read_source, source_of
from allotment.documents.syntax import syntax_finding
from allotment.errors import Finding, FindingsError

LARGE = Limits(bytes=512 * 1024 * 1024)
"""What a whole cluster's objects may take."""

ScannedStream = tuple[list[Document], list[Finding]]


@dataclass(slots=True, eq=False)
class _Indexes:
    """The places of all documents of a text, found at once when the first is asked for."""

    text: str
    found: list[Index] | None = None

    def of(self, number: int) -> Index:
        if self.found is None:
            self.found = _indexes(self.text)
        return self.found[number] if number < len(self.found) else Index(None, [])


@dataclass(slots=True, eq=False)
class StreamDocument(Document):
    """One document of several."""

    number: int = 0
    places: _Indexes = field(default_factory=lambda: _Indexes(""))

    @property
    def index(self) -> Index:
        """The index of positions of this document."""
        return self.places.of(self.number)


def scan_stream(path: Path, *, name: str, limits: Limits = LARGE) -> ScannedStream:
    """Every document in a file as far as they can be read, and every finding about its YAML or JSON."""
    return _scanned(lambda: read_source(path, name, limits), limits)


def scan_named(path: Path, *, limits: Limits = LARGE) -> ScannedStream:
    """The same of what somebody names on a command line: it may be a pipe, as in ``<(kubectl get …)``.

    A pipe is waited for; the empty device is an empty file.
    """
    if not path.is_fifo() and str(path) != os.devnull:
        return scan_stream(path, name=str(path), limits=limits)
    with path.open("rb") as pipe:
        return scan_stream_bytes(pipe.read(limits.bytes + 1), name=str(path), limits=limits)


def scan_stream_bytes(data: bytes, *, name: str, limits: Limits = LARGE) -> ScannedStream:
    """The same for what came in through a pipe."""
    return _scanned(lambda: source_of(data, name, limits), limits)


def _scanned(open_source: Callable[[], Source], limits: Limits) -> ScannedStream:
    try:
        source = open_source()
    except FindingsError as error:
        return [], list(error.findings)
    places = _Indexes(source.text)
    value = _json(source.text, limits.depth)
    if value is not None:
        return [StreamDocument(source, value, places=places)], []
    return _yaml(source, places, limits)


def _yaml(source: Source, places: _Indexes, limits: Limits) -> ScannedStream:
    from yaml import YAMLError

    try:
        all_loaded = load_all(source.text, limits.depth)
    except YAMLError as error:
        return [], [syntax_finding(error, source)]
    documents: list[Document] = []
    findings: list[Finding] = []
    for number, loaded in enumerate(all_loaded):
        refusal = _refusal(loaded, source, limits)
        findings += refusal
        if refusal or loaded.value is None:
            continue
        document = StreamDocument(source, loaded.value, frozenset(loaded.traps), number=number, places=places)
        documents.append(document)
        findings += _duplicates(document) if loaded.duplicates else []
    if not documents and not findings:
        findings = [Finding(source.position(0), "file-empty", "the file is empty", "fill it in")]
    return documents, findings


def _refusal(loaded: Loaded, source: Source, limits: Limits) -> list[Finding]:
    if loaded.too_deep is not None:
        message = f"lists and mappings are nested more than {limits.depth} deep here"
        return [Finding(source.position(loaded.too_deep), "nested-too-deep", message, "flatten them")]
    return [Finding(source.position(offset), *FAULT_MESSAGES[kind]) for kind, offset in loaded.faults]


def _duplicates(document: Document) -> list[Finding]:
    place = document.source.position
    return [
        Finding(
            place(duplicate.second),
            "duplicate-key",
            f"the key `{duplicate.key}` is on line {place(duplicate.first).line} and again here",
            "keep one of them",
        )
        for duplicate in document.index.duplicates
    ]


class _NotPlainError(ValueError):
    """JSON that the YAML reader shall look at: a key twice, a number that is none, no mapping."""


def _json(text: str, depth: int) -> Any:
    """The value of a text that is one JSON object, or None for the YAML reader to say what it is."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if _is_at_most(value, depth) else None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _NotPlainError
    return made


def _refuse_constant(_name: str) -> Any:
    raise _NotPlainError


def _is_at_most(value: Any, depth: int) -> bool:
    """Whether nothing is nested deeper; level by level, so that depth costs no stack."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            below
            for each in level
            for below in (each.values() if isinstance(each, dict) else each)
            if isinstance(below, dict | list)
        ]
        if not level:
            return True
    return False


def _indexes(text: str) -> list[Index]:
    """The places of all documents; none of what Python reads as JSON and libyaml does not read at all."""
    from yaml import YAMLError

    found: list[Index] = []
    try:
        found.extend(iter_indexes(text))
    except YAMLError:
        return found
    return found
