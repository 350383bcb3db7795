"""Where everything in a file stands: an index that is built when the first place is asked for.

It reads the same events as the fast reader and keeps, instead of values, the offset of each key and value. A
key that is there twice is indexed at its first place, and both places are kept for whoever tells the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from allotment.documents.loader import open_events
from allotment.documents.memory import collection_paused

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
class Sequence:
    """Where a list begins, and its items."""

    offset: int
    items: list[Node]


@dataclass(slots=True)
class Mapping:
    """Where a mapping begins, its values by key, and its keys as they are written."""

    offset: int
    values: dict[str, Node]
    keys: dict[str, Scalar]


Node = Scalar | Sequence | Mapping


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
        node = self.root
        name: Scalar | None = None
        for step in loc:
            below = _child(node, step)
            if node is None or below is None:
                return 0 if node is None else node.offset
            name = node.keys[step] if isinstance(node, Mapping) and isinstance(step, str) else None
            node = below
        if node is None:
            return 0
        return name.offset if name is not None and (key or _is_unwritten(node)) else node.offset

    def scalar(self, loc: Loc) -> Scalar | None:
        """The scalar at ``loc``, if one stands there."""
        node = self.root
        for step in loc:
            node = _child(node, step)
        return node if isinstance(node, Scalar) else None

    def traps(self, offsets: frozenset[int]) -> list[Trap]:
        """The scalars and keys that begin at these offsets, in the order of the file."""
        found = _traps(self.root, offsets, ()) if self.root is not None and offsets else ()
        return sorted(found, key=lambda trap: trap.scalar.offset)


def _child(node: Node | None, step: str | int) -> Node | None:
    """What stands under a key or at an index."""
    if isinstance(node, Mapping) and isinstance(step, str):
        return node.values.get(step)
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def _is_unwritten(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.text and not node.quoted


def _traps(node: Node, offsets: frozenset[int], loc: Loc) -> Iterator[Trap]:
    if isinstance(node, Scalar):
        if node.offset in offsets:
            yield Trap(loc, is_key=False, scalar=node)
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from _traps(item, offsets, (*loc, index))
    else:
        for name, value in node.values.items():
            if node.keys[name].offset in offsets:
                yield Trap((*loc, name), is_key=True, scalar=node.keys[name])
            yield from _traps(value, offsets, (*loc, name))


def build_index(text: str) -> Index:
    """Read a text that the fast reader has read before, for its places."""
    return next(iter_indexes(text), Index(None, []))


def iter_indexes(text: str) -> Iterator[Index]:
    """The places of each document of a text, one after the other."""
    yaml, loader = open_events(text)
    loader.get_event()  # the stream begins
    while type(loader.get_event()) is not yaml.StreamEndEvent:
        index = Index(None, [])
        with collection_paused():
            index.root = _Placer(yaml, loader, index.duplicates).node(loader.get_event())
        yield index
        loader.get_event()  # the document ends


class _Placer:
    """Builds nodes from events."""

    def __init__(self, yaml: Any, loader: Any, duplicates: list[Duplicate]) -> None:
        self.scalar_event = yaml.ScalarEvent
        self.sequence_event = yaml.SequenceStartEvent
        self.sequence_end = yaml.SequenceEndEvent
        self.mapping_event = yaml.MappingStartEvent
        self.mapping_end = yaml.MappingEndEvent
        self.get = loader.get_event
        self.duplicates = duplicates

    def node(self, event: Any) -> Node:
        """The node that begins with this event."""
        kind = type(event)
        if kind is self.scalar_event:
            return Scalar(event.value, bool(event.style), event.start_mark.index)
        if kind is self.sequence_event:
            return self.sequence(event)
        if kind is self.mapping_event:
            return self.mapping(event)
        return Scalar("", quoted=True, offset=event.start_mark.index)

    def sequence(self, start: Any) -> Sequence:
        """The places up to the end of the list."""
        items: list[Node] = []
        while type(event := self.get()) is not self.sequence_end:
            items.append(self.node(event))
        return Sequence(start.start_mark.index, items)

    def mapping(self, start: Any) -> Mapping:
        """The places up to the end of the mapping."""
        values: dict[str, Node] = {}
        keys: dict[str, Scalar] = {}
        while type(event := self.get()) is not self.mapping_end:
            key, value = self.node(event), self.node(self.get())
            if not isinstance(key, Scalar):
                continue
            if key.text in values:
                self.duplicates.append(Duplicate(key.text, keys[key.text].offset, key.offset))
                continue
            keys[key.text] = key
            values[key.text] = value
        return Mapping(start.start_mark.index, values, keys)
