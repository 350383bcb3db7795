"""The fast reader: libyaml's events into plain values, with no place kept for any of them.

Facts: of a long campaign's reading, libyaml's own events are half; PyYAML's constructors would cost ten times
that. So values are built straight from the events, by the core schema of YAML 1.2. What YAML lets a file do
and a description of work never needs is refused here: aliases (a few lines can stand for gigabytes), tags
(they name types to build), more than one document, and nesting without end. A file with such a fault is read
again by the index of positions, which says where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from allotment.documents.scalars import BEGINS, ENDS, MAYBE_NOT_TEXT, is_trap, read_plain
from allotment.errors import WorldError

ANCHOR = "anchor"
TAG = "tag"
ALIAS = "alias"
KEY = "key"
MOST_FAULTS = 100
PROPERTY = re.compile(r"(?:^|[\s\[{,:])[&!]")


@dataclass(slots=True)
class Loaded:
    """What a text holds, and what stood in the way: each fault by kind and offset."""

    value: Any = None
    empty: bool = True
    faults: list[tuple[str, int]] = field(default_factory=list)
    traps: set[int] = field(default_factory=set)
    duplicates: bool = False
    second_document: int | None = None
    too_deep: int | None = None


class _EnoughError(Exception):
    """Raised inside the reader to leave it."""


def load(text: str, depth: int) -> Loaded:
    """Read a text; raises `yaml.YAMLError` where it is no YAML."""
    yaml, loader = open_events(text)
    loaded = Loaded()
    reader = _Reader(yaml, loader, loaded, careful=_may_have_properties(text), depth=depth)
    loader.get_event()  # the stream begins
    event = loader.get_event()
    if type(event) is yaml.StreamEndEvent:
        return loaded
    loaded.empty = False
    try:
        loaded.value = reader.value(loader.get_event(), 0)
    except _EnoughError:
        return loaded
    loader.get_event()  # the document ends
    event = loader.get_event()
    if type(event) is not yaml.StreamEndEvent:
        loaded.second_document = event.start_mark.index
    return loaded


def open_events(text: str) -> tuple[Any, Any]:
    """PyYAML and an event reader over the text, or clear words where PyYAML came without libyaml."""
    import yaml

    if not yaml.__with_libyaml__:
        raise WorldError(
            "PyYAML is installed without libyaml, which reads the files here",
            remedy="install PyYAML from its wheel (pip install --force-reinstall pyyaml), or libyaml first",
        )
    return yaml, yaml.CSafeLoader(text)


def _may_have_properties(text: str) -> bool:
    """Whether a node of the text may have an anchor or a tag; most texts cannot, and are read faster."""
    return ("&" in text or "!" in text) and PROPERTY.search(text) is not None


class _Reader:
    """Builds values from events; one of these lives as long as one text is read."""

    def __init__(self, yaml: Any, loader: Any, loaded: Loaded, *, careful: bool, depth: int) -> None:
        self.get = loader.get_event
        self.scalar_event = yaml.ScalarEvent
        self.sequence_event = yaml.SequenceStartEvent
        self.sequence_end = yaml.SequenceEndEvent
        self.mapping_event = yaml.MappingStartEvent
        self.mapping_end = yaml.MappingEndEvent
        self.loaded = loaded
        self.careful = careful
        self.depth = depth
        self.plain_keys: set[str] = set()

    def value(self, event: Any, depth: int) -> Any:
        """The value that begins with this event."""
        kind = type(event)
        if kind is self.scalar_event:
            return self.scalar(event)
        if self.careful:
            self.look_at(event)
        if kind is self.mapping_event:
            return self.mapping(event, depth + 1)
        if kind is self.sequence_event:
            return self.sequence(event, depth + 1)
        self.fault(ALIAS, event)
        return None

    def scalar(self, event: Any) -> Any:
        """The value of a scalar; one that readers disagree on is noted."""
        if self.careful:
            self.look_at(event)
        text = event.value
        if event.style or not MAYBE_NOT_TEXT.fullmatch(text):
            return text
        if is_trap(text):
            self.loaded.traps.add(event.start_mark.index)
        return read_plain(text)

    def sequence(self, start: Any, depth: int) -> list[Any]:
        """The values up to the end of the sequence."""
        self.go_down(start, depth)
        get, end, scalar_event = self.get, self.sequence_end, self.scalar_event
        careful, begins, ends, maybe = self.careful, BEGINS, ENDS, MAYBE_NOT_TEXT.fullmatch
        result: list[Any] = []
        append = result.append
        while True:
            event = get()
            kind = type(event)
            if kind is scalar_event:
                text = event.value
                if careful or (text[:1] in begins and text[-1:] in ends and not event.style and maybe(text)):
                    append(self.scalar(event))
                else:
                    append(text)
            elif kind is end:
                return result
            else:
                append(self.value(event, depth))

    def mapping(self, start: Any, depth: int) -> dict[str, Any]:
        """The pairs up to the end of the mapping; of a key that is there twice, the first counts."""
        self.go_down(start, depth)
        get, end, scalar_event = self.get, self.mapping_end, self.scalar_event
        begins, ends, maybe = BEGINS, ENDS, MAYBE_NOT_TEXT.fullmatch
        careful, plain_keys = self.careful, self.plain_keys
        result: dict[str, Any] = {}
        while True:
            event = get()
            kind = type(event)
            if kind is end:
                return result
            if kind is scalar_event:
                key = event.value
                if careful or key not in plain_keys:
                    self.look_at_key(event)
                known = key in result
            else:
                self.fault(KEY, event)
                self.value(event, depth)
                key, known = "", True
            event = get()
            if type(event) is not scalar_event:
                value = self.value(event, depth)
            else:
                value = event.value
                if careful or (
                    value[:1] in begins and value[-1:] in ends and not event.style and maybe(value)
                ):
                    value = self.scalar(event)
            if not known:
                result[key] = value
            else:
                self.loaded.duplicates = True

    def go_down(self, start: Any, depth: int) -> None:
        """One level deeper, or the end of reading."""
        if depth > self.depth:
            self.loaded.too_deep = start.start_mark.index
            raise _EnoughError

    def fault(self, kind: str, event: Any) -> None:
        """Note a fault, or end the reading when there are enough of them."""
        self.loaded.faults.append((kind, event.start_mark.index))
        if len(self.loaded.faults) >= MOST_FAULTS:
            raise _EnoughError

    def look_at(self, event: Any) -> None:
        """Note an anchor and a tag, which are refused."""
        if getattr(event, "anchor", None) is not None and type(event).__name__ != "AliasEvent":
            self.fault(ANCHOR, event)
        if getattr(event, "tag", None) is not None:
            self.fault(TAG, event)

    def look_at_key(self, event: Any) -> None:
        """Note a key that some reader takes for something else than text; remember one that all agree on."""
        if self.careful:
            self.look_at(event)
        key = event.value
        if event.style:
            return
        if is_trap(key) or not isinstance(read_plain(key), str):
            self.loaded.traps.add(event.start_mark.index)
        else:
            self.plain_keys.add(key)


def load_all(text: str, depth: int) -> list[Loaded]:
    """Read every document of a text, up to one that is nested too deep; raises `yaml.YAMLError`."""
    yaml, loader = open_events(text)
    careful = _may_have_properties(text)
    found: list[Loaded] = []
    loader.get_event()  # the stream begins
    while type(loader.get_event()) is not yaml.StreamEndEvent:
        loaded = Loaded(empty=False)
        found.append(loaded)
        reader = _Reader(yaml, loader, loaded, careful=careful, depth=depth)
        try:
            loaded.value = reader.value(loader.get_event(), 0)
        except _EnoughError:
            return found
        loader.get_event()  # the document ends
    return found
