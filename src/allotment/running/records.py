"""A page's record: what its source was and what was made of it, written last, so that it means *done*.

Outside ``measured`` a record says nothing that could differ between two runs over the same page: no clock, no
host, no attempt. A refusal is its counterpart for a page that can never be done as its source stands.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.running.objects import FORMAT_VERSION, MALFORMED, damaged, dump, load, mapping, whole

_OUTPUT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class SourceMark:
    """What a page was made of: the file's name with ``#n``, its size, and the digest of the page's bytes.

    For a page from the web the name is its address, ``label`` what the archive calls it, and ``canvas`` the
    address under which the archive shows it.
    """

    name: str
    size: int
    sha256: str = ""
    label: str = ""
    canvas: str = ""

    def to_json(self) -> dict[str, Any]:
        """The mark as part of a record; without the digest, the label and the canvas where there is none."""
        mark: dict[str, Any] = {"name": self.name, "size": self.size}
        more = {"sha256": self.sha256, "label": self.label, "canvas": self.canvas}
        return mark | {key: value for key, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class OutputMark:
    """What an output is: its size and its digest."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One page that is done; ``outputs`` by ``<label>.<name>``."""

    page: str
    source: SourceMark
    outputs: Mapping[str, OutputMark]
    measured: Mapping[str, Any] = field(default_factory=dict)

    def contents(self) -> dict[str, Any]:
        """The record outside ``measured``, as it stands in the manifest too."""
        outputs = {name: {"size": mark.size, "sha256": mark.sha256} for name, mark in self.outputs.items()}
        return {"page": self.page, "source": self.source.to_json(), "outputs": outputs}

    def to_bytes(self) -> bytes:
        """The record as an object of the bucket."""
        return dump({"format_version": FORMAT_VERSION, **self.contents(), "measured": self.measured})


@dataclass(frozen=True, slots=True)
class Refusal:
    """One page that cannot be done as its source stands; ``number`` grows when the source was changed."""

    page: str
    source: SourceMark
    reason: str
    number: int = 1
    measured: Mapping[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The refusal as an object of the bucket."""
        return dump(
            {
                "format_version": FORMAT_VERSION,
                "page": self.page,
                "source": self.source.to_json(),
                "refused": self.reason,
                "measured": self.measured,
            }
        )


def read_record(data: bytes, key: str) -> PageRecord:
    """The record at a key."""
    value = load(data, key)
    try:
        outputs = {
            _output(name): OutputMark(whole(mark["size"]), str(mark["sha256"]))
            for name, mark in value["outputs"].items()
        }
        page = _page(value["page"], key)
        return PageRecord(page, _source(value["source"]), outputs, mapping(value.get("measured")))
    except MALFORMED as error:
        raise damaged(key) from error


def read_refusal(data: bytes, key: str, number: int) -> Refusal:
    """The refusal at a key."""
    value = load(data, key)
    try:
        page = _page(value["page"], key)
        return Refusal(page, _source(value["source"]), str(value["refused"]), number)
    except MALFORMED as error:
        raise damaged(key) from error


def mark_of(data: bytes) -> OutputMark:
    """What an output is."""
    return OutputMark(len(data), hashlib.sha256(data).hexdigest())


def _source(value: Mapping[str, Any]) -> SourceMark:
    digest, label, canvas = (str(value.get(key, "")) for key in ("sha256", "label", "canvas"))
    return SourceMark(str(value["name"]), whole(value["size"]), digest, label, canvas)


def _page(name: object, key: str) -> str:
    """The page that an object names, which has to be the one whose key it has."""
    page = key.rpartition("/")[2].partition(".")[0]
    if name != page:
        raise ValueError(f"it is of page {name!r:.50}")
    return page


def _output(name: str) -> str:
    if not _OUTPUT.fullmatch(name):
        raise ValueError(f"{name!r:.50} is no name of an output")
    return name
