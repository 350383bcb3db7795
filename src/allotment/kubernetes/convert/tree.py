"""A YAML document as nodes that know where they begin and end, so that a place can be edited and no other.

What a node of a block ends with is its last line and not the comments after it. Aliases are refused: an edit
at one place would change others. Facts: libyaml's events and their marks, which count code points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from allotment.documents.loader import open_events
from allotment.documents.scalars import MAYBE_NOT_TEXT, read_plain

MOST_DEPTH: Final = 64
Path = tuple[str | int, ...]


class UnreadableError(Exception):
    """A text that cannot be edited: why, at which offset, and whether it is YAML all the same."""

    def __init__(self, why: str, offset: int, *, is_yaml: bool = True) -> None:
        super().__init__(why)
        self.why = why
        self.offset = offset
        self.is_yaml = is_yaml


@dataclass(slots=True)
class Node:
    """A node; the value of a scalar is what a reader of YAML 1.2 takes it for."""

    start: int
    end: int
    flow: bool = True
    value: Any = None


@dataclass(slots=True)
class Pair:
    """A key and what stands under it."""

    key: Node
    node: Node


@dataclass(slots=True)
class MappingNode(Node):
    """A mapping, its pairs in the order of the text."""

    pairs: list[Pair] | None = None

    def pair(self, key: str) -> Pair | None:
        """The pair of this key."""
        return next((pair for pair in self.pairs or () if pair.key.value == key), None)


@dataclass(slots=True)
class ListNode(Node):
    """A list."""

    items: list[Node] | None = None


def compose(text: str) -> Node | None:
    """The document of this text; None where it holds nothing, UnreadableError where it cannot be edited."""
    yaml, loader = open_events(text)
    try:
        loader.get_event()
        if type(loader.get_event()) is yaml.StreamEndEvent:
            return None
        return _Composer(yaml, loader.get_event).node(loader.get_event(), 0)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = str(getattr(error, "problem", None) or "it is no YAML")
        raise UnreadableError(why, mark.index if mark is not None else 0, is_yaml=False) from None


def plain(node: Node | None) -> Any:
    """The node's value."""
    if isinstance(node, MappingNode):
        return {pair.key.value: plain(pair.node) for pair in node.pairs or ()}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items or ()]
    return None if node is None else node.value


def at(node: Node, path: Path) -> Node:
    """The node at a path that is there."""
    for step in path:
        if isinstance(node, MappingNode) and isinstance(step, str):
            pair = node.pair(step)
            if pair is None:
                raise UnreadableError(f"`{step}` is not there", node.start)
            node = pair.node
        elif isinstance(node, ListNode) and isinstance(step, int):
            node = (node.items or [])[step]
        else:
            raise UnreadableError(f"`{step}` is not there", node.start)
    return node


class _Composer:
    def __init__(self, yaml: Any, get: Any) -> None:
        self._yaml = yaml
        self._get = get

    def node(self, event: Any, depth: int) -> Node:
        kind, start = type(event), event.start_mark.index
        if kind is self._yaml.AliasEvent or getattr(event, "anchor", None) is not None:
            raise UnreadableError("it uses YAML anchors, and an edit at one place would change others", start)
        if depth > MOST_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MOST_DEPTH} levels", start)
        if kind is self._yaml.ScalarEvent:
            return self._scalar(event)
        if kind is self._yaml.SequenceStartEvent:
            return self._list(event, depth)
        return self._mapping(event, depth)

    def _scalar(self, event: Any) -> Node:
        text = event.value
        is_plain = not event.style and event.implicit[0] and MAYBE_NOT_TEXT.fullmatch(text)
        value = read_plain(text) if is_plain else text
        is_block = event.style in {"|", ">"}
        return Node(event.start_mark.index, event.end_mark.index, flow=not is_block, value=value)

    def _list(self, start: Any, depth: int) -> Node:
        items: list[Node] = []
        while type(event := self._get()) is not self._yaml.SequenceEndEvent:
            items.append(self.node(event, depth + 1))
        end = event.end_mark.index if start.flow_style or not items else items[-1].end
        return ListNode(start.start_mark.index, end, bool(start.flow_style), items=items)

    def _mapping(self, start: Any, depth: int) -> Node:
        pairs: list[Pair] = []
        seen: set[Any] = set()
        while type(event := self._get()) is not self._yaml.MappingEndEvent:
            key = self.node(event, depth + 1)
            if isinstance(key, MappingNode | ListNode) or key.value in seen:
                raise UnreadableError("it has a key twice, or one that is no text", key.start)
            seen.add(key.value)
            node = self.node(self._get(), depth + 1)
            if node.end == node.start and not isinstance(node, MappingNode | ListNode):
                node.start = node.end = key.end  # nothing is written: the pair ends with its key
            pairs.append(Pair(key, node))
        end = event.end_mark.index if start.flow_style or not pairs else pairs[-1].node.end
        return MappingNode(start.start_mark.index, end, bool(start.flow_style), pairs=pairs)
