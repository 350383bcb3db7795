"""Where everything in a file stands: an index that is built when the first place is asked for.

It reads the same events as the fast reader and keeps, instead of values, the offset of each key and value. A
key that is there twice is indexed at its first place, and both places are kept for whoever tells the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from allotment.documents.loader import open_events

Loc = tuple[str | int, ...]


class Scalar(NamedTuple):
    """A scalar as it is written: its text, whether it is quoted (or a block), and where it begins."""

    text: str
    quoted: bool
    offset: int


class Trap(NamedTuple):
    """A scalar that readers of YAML disagree on: where it stands, and whether it is a key."""

    loc: Loc
    is_key: bool
    scalar: Scalar


@dataclass(slots=True)
class Node:
    """A value's place, and what is in it: items of a sequence, or pairs of a mapping with their keys."""

    offset: int
    scalar: Scalar | None = None
    items: list[Node] | None = None
    pairs: dict[str, Node] | None = None
    keys: dict[str, Scalar] = field(default_factory=dict)

    def child(self, step: str | int) -> Node | None:
        """What stands under a key or at an index."""
        if isinstance(step, str):
            return self.pairs.get(step) if self.pairs is not None else None
        if self.items is None or not 0 <= step < len(self.items):
            return None
        return self.items[step]


class Duplicate(NamedTuple):
    """A key that a mapping has twice, and the offset of either."""

    key: str
    first: int
    second: int


@dataclass(slots=True)
class Index:
    """The places of a document."""

    root: Node | None
    duplicates: list[Duplicate]

    def offset(self, loc: Loc, *, key: bool = False) -> int:
        """The offset of the value at ``loc`` (or of its key), or of the nearest thing around it.

        A value that is not written (``volumes:`` and nothing after it) is where its key is.
        """
        node, offset = self.root, 0
        for depth, step in enumerate(loc):
            if node is None:
                return offset
            offset = node.offset
            below = node.child(step)
            if below is None:
                return offset
            name = node.keys.get(step) if isinstance(step, str) else None
            if name is not None and ((key and depth == len(loc) - 1) or _is_unwritten(below)):
                return name.offset
            node = below
        return offset if node is None else node.offset

    def scalar(self, loc: Loc) -> Scalar | None:
        """The scalar at ``loc``, if one stands there."""
        node = self.root
        for step in loc:
            node = node.child(step) if node is not None else None
        return node.scalar if node is not None else None

    def traps(self, offsets: frozenset[int]) -> list[Trap]:
        """The scalars and keys that begin at these offsets, in the order of the file."""
        found = _traps(self.root, offsets, ()) if self.root is not None and offsets else ()
        return sorted(found, key=lambda trap: trap.scalar.offset)


def _is_unwritten(node: Node) -> bool:
    return node.scalar is not None and not node.scalar.text and not node.scalar.quoted


def _traps(node: Node, offsets: frozenset[int], loc: Loc) -> Iterator[Trap]:
    if node.scalar is not None:
        if node.offset in offsets:
            yield Trap(loc, is_key=False, scalar=node.scalar)
        return
    for index, item in enumerate(node.items or ()):
        yield from _traps(item, offsets, (*loc, index))
    for name, value in (node.pairs or {}).items():
        if node.keys[name].offset in offsets:
            yield Trap((*loc, name), is_key=True, scalar=node.keys[name])
        yield from _traps(value, offsets, (*loc, name))


def build_index(text: str) -> Index:
    """Read a text that the fast reader has read before, for its places."""
    yaml, loader = open_events(text)
    index = Index(None, [])
    loader.get_event()  # the stream begins
    if type(loader.get_event()) is not yaml.StreamEndEvent:
        index.root = _Placer(yaml, loader, index.duplicates).node(loader.get_event())
    return index


class _Placer:
    """Builds nodes from events."""

    def __init__(self, yaml: Any, loader: Any, duplicates: list[Duplicate]) -> None:
        self.yaml = yaml
        self.get = loader.get_event
        self.duplicates = duplicates

    def node(self, event: Any) -> Node:
        """The node that begins with this event."""
        kind = type(event)
        if kind is self.yaml.ScalarEvent:
            scalar = _scalar(event)
            return Node(scalar.offset, scalar)
        if kind is self.yaml.SequenceStartEvent:
            return self.sequence(event)
        if kind is self.yaml.MappingStartEvent:
            return self.mapping(event)
        return Node(event.start_mark.index)

    def sequence(self, start: Any) -> Node:
        items: list[Node] = []
        while type(event := self.get()) is not self.yaml.SequenceEndEvent:
            items.append(self.node(event))
        return Node(start.start_mark.index, items=items)

    def mapping(self, start: Any) -> Node:
        pairs: dict[str, Node] = {}
        node = Node(start.start_mark.index, pairs=pairs)
        while type(event := self.get()) is not self.yaml.MappingEndEvent:
            if type(event) is not self.yaml.ScalarEvent:
                self.node(event)
                self.node(self.get())
                continue
            name = _scalar(event)
            value = self.node(self.get())
            if name.text in pairs:
                self.duplicates.append(Duplicate(name.text, node.keys[name.text].offset, name.offset))
                continue
            node.keys[name.text] = name
            pairs[name.text] = value
        return node


def _scalar(event: Any) -> Scalar:
    return Scalar(event.value, bool(event.style), event.start_mark.index)
