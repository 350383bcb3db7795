"""Reading a snapshot from a file: our own, any List that ``kubectl`` prints, or that of KAI's scheduler.

Our own is read strictly, since whoever changed one by hand wants to know what was not understood. Of every
object that much is held to what an API server would hand out that nobody who reads it later has to ask: it
says its kind, its version and its name, and its parts are mappings. Secrets are left out, whoever put them
in. What has no time is taken as of the newest time in it, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from allotment.documents import Document
from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.positions import Loc
from allotment.documents.stream import scan_stream_bytes
from allotment.errors import FindingsError, Severity, did_you_mean
from allotment.kubernetes.cluster import kai_file
from allotment.kubernetes.cluster.file import FORMAT_VERSION, HEADER, time_of
from allotment.kubernetes.cluster.needed import is_needed, is_ours, kept
from allotment.kubernetes.cluster.nesting import HINT, too_deep
from allotment.kubernetes.cluster.packed import LIMITS, snapshot_bytes, unpacked
from allotment.kubernetes.cluster.reading import ASKED
from allotment.kubernetes.cluster.shapes import check_shape
from allotment.kubernetes.cluster.snapshot import Key, Missing, Snapshot, key_of
from allotment.kubernetes.cluster.taken_when import TakenWhen
from allotment.kubernetes.cluster.unasked import unasked
from allotment.kubernetes.kinds import KINDS, Kind, Object

SECRETS: Final = "secrets were left out"
_BY_SAID: Final = {(kind.api_version, kind.name): kind for kind in KINDS}
_MAPPINGS: Final = ("spec", "status", "data")
_TEXT_MAPPINGS: Final = ("labels", "annotations")
_VERSION: Final = re.compile(r"v?\d{1,4}\.\d{1,4}(?:\.[\w.+-]*)?")
_NO_PATH: Final = re.compile("[/%]")
_TOP: Final = ("apiVersion", "kind", "metadata", *_MAPPINGS)


def read_file(path: Path) -> Snapshot:
    """The snapshot in a file, packed or not; raises FindingsError with all that is wrong with it."""
    return snapshot_of(snapshot_bytes(path), name=str(path), otherwise=path.stat().st_mtime)


def read_pipe(file: BinaryIO, *, now: float) -> Snapshot:
    """The snapshot that somebody writes into a pipe at this moment."""
    data = unpacked(file.read(LIMITS.bytes + 1), "standard input")
    return snapshot_of(data, name="standard input", otherwise=now)


def snapshot_of(data: bytes, *, name: str, otherwise: float) -> Snapshot:
    """The snapshot in these bytes; ``otherwise`` is its time where not even its objects tell one."""
    documents, findings = scan_stream_bytes(data, name=name, limits=LIMITS)
    if findings:
        raise FindingsError(findings)
    reader = _Reader(name)
    checks = [Check(document) for document in documents]
    for check in checks:
        reader.document(check.document.value, check.root)
    reader.tell_too_deep(checks)
    told = [finding for check in checks for finding in check.findings]
    if any(finding.severity is Severity.ERROR for finding in told):
        raise FindingsError(told)
    return reader.snapshot(otherwise)


@dataclass(slots=True)
class _Reader:
    """What has been read so far."""

    file: str
    head: dict[str, Any] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)
    partly: list[Missing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    objects: dict[Key, Object] = field(default_factory=dict)
    origins: dict[Key, tuple[Document, Loc]] = field(default_factory=dict)
    has_secrets: bool = False
    is_told: bool = False  # what the file does not tell of: by its header, or by what KAI's scheduler sees
    taken: TakenWhen = field(default_factory=TakenWhen)
    twice: int = 0

    def document(self, value: Any, place: Place) -> None:
        """Everything in a document."""
        try:
            if isinstance(value, dict) and "format_version" in value:
                self._header(value, place)
            elif kai_file.is_of_kai(value):
                self._of_kai(value, place)
                return
            self._objects(value, place, None)
        except RefusedError:
            return

    def tell_too_deep(self, checks: Iterable[Check]) -> None:
        """Tell of queues that are nested without an end, where they name what they stand below."""
        by_document = {id(check.document): check for check in checks}
        for key, name, words in too_deep(self.objects.values()):
            document, loc = self.origins[key]
            place = Place(by_document[id(document)], loc) / "spec" / name
            place.found("nested-too-deep", words, HINT)

    def snapshot(self, otherwise: float) -> Snapshot:
        """All of it."""
        objects = tuple(each for _, each in sorted(self.objects.items()))
        notes = [*self.notes, *([SECRETS] if self.has_secrets else [])]
        if self.twice:
            one = self.twice == 1
            words = f"{self.twice:,} {'object stands' if one else 'objects stand'} there more than once"
            notes.append(f"{words}, and {'is' if one else 'are'} taken once")
        moment = self.head.get("time")
        if moment is None:
            notes.insert(0, self.taken.words())
        return Snapshot(
            time=self.taken.time(otherwise) if moment is None else moment,
            objects=objects,
            name=self.head.get("cluster") or self.file,
            version=self.head.get("kubernetes") or "",
            missing=tuple(sorted(self.missing if self.is_told else unasked(objects))),
            partly=tuple(sorted(self.partly)),
            notes=tuple(dict.fromkeys(notes)),
            is_dated=moment is not None or self.taken.is_known,
            origins=self.origins,
        )

    def _of_kai(self, value: Mapping[str, Any], place: Place) -> None:
        self.is_told = True
        self.head["kubernetes"] = kai_file.version_of(value)
        seen = set(kai_file.LISTS.values())
        others = (each.kind for each in ASKED if each.kind not in seen)
        self.missing += (Missing(kind, kai_file.NOT_SEEN) for kind in others)
        for item, where, kind in kai_file.raw_objects(value, place):
            self._item(item, where, kind)

    def _header(self, value: Mapping[str, Any], place: Place) -> None:
        """What stands before the objects of a file of ours."""
        self.is_told = True
        version = value["format_version"]
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            (place / "format_version").refuse_type(version, "a number from 1 on")
        if version > FORMAT_VERSION:
            (place / "format_version").refuse(
                "unknown-format",
                f"the snapshot is of format {version}, and this version reads 1 to {FORMAT_VERSION}",
                "take a newer `allot`, or take the snapshot again with this one",
            )
        for key in value:
            if key not in HEADER and key != "items":
                words = f"`{shown(key)}` is no key of a snapshot"
                (place / key).found("unknown-key", words, did_you_mean(key, (*HEADER, "items")), key=True)
        for key in ("cluster", "kubernetes"):
            if (text := self._text(value.get(key), place / key)) is not None:
                self.head[key] = text
        if not _VERSION.fullmatch(self.head.get("kubernetes") or "1.36"):
            words = f"`{shown(self.head['kubernetes'])}` is no version of Kubernetes"
            (place / "kubernetes").found("bad-text", words, "write it as 1.36")
        if (text := self._text(value.get("time"), place / "time")) is not None:
            self._time(text, place / "time")
        self.missing += self._kinds(value.get("missing"), place / "missing")
        self.partly += self._kinds(value.get("partly"), place / "partly")
        for number, note in enumerate(_listed(value.get("notes"), place / "notes")):
            text = self._text(note, place / "notes" / number)
            self.notes += [text] if text else []

    def _time(self, text: str, place: Place) -> None:
        moment = time_of(text)
        if moment is None:
            hint = "write it as 2026-11-30T12:00:00Z"
            place.found("bad-text", f"`{shown(text)}` is no time with a time zone", hint)
        self.head["time"] = moment or 0.0

    def _text(self, value: Any, place: Place) -> str | None:
        try:
            return value if value is None or isinstance(value, str) else place.refuse_type(value, "text")
        except RefusedError:
            return None

    def _kinds(self, value: Any, place: Place) -> Iterator[Missing]:
        for number, each in enumerate(_listed(value, place)):
            where = place / number
            if not isinstance(each, dict) or not {"apiVersion", "kind", "why"} <= each.keys():
                where.found("missing-key", f"`{where.name}` says no apiVersion, kind and why", "leave it out")
                continue
            said = str(each["apiVersion"]), str(each["kind"])
            kind = _BY_SAID.get(said)
            if kind is None:
                words = f"`{shown(said[1])}` of `{shown(said[0])}` is no kind that is read from clusters"
                where.found("unknown-word", words, did_you_mean(said[1], {name for _, name in _BY_SAID}))
                continue
            yield Missing(kind, str(each["why"]))

    def _objects(self, value: Any, place: Place, kind: Kind | None) -> None:
        """An object, or the objects of a list."""
        if not isinstance(value, dict):
            place.refuse("no-object", "this is no API object", "an object has apiVersion, kind and metadata")
        said = str(value.get("kind") or "")
        if "items" in value and (said.endswith("List") or "format_version" in value):
            items = _listed(value["items"], place / "items")
            below = _item_kind(value) if kind is None else kind
            for number, item in enumerate(items):
                self._item(item, place / "items" / number, below)
            return
        if said.endswith("List"):
            place.refuse("missing-key", f"the {said} has no `items`", did_you_mean("items", value))
        self._item(value, place, kind)

    def _item(self, value: Any, place: Place, kind: Kind | None) -> None:
        try:
            if isinstance(value, dict) and str(value.get("kind") or "").endswith("List") and "items" in value:
                self._objects(value, place, kind)
                return
            whole = _object(value, place, kind)
            check_shape(whole, place)
            if "time" not in self.head:
                self.taken.look_at(whole)
            self._keep(whole, place)
        except RefusedError:
            return

    def _keep(self, value: Object, place: Place) -> None:
        if value["kind"] == "Secret":
            self.has_secrets = True
            return
        if not is_needed(value) or (value["kind"] == "ConfigMap" and not is_ours(value)):
            return
        key, whole = key_of(value), kept(value)
        known = self.objects.setdefault(key, whole)
        if known is whole:
            self.origins[key] = place.check.document, place.loc
        elif known == whole:
            self.twice += 1
        else:
            document, loc = self.origins[key]
            (place / "metadata" / "name").found(
                "duplicate-object",
                f"there are two of {value['kind']} `{shown(key[3])}`: the other one begins at "
                f"{document.position(loc)}",
                "a cluster cannot have both: leave one out",
            )


def _object(value: Any, place: Place, kind: Kind | None) -> Object:
    """An object that says what it is, with parts that are what they must be."""
    if not isinstance(value, dict):
        place.refuse("no-object", "this is no API object", "an object has apiVersion, kind and metadata")
    said = {"apiVersion": kind.api_version, "kind": kind.name} if kind is not None else {}
    whole = {**said, **{key: each for key, each in value.items() if each is not None or key not in said}}
    for key in ("apiVersion", "kind"):
        if not isinstance(whole.get(key), str) or not whole[key]:
            words = f"this is no API object: `{key}` is missing"
            place.refuse("no-object", words, _meant(key, value) or "write `apiVersion` and `kind`")
    metadata = whole.get("metadata")
    if not isinstance(metadata, dict):
        words = f"the {shown(str(whole['kind']))} has no `metadata`"
        place.refuse("missing-key", words, _meant("metadata", value))
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        words = f"the {shown(str(whole['kind']))} has no name"
        (place / "metadata").refuse("missing-key", words, _meant("name", metadata) or "set `metadata.name`")
    for key in ("name", "namespace"):
        if _NO_PATH.search(str(metadata.get(key) or "")):
            words = f"`{shown(str(metadata[key]))}` is no {key}: no API server takes `/` or `%` in one"
            (place / "metadata" / key).refuse("api-limit", words, "write it as the cluster has it")
    for part, where in _parts(whole, metadata, place):
        if part is not None and not isinstance(part, dict):
            where.refuse_type(part, "a mapping")
    return _without_nulls(whole)


def _parts(
    whole: Mapping[str, Any], metadata: Mapping[str, Any], place: Place
) -> Iterator[tuple[Any, Place]]:
    for name in _MAPPINGS:
        yield whole.get(name), place / name
    for name in _TEXT_MAPPINGS:
        yield metadata.get(name), place / "metadata" / name


def _without_nulls(value: Mapping[str, Any]) -> Object:
    """The object without what Go writes for nothing: ``creationTimestamp: null``, ``status: null``."""
    metadata = {key: each for key, each in value["metadata"].items() if each is not None}
    return {key: each for key, each in value.items() if each is not None} | {"metadata": metadata}


def _meant(key: str, among: Iterable[str]) -> str:
    """That a key stands there a little wrong, if one does."""
    hint = did_you_mean(key, (each for each in among if each not in _TOP))
    return hint.replace("did you mean", "is it written as") if hint.startswith("did you mean") else ""


def _listed(value: Any, place: Place) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list):
        place.refuse_type(value, "a list")
    return value


def _item_kind(value: Mapping[str, Any]) -> Kind | None:
    """What the items of a typed list are, which may leave it out."""
    said, api = str(value.get("kind") or ""), str(value.get("apiVersion") or "")
    name = said.removesuffix("List")
    if not name:
        return None
    known = _BY_SAID.get((api, name))
    return known or Kind(api, name, "")
