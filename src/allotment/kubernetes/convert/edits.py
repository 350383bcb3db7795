"""Edits of a document, each said once and done twice: to its value, and to its text.

That both agree afterwards is how a caller knows that nothing else has changed. In a block an edit takes or
gives whole lines; in braces and brackets (JSON too) it takes the comma with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from allotment.kubernetes.convert.tree import ListNode, MappingNode, Node, Path, UnreadableError, at

_PLAIN: Final = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_NOT_PLAIN: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


class Span(NamedTuple):
    """What to put where in a text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Take out what stands at a path; a mapping or list that would be left empty goes with it."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Put:
    """Put a pair into the mapping at a path, before a key of it (or after one)."""

    path: Path
    key: str
    value: Any
    beside: str
    reason: str
    after: bool = False


@dataclass(frozen=True, slots=True)
class Append:
    """Put an item at the end of a list."""

    path: Path
    value: Any
    reason: str


@dataclass(frozen=True, slots=True)
class PutItem:
    """Put an item before the item at a path."""

    path: Path
    value: Any
    reason: str


Edit = Delete | Put | Append | PutItem


def on_value(edit: Edit, root: Any) -> Any:
    """The edit done to a value, in place."""
    match edit:
        case Delete(path=path):
            path = _whole(root, path)
            del _value_at(root, path[:-1])[path[-1]]
        case Put(path=path):
            mapping = _value_at(root, path)
            mapping[edit.key] = edit.value
        case Append(path=path):
            _value_at(root, path).append(edit.value)
        case PutItem(path=path):
            _value_at(root, path[:-1]).insert(path[-1], edit.value)
    return root


def _value_at(root: Any, path: Path) -> Any:
    for step in path:
        root = root[step]
    return root


def _whole(root: Any, path: Path) -> Path:
    """The path of what has to go so that nothing empty is left."""
    while len(path) > 1 and len(_value_at(root, path[:-1])) == 1:
        path = path[:-1]
    return path


def on_text(edit: Edit, root: Node, value: Any, text: str, *, dash: int = 0) -> Span:
    """What the edit does to the text; ``dash`` is how far lists stand to the right of their keys."""
    match edit:
        case Delete(path=path):
            path = _whole(value, path)
            parent = at(root, path[:-1])
            if isinstance(parent, MappingNode):
                return _without_pair(parent, str(path[-1]), text)
            return _without_item(parent, int(path[-1]), text)
        case Put(path=path):
            return _with_pair(at(root, path), edit, text, dash)
        case Append(path=path):
            return _with_item(at(root, path), edit.value, text, dash)
        case PutItem(path=path):
            return _before_item(at(root, path[:-1]), int(path[-1]), edit.value, text, dash)


def _without_pair(parent: MappingNode, key: str, text: str) -> Span:
    pairs = parent.pairs or []
    place = next(number for number, pair in enumerate(pairs) if pair.key.value == key)
    pair = pairs[place]
    if parent.flow:
        return _without_part([(each.key.start, each.node.end) for each in pairs], place)
    begins = line_start(text, pair.key.start)
    if not text[begins : pair.key.start].strip():
        return Span(begins, line_end(text, pair.node.end), "")
    if place + 1 == len(pairs):
        raise UnreadableError(f"`{key}` cannot be taken out of its line", pair.key.start)
    return Span(pair.key.start, pairs[place + 1].key.start, "")


def _without_item(parent: Node, index: int, text: str) -> Span:
    items = (parent.items or []) if isinstance(parent, ListNode) else []
    if parent.flow:
        return _without_part([(each.start, each.end) for each in items], index)
    begins = line_start(text, dash_of(items[index], text))
    return Span(begins, line_end(text, items[index].end), "")


def _without_part(parts: Sequence[tuple[int, int]], place: int) -> Span:
    """One of several parts between commas."""
    start, end = parts[place]
    if place + 1 < len(parts):
        return Span(start, parts[place + 1][0], "")
    return Span(parts[place - 1][1] if place else start, end, "")


def _with_pair(parent: Node, edit: Put, text: str, dash: int) -> Span:
    pair = parent.pair(edit.beside) if isinstance(parent, MappingNode) else None
    if pair is None:
        raise UnreadableError(f"`{edit.beside}` is not there", parent.start)
    begins = line_start(text, pair.key.start)
    is_first_of_line = not text[begins : pair.key.start].strip()
    if parent.flow:
        written = f"{_flow(edit.key, text)}: {_flow(edit.value, text)}"
        between = f",{_newline(text)}{text[begins : pair.key.start]}" if is_first_of_line else ", "
        if edit.after:
            return Span(pair.node.end, pair.node.end, between + written)
        return Span(pair.key.start, pair.key.start, written + between)
    lines = _block({edit.key: edit.value}, pair.key.start - begins, dash)
    if edit.after or not is_first_of_line:
        return _lines_after(text, pair.node.end, lines)
    return Span(begins, begins, "".join(line + _newline(text) for line in lines))


def _with_item(parent: Node, value: Any, text: str, dash: int) -> Span:
    items = (parent.items or []) if isinstance(parent, ListNode) else []
    if parent.flow:
        if not items:
            return Span(parent.start + 1, parent.start + 1, _flow(value, text))
        begins = line_start(text, items[-1].start)
        indent = text[begins : items[-1].start]
        between = ", " if indent.strip() else f",{_newline(text)}{indent}"
        return Span(items[-1].end, items[-1].end, between + _flow(value, text))
    dashed = dash_of(items[-1], text)
    lines = _block([value], dashed - line_start(text, dashed), dash)
    return _lines_after(text, items[-1].end, lines)


def _before_item(parent: Node, index: int, value: Any, text: str, dash: int) -> Span:
    item = ((parent.items or []) if isinstance(parent, ListNode) else [])[index]
    if parent.flow:
        begins = line_start(text, item.start)
        indent = text[begins : item.start]
        between = ", " if indent.strip() else f",{_newline(text)}{indent}"
        return Span(item.start, item.start, _flow(value, text) + between)
    dashed = dash_of(item, text)
    begins = line_start(text, dashed)
    lines = _block([value], dashed - begins, dash)
    return Span(begins, begins, "".join(line + _newline(text) for line in lines))


def _lines_after(text: str, end: int, lines: list[str]) -> Span:
    place = line_end(text, end)
    newline = _newline(text)
    first = "" if text[:place].endswith("\n") or not place else newline
    return Span(place, place, first + "".join(line + newline for line in lines))


def dash_of(item: Node, text: str) -> int:
    """Where the sign of an item of a block list stands, alone before it on its line."""
    place = text.rfind("-", 0, item.start)
    begins = line_start(text, max(place, 0))
    if place < 0 or text[place + 1 : item.start].strip() or text[begins:place].strip():
        raise UnreadableError("a list is written in a way that cannot be edited", item.start)
    return place


def line_start(text: str, offset: int) -> int:
    """Where the line of an offset begins."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """The end of the line of the last character before ``offset`` that is something."""
    while offset and text[offset - 1] in " \t\r\n":
        offset -= 1
    found = text.find("\n", offset)
    return len(text) if found < 0 else found + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _flow(value: Any, text: str) -> str:
    """A value on one line: as JSON where the document is JSON, which YAML reads too."""
    if text.lstrip("- \r\n").startswith("{"):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(each, text)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each, text) for each in value) + "]"
    return _scalar(value)


def _block(value: Any, indent: int, dash: int) -> list[str]:
    """A mapping or a list as lines."""
    space = " " * indent
    if isinstance(value, Mapping):
        lines = []
        for key, each in value.items():
            if isinstance(each, Mapping) and each:
                lines += [f"{space}{_scalar(key)}:", *_block(each, indent + 2, dash)]
            elif isinstance(each, list) and each:
                lines += [f"{space}{_scalar(key)}:", *_block(each, indent + dash, dash)]
            else:
                lines.append(f"{space}{_scalar(key)}: {_scalar(each)}")
        return lines
    lines = []
    for each in value:
        if isinstance(each, Mapping | list):
            inner = _block(each, indent + 2, dash)
            lines += [f"{space}- {inner[0].lstrip()}", *inner[1:]]
        else:
            lines.append(f"{space}- {_scalar(each)}")
    return lines


def _scalar(value: Any) -> str:
    """A scalar; a text that some reader could take for something else is quoted."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
            return value
        if value.isprintable() and "'" not in value:
            return f"'{value}'"
        if value.isprintable() and '"' not in value and "\\" not in value:
            return f'"{value}"'
    return json.dumps(value, ensure_ascii=False)


def as_document(value: Mapping[str, Any], *, as_json: bool, newline: str = "\n") -> str:
    """An object of our own as a text that ends with a line end."""
    if as_json:
        return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", newline) + newline
    return "".join(line + newline for line in _block(value, 0, 2))
