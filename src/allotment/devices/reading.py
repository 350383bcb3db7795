"""A world out of files: what a cluster has published, or what somebody has written down as if it had.

Files hold API objects in YAML or JSON, one or many, of any kinds together, as ``kubectl get -o yaml`` prints
them. Every finding is told at once. An object with an error is left out, for an API server would refuse it
too; what a cluster may well hold and no device can come of (a pool that is being updated, a card published
twice) is a warning, and is kept.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from allotment.devices.api_findings import tell_problems
from allotment.devices.claim_objects import ResourceClaim, ResourceClaimTemplate
from allotment.devices.classes import DeviceClass
from allotment.devices.closed_nodes import NOT_TOLD, closed_notes
from allotment.devices.known_classes import CLASSES
from allotment.devices.nodes import Node
from allotment.devices.pool_findings import PlacedSlice, find_counted_twice, find_in_pools
from allotment.devices.read_objects import (
    read_claim,
    read_class,
    read_node,
    read_taint_rule,
    read_template,
)
from allotment.devices.read_slices import read_slice
from allotment.devices.slices import ResourceSlice
from allotment.devices.taint_rules import DeviceTaintRule
from allotment.devices.validation import ANY_SERVER, Server
from allotment.devices.versions import GROUP, KINDS, NEWEST, refusal
from allotment.devices.world import World
from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.document import Document
from allotment.documents.stream import scan_named, scan_stream_bytes
from allotment.errors import Finding, FindingsError, Severity, did_you_mean, sorted_findings

STANDARD_INPUT: Final = "-"
Read = ResourceSlice | DeviceClass | ResourceClaim | ResourceClaimTemplate | DeviceTaintRule | Node
Reader = Callable[[Any, Place, str], Read]

_READERS: Final[Mapping[str, Reader]] = {
    "ResourceSlice": read_slice,
    "DeviceClass": read_class,
    "ResourceClaim": read_claim,
    "ResourceClaimTemplate": read_template,
    "DeviceTaintRule": read_taint_rule,
    "Node": read_node,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A world as far as it could be read, and everything that was found on the way."""

    world: World
    findings: tuple[Finding, ...]

    def without_errors(self) -> World:
        """The world; raises FindingsError when anything of it had to be left out."""
        if any(finding.severity is Severity.ERROR for finding in self.findings):
            raise FindingsError(self.findings)
        return self.world


def read_files(
    paths: Sequence[Path],
    standard_input: Callable[[], bytes] | None = None,
    *,
    server: Server = ANY_SERVER,
) -> Reading:
    """The world that the files hold together; ``-`` stands for the standard input."""
    documents: list[Document] = []
    findings: list[Finding] = []
    for path in dict.fromkeys(paths):
        if str(path) == STANDARD_INPUT:
            data = standard_input() if standard_input is not None else sys.stdin.buffer.read()
            read, found = scan_stream_bytes(data, name="standard input")
        else:
            read, found = scan_named(path)
        documents += read
        findings += found
    return read_world(documents, findings, server=server)


def read_world(
    documents: Iterable[Document],
    findings: Iterable[Finding] = (),
    *,
    server: Server = ANY_SERVER,
    tolerations: tuple[Mapping[str, Any], ...] = (),
) -> Reading:
    """The world that the documents hold together, held to the rules of a server.

    ``findings`` are what their YAML had already, ``tolerations`` what pods of ours are given beside.
    """
    collector = _Collector(server, tolerations)
    for document in documents:
        collector.read(document)
    collector.look_at_the_whole()
    told = [*findings, *(each for check in collector.checks for each in check.findings)]
    return Reading(collector.world(), sorted_findings(told))


@dataclass(slots=True)
class _Collector:
    """What has been read so far."""

    server: Server
    tolerations: tuple[Mapping[str, Any], ...]
    checks: list[Check] = field(default_factory=list)
    slices: list[PlacedSlice] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)  # slices that were read, and that the API would not take
    unread_pools: set[tuple[str, str]] = field(default_factory=set)
    others: dict[tuple[str, str, str], Read] = field(default_factory=dict)  # by kind, namespace and name
    passed_by: Counter[str] = field(default_factory=Counter)
    first_passed_by: dict[str, Place] = field(default_factory=dict)
    names: dict[str, PlacedSlice] = field(default_factory=dict)

    def read(self, document: Document) -> None:
        """Everything that a document holds."""
        check = Check(document)
        self.checks.append(check)
        if check.traps:
            check.root.traps_below()
        try:
            self._object(document.value, check.root, "", "")
        except RefusedError:
            return

    def _object(self, value: Any, place: Place, kind: str, api: str) -> None:
        """One object, or a list of them; the items of a typed list may leave out what they are."""
        if not isinstance(value, dict):
            place.refuse("no-object", "this is no API object", "an object has apiVersion, kind and metadata")
        kind, api = value.get("kind") or kind, value.get("apiVersion") or api
        if not isinstance(kind, str) or not isinstance(api, str) or not kind:
            place.refuse(
                "no-object",
                "this is no API object: `kind` is missing",
                "write `apiVersion` and `kind`, as `kubectl get resourceslices -o yaml` prints them",
            )
        items = value.get("items")
        if kind == "List" and not isinstance(items or [], list):
            message = "`items` of a list of objects is no list"
            (place / "items").refuse("no-object", message, "write one object below another, each after `- `")
        if kind.endswith("List") and isinstance(items or [], list):
            below = "" if kind == "List" else kind.removesuffix("List")
            for number, item in enumerate(value.get("items") or ()):
                self._item(item, place / "items" / number, below, api if below else "")
            return
        self._single(value, place, kind, api)

    def _item(self, value: Any, place: Place, kind: str, api: str) -> None:
        try:
            self._object(value, place, kind, api)
        except RefusedError:
            return

    def _single(self, value: dict[str, Any], place: Place, kind: str, api: str) -> None:
        reader = _READERS.get(kind)
        group, _, version = api.rpartition("/")
        if reader is None or group != ("" if kind == "Node" else GROUP):
            self._pass_by(place, kind, api)
            return
        if kind in KINDS and (why := refusal(kind, version)) is not None:
            self._forget_pool(value)
            (place / "apiVersion").refuse("unknown-version", *why)
        before = len(place.check.findings)
        try:
            read = reader(value, place, version)
        except RefusedError:
            self._forget_pool(value)
            tell_problems(value, place, kind, version, before=before, server=self.server)
            raise
        tell_problems(value, place, kind, version, before=before, server=self.server)
        errors = any(each.severity is Severity.ERROR for each in place.check.findings[before:])
        if isinstance(read, ResourceSlice):
            self._slice(PlacedSlice(read, place), refused=errors)
        elif not errors:
            self._other(read, place, kind)

    def _pass_by(self, place: Place, kind: str, api: str) -> None:
        if hint := _meant(kind, api):
            place.refuse("unknown-kind", f"`{shown(kind)}` of `{shown(api)}` is not read here", hint)
        self.passed_by[kind] += 1
        self.first_passed_by.setdefault(kind, place)

    def _forget_pool(self, value: dict[str, Any]) -> None:
        """Remember of which pool a slice was that cannot be read: nothing can be said about it."""
        spec = value.get("spec")
        pool = spec.get("pool") if isinstance(spec, dict) else None
        if isinstance(spec, dict) and isinstance(pool, dict):
            self.unread_pools.add((str(spec.get("driver")), str(pool.get("name"))))

    def _slice(self, placed: PlacedSlice, *, refused: bool) -> None:
        name = placed.slice.name
        known = self.names.setdefault(name, placed)
        if known is not placed:
            if known.slice == placed.slice:
                return
            first = known.place.check.document.position(known.place.loc)
            (placed.place / "metadata" / "name").found(
                "duplicate-object",
                f"there are two slices named `{name}`: the other one begins at {first}",
                "a cluster cannot have both: give one another name, or leave one out",
            )
            if _is_copy(placed.slice, known.slice):
                return
            refused = True
        if refused:
            self.refused.add(f"{name} {len(self.slices)}")
        self.slices.append(placed)

    def _other(self, read: Read, place: Place, kind: str) -> None:
        key = (kind, getattr(read, "namespace", ""), read.name)
        known = self.others.setdefault(key, read)
        if known != read:
            (place / "metadata" / "name").found(
                "duplicate-object", f"there are two of {kind} `{read.name}`", "leave one out"
            )

    def look_at_the_whole(self) -> None:
        """What only all objects together tell."""
        find_in_pools(self.slices, self.unread_pools)
        classes = self._of(DeviceClass)
        nodes = {node.name: node for node in self._of(Node)}
        find_counted_twice(self.slices, nodes, (each.extended_resource_name for each in classes))
        for kind, count in self.passed_by.items():
            self.first_passed_by[kind].found(
                "kind-not-read",
                f"{count} of kind {shown(kind)} passed by: devices do not depend on it",
                severity=Severity.NOTE,
            )

    def world(self) -> World:
        """Everything without errors, as one value."""
        slices = tuple(
            placed.slice
            for number, placed in enumerate(self.slices)
            if f"{placed.slice.name} {number}" not in self.refused
        )
        nodes = {node.name: node for node in self._of(Node)}
        names = (each.node_name for each in slices if each.node_name is not None)
        classes = self._of(DeviceClass)
        world = World(
            slices=slices,
            classes={each.name: each for each in classes or CLASSES},
            node=next(names, None) or next(iter(nodes), ""),
            nodes=nodes,
            claims=tuple(self._of(ResourceClaim)),
            templates=tuple(self._of(ResourceClaimTemplate)),
            taint_rules=tuple(self._of(DeviceTaintRule)),
            tolerations=self.tolerations,
        )
        return replace(world, notes=tuple(_notes(world, has_classes=bool(classes))))

    def _of(self, kind: type[Any]) -> list[Any]:
        return [read for read in self.others.values() if isinstance(read, kind)]


NO_CLASSES: Final = "the files hold no device class: those that drivers usually install are taken as they are"


def _notes(world: World, *, has_classes: bool) -> Iterator[str]:
    """What is taken as it is because nothing tells it, and the nodes whose devices nobody gets."""
    if not world.slices:
        return
    if not has_classes:
        yield NO_CLASSES
    if not world.nodes:
        yield NOT_TOLD
    yield from closed_notes(world)


def _is_copy(published: ResourceSlice, known: ResourceSlice) -> bool:
    """Whether a slice is another state of a known one, and no other part of the same pool."""
    names = {device.name for device in known.devices}
    return any(device.name in names for device in published.devices)


def _meant(kind: str, api: str) -> str:
    """What somebody meant who wrote a kind or a group a little wrong."""
    if kind in _READERS:
        return f"write `apiVersion: {'v1' if kind == 'Node' else f'{GROUP}/{NEWEST}'}`"
    if api.startswith(GROUP):
        return did_you_mean(kind, _READERS)
    return ""
