"""The edits of one object, done in a window of its document: as long as the object, however long the rest is.

An item of a list is edited with the line that begins it, so that columns are those of the document. Where
text and value do not agree afterwards, nothing has happened.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from allotment.kubernetes.convert.draft import Draft
from allotment.kubernetes.convert.edits import Edit, PutItem, dash_of, line_end, line_start, on_text, on_value
from allotment.kubernetes.convert.tree import (
    ListNode,
    MappingNode,
    Node,
    Path,
    UnreadableError,
    at,
    compose,
    plain,
)


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a document: where it is, and what a path begins with in the document and in the part."""

    start: int
    end: int
    outer: Path = ()
    inner: Path = ()

    def path(self, path: Path) -> Path:
        """A path of the document as one of the part."""
        return (*self.inner, *path[len(self.outer) :])


def window_of(root: Node, path: Path, text: str) -> Window:
    """The window of the object at a path."""
    if not path:
        return Window(0, len(text))
    node = at(root, path)
    if node.flow:
        return Window(node.start, node.end, path)
    return Window(line_start(text, dash_of(node, text)), line_end(text, node.end), path, (0,))


def edited(
    draft: Draft,
    root: Node,
    path: Path,
    edits: Sequence[Edit],
    *,
    template: PutItem | None,
    containers: Path,
) -> Draft:
    """The document with an object edited, and in a list with a template put before it."""
    whole = draft.text
    window = window_of(root, path, whole)
    text = whole[window.start : window.end]
    made = Draft(draft.original, list(draft.lines), dict(draft.gone))
    value = plain(compose(text))
    inside = [replace(each, path=window.path(each.path)) for each in edits]
    if template is not None and window.inner:
        inside.append(replace(template, path=window.path(template.path)))
    for edit in inside:
        part = compose(text)
        if part is None:
            raise UnreadableError("it is empty", 0)
        span = on_text(edit, part, value, text, dash=_indent(part, window.path(containers), text))
        start, end = window.start + span.start, window.start + span.end
        made.replace(start, end, span.text, edit.reason)
        text = text[: span.start] + span.text + text[span.end :]
        value = on_value(copy.deepcopy(edit), value)
    if plain(compose(text)) != value:
        raise UnreadableError("it is written in a way that is not known here", 0)
    if template is not None and not window.inner:
        span = on_text(template, root, None, whole)
        made.replace(span.start, span.end, span.text, template.reason)
    return made


def put_before(path: Path, template: Mapping[str, Any], reason: str) -> PutItem | None:
    """The template as an item before the object; none where the object is a document of its own."""
    return PutItem(path, template, reason) if path else None


def _indent(root: Node, path: Path, text: str) -> int:
    """How far the lists of a document stand to the right of their keys, by the containers."""
    mapping = at(root, path[:-1])
    pair = mapping.pair(str(path[-1])) if isinstance(mapping, MappingNode) else None
    if pair is None or pair.node.flow or not isinstance(pair.node, ListNode):
        return 0
    return max(_column(text, pair.node.start) - _column(text, pair.key.start), 0)


def _column(text: str, offset: int) -> int:
    return offset - line_start(text, offset)
