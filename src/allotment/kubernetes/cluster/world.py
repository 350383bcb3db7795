"""A snapshot as a world of devices: slices, classes, nodes, claims and taint rules.

The objects go through the same reader as files of slices do, so that what is wrong with one is said in the
same words, at its line where the snapshot came from a file, and under its name where it came from a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.devices.reading import Reading, read_world
from allotment.devices.server import Server
from allotment.documents import Document
from allotment.documents.positions import Loc, Scalar, Trap
from allotment.documents.source import Source
from allotment.errors import Position
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.kai_quota import cards_in
from allotment.kubernetes.cluster.reading import NOT_SERVED
from allotment.kubernetes.cluster.snapshot import Snapshot, key_of
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE, surer
from allotment.kubernetes.kinds import Kind, Object

_OF_DEVICES: Final = (
    kinds.SLICE, kinds.DEVICE_CLASS, kinds.CLAIM, kinds.CLAIM_TEMPLATE, kinds.TAINT_RULE, kinds.NODE
)  # fmt: skip
_READ: Final = frozenset((kind.group, kind.name) for kind in _OF_DEVICES)


@dataclass(slots=True, eq=False)
class _OneObject(Document):
    """An object of a snapshot, as the document that a reader of objects wants."""

    whole: Document | None = None
    loc: Loc = ()

    def position(self, loc: Loc, *, key: bool = False) -> Position:
        """In the snapshot's file, or at the object."""
        if self.whole is None:
            return Position(self.source.name)
        return self.whole.position((*self.loc, *loc), key=key)

    def scalar(self, loc: Loc) -> Scalar | None:
        """As it is written in the file."""
        return None if self.whole is None else self.whole.scalar((*self.loc, *loc))

    def traps(self) -> list[Trap]:
        """None: what came from a cluster was JSON."""
        return []


def world_of(snapshot: Snapshot) -> Reading:
    """The world of devices in a snapshot, and what was found wrong with its objects."""
    reading = read_world(_documents(snapshot), tolerations=_tolerations(snapshot))
    notes = [
        _words(kind, why) for kind in _OF_DEVICES if (why := snapshot.lacks(kind)) and _matters(kind, why)
    ]
    notes += _unseen_claims(snapshot)
    if not reading.world.slices:
        notes += _counted(snapshot)
    world = replace(reading.world, notes=(*reading.world.notes, *notes))
    if snapshot.version:
        world = replace(world, server=Server.of(snapshot.version))
    return replace(reading, world=world)


def _tolerations(snapshot: Snapshot) -> tuple[Mapping[str, Any], ...]:
    """What flavors of Kueue's put into the pods that it lets in."""
    listed = ((each.get("spec") or {}).get("tolerations") or () for each in snapshot.of(kinds.FLAVOR))
    return tuple(each for tolerations in listed for each in tolerations)


def _counted(snapshot: Snapshot) -> Iterator[str]:
    """What the nodes count of cards, where no driver describes any."""
    counts: Counter[str] = Counter()
    for node in snapshot.of(kinds.NODE):
        for name, amount in ((node.get("status") or {}).get("allocatable") or {}).items():
            if "/" in name and cards_in(name) and str(amount).isdigit():
                counts[name] += int(amount)
    for name, count in sorted(counts.items()):
        if count:
            words = f"the nodes count {count:,} of {name} by a device plugin"
            yield f"{words}; only a DRA driver says what they are"


def _matters(kind: Kind, why: str) -> bool:
    """Whether it is to be told: templates hold nothing, and rules for taints that are not served are none.

    What a file was not asked for is told where it is read as a world of devices.
    """
    if why == NOT_IN_FILE:
        return False
    if kind == kinds.TAINT_RULE:
        return not why.startswith(NOT_SERVED)
    return kind not in {kinds.CLAIM, kinds.CLAIM_TEMPLATE}


def _unseen_claims(snapshot: Snapshot) -> Iterator[str]:
    """That devices may be held by claims which could not be seen."""
    for each in (*snapshot.missing, *snapshot.partly):
        if each.kind != kinds.CLAIM or each.why.startswith(NOT_SERVED):
            continue
        if each.why == NOT_IN_FILE:
            yield f"no claims are in the file, so that all devices are taken for free: {surer(kinds.CLAIM)}"
        else:
            yield f"claims are {each.why}: devices that those hold are taken for free"


def _words(kind: Kind, why: str) -> str:
    return f"{kind.shown} could not be read: {why}"


def _documents(snapshot: Snapshot) -> Iterator[Document]:
    for each in snapshot.objects:
        if (_group(each), each["kind"]) not in _READ:
            continue
        key = key_of(each)
        document, loc = snapshot.origins.get(key, (None, ()))
        name = f"{snapshot.name}: {key[0]} {'/'.join(part for part in key[2:] if part)}"
        yield _OneObject(Source(name, ""), each, whole=document, loc=loc)


def _group(value: Object) -> Any:
    group, slash, _ = str(value["apiVersion"]).rpartition("/")
    return group if slash else ""
