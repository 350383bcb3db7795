"""Conversion of a stream: each document alone, each object in it, from the last to the first.

The edits are done to the text and to the value. Where both do not agree afterwards (a text that is written in
a way that the edits do not know), the document is left as it was, aloud: nothing but what was meant changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.devices.classes import DeviceClass
from allotment.errors import Finding, FindingsError, Position
from allotment.kubernetes.convert.around import of_other_kind
from allotment.kubernetes.convert.draft import Change, Draft, split_lines
from allotment.kubernetes.convert.editing import edited, put_before
from allotment.kubernetes.convert.edits import as_document
from allotment.kubernetes.convert.outcome import Converted, Outcome, Verdict
from allotment.kubernetes.convert.plans import Asked, Plan, plan_for
from allotment.kubernetes.convert.pods import counts_somewhere, mapping_of, objects_of, pod_place
from allotment.kubernetes.convert.stream import Piece, pieces
from allotment.kubernetes.convert.tree import (
    Node,
    Path,
    UnreadableError,
    at,
    compose,
    plain,
)

RULE: Final = "yaml-syntax"
_RENDER_FIRST: Final = "it looks like a template: render it first (helm template, kustomize build)"
_MAY_COUNT: Final = re.compile(r"nvidia\.com/|amd\.com/|gpu", re.IGNORECASE)
TEMPLATE_KIND: Final = "ResourceClaimTemplate"


@dataclass(slots=True)
class _Document:
    """A document under conversion."""

    piece: Piece
    name: str
    root: Node | None
    value: Any
    unread: str = ""
    before: list[Change] = field(default_factory=list)
    draft: Draft = field(init=False)

    def __post_init__(self) -> None:
        self.draft = Draft.of(self.piece.text)

    def position(self, path: Path) -> Position:
        """Where an object begins in the file."""
        node = at(self.root, path) if self.root is not None else None
        offset = 0 if node is None else node.start
        line = self.piece.text.count("\n", 0, offset)
        return Position(
            self.name, self.piece.line + line + 1, offset - self.piece.text.rfind("\n", 0, offset)
        )


def convert(text: str, name: str, asked: Asked) -> Converted:
    """The stream with claims for counts; FindingsError where it is no YAML."""
    documents = [_read(piece, name) for piece in pieces(text)]
    taken = {
        (
            str(mapping_of(value.get("metadata")).get("namespace") or ""),
            str(mapping_of(value.get("metadata")).get("name")),
        )
        for document in documents
        for _, value in objects_of(document.value)
        if value.get("kind") == TEMPLATE_KIND
    }
    outcomes: list[Outcome] = []
    classes: dict[str, DeviceClass] = {}
    for document in documents:
        outcomes += _converted(document, asked, taken, classes)
    changes = tuple(change for each in documents for change in (*each.before, *each.draft.changes()))
    made = "".join(change.text for change in changes if change.sign != "-")
    return Converted(name, made, changes, tuple(outcomes), tuple(classes[key] for key in sorted(classes)))


def _read(piece: Piece, name: str) -> _Document:
    hint = _RENDER_FIRST if "{{" in piece.text else ""
    try:
        root = compose(piece.text)
    except UnreadableError as error:
        if error.is_yaml:
            unread = f"{error.why}; {hint}" if hint else error.why
            return _Document(piece, name, None, None, unread=unread)
        line = piece.text.count("\n", 0, error.offset)
        column = error.offset - piece.text.rfind("\n", 0, error.offset)
        where = Position(name, piece.line + line + 1, column)
        raise FindingsError([Finding(where, RULE, error.why, hint)]) from None
    return _Document(piece, name, root, plain(root))


def _converted(
    document: _Document, asked: Asked, taken: set[tuple[str, str]], classes: dict[str, DeviceClass]
) -> list[Outcome]:
    """What becomes of the objects of a document, in their order."""
    if document.root is None:
        return _unread(document)
    outcomes = []
    for path, value in reversed(list(objects_of(document.value))):
        place = pod_place(path, value)
        where = document.position(path)
        if place is None:
            resource = counts_somewhere(value)
            if resource is not None:
                kind = str(value.get("kind") or "an object without a kind")
                said = of_other_kind(kind, resource)
                outcomes.append(Outcome(where, kind, _name(value), Verdict.KEPT, kept=(said,)))
            continue
        plan = plan_for(place, asked, taken)
        if plan is None:
            continue
        outcome = Outcome(where, place.kind, place.name, plan.verdict, plan.kept, plan.notes)
        if plan.edits:
            try:
                _edit(document, plan, path)
            except UnreadableError as error:
                why = f"its text cannot be edited without changing more than the counts: {error.why}"
                outcome = Outcome(where, place.kind, place.name, Verdict.KEPT, kept=(why,))
            else:
                taken.add(plan.template_key)
        classes.update({each.name: each for each in plan.classes})
        outcomes.append(outcome)
    return outcomes[::-1]


def _unread(document: _Document) -> list[Outcome]:
    """A document that cannot be edited; it matters where it may count something."""
    if not document.unread or not _MAY_COUNT.search(document.piece.text):
        return []
    where = Position(document.name, document.piece.line + 1)
    return [Outcome(where, "document", "", Verdict.KEPT, kept=(f"it may count GPUs: {document.unread}",))]


def _edit(document: _Document, plan: Plan, path: Path) -> None:
    """The edits of a plan, and its template before the object; all of it or, with an error, nothing."""
    if document.root is None or plan.template is None:
        return
    if not path and document.piece.has_directives:
        raise UnreadableError("a YAML directive stands before it", 0)
    put = put_before(path, plan.template, plan.template_reason)
    document.draft = edited(
        document.draft, document.root, path, plan.edits, template=put, containers=plan.containers
    )
    if not path:
        document.before = list(_template_lines(document.piece, plan.template, plan.template_reason))


def _template_lines(piece: Piece, template: Mapping[str, Any], reason: str) -> Iterator[Change]:
    is_json = piece.text.lstrip("-").lstrip().startswith("{")
    newline = "\r\n" if "\r\n" in piece.text else "\n"
    text = as_document(template, as_json=is_json, newline=newline)
    marked = f"---{newline}{text}" if piece.is_marked or is_json else text
    for line in split_lines(marked if piece.is_marked else f"{marked}---{newline}"):
        yield Change("+", line, (reason,))


def _name(value: Mapping[str, Any]) -> str:
    return str(mapping_of(value.get("metadata")).get("name") or "")
