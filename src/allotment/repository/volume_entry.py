"""One entry of a campaign's list: a bare reference, or an id with exactly one source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from allotment.documents.checking import Place, RefusedError, shown
from allotment.documents.shapes import Key, ListOf, Record, Text
from allotment.platform.addresses import LONGEST, look_address
from allotment.platform.bucket_folders import is_bucket_folder, look_bucket_folder
from allotment.platform.paths import look_folder
from allotment.repository.model import (
    FolderSource,
    ImagesSource,
    ManifestSource,
    PrefixSource,
    Source,
    Volume,
)
from allotment.repository.names import look_volume_id


def _look_pages(text: str, place: Place) -> None:
    """Refuse what is neither a folder of the repository nor one of an object store."""
    look = look_bucket_folder if is_bucket_folder(text) else look_folder
    look(text, place)


def _folder(text: str) -> Source:
    return PrefixSource(text.rstrip("/")) if is_bucket_folder(text) else FolderSource(text)


SOURCES: Final[dict[str, Callable[[Any], Source]]] = {
    "folder": _folder,
    "manifest": ManifestSource,
    "images": ImagesSource,
}
ID: Final = Text(look_volume_id)
ADDRESS: Final = Text(look_address, longest=LONGEST)
ENTRY: Final = Record(
    {
        "id": Key(ID, required="give the volume an id"),
        "folder": Key(Text(_look_pages, longest=1024)),
        "manifest": Key(ADDRESS),
        "images": Key(ListOf(ADDRESS)),
    },
    lambda values, _place: values,
    hints=dict.fromkeys(
        ("pages", "page_count", "estimate"),
        "how many pages a volume has stands in the pipeline, for all alike: `estimate: {pages: 120}`",
    ),
)
EXPECTED: Final = "a reference, or a mapping with an `id` and a source"
NAMED: Final = 3


class EntryReader:
    """Reads entries one by one and remembers their ids, and which of them have no source."""

    def __init__(self, reference: Callable[[str], Source] | None) -> None:
        self.reference = reference
        self.places: dict[str, Place] = {}
        self.unsourced: list[tuple[str, Place]] = []

    def volume(self, entry: object, place: Place) -> Volume | None:
        """The volume, or nothing when it was refused."""
        try:
            return self._pair(entry, place) if isinstance(entry, dict) else self._bare(entry, place)
        except RefusedError:
            return None

    def tell_unsourced(self, place: Place) -> None:
        """One finding for all bare references, where the platform has no template for them."""
        names = ", ".join(f"`{shown(reference)}`" for reference, _ in self.unsourced[:NAMED])
        more = f" and {len(self.unsourced) - NAMED:,} more" if len(self.unsourced) > NAMED else ""
        message = f"{names}{more}: a bare id needs the platform's `sources.template`, and there is none"
        self.unsourced[0][1].found("no-template", message, "write {id: …, folder: …}, or have a template set")

    def _bare(self, entry: object, place: Place) -> Volume:
        if isinstance(entry, list):
            place.refuse_type(entry, EXPECTED)
        if isinstance(entry, str) and "/" in entry and " " not in entry:
            source = "manifest" if "://" in entry else "folder"
            message = f"`{shown(entry)}` cannot be a volume's id"
            place.refuse("bad-name", message, f"write {{id: NAME, {source}: {shown(entry)}}}")
        reference = ID.read(entry, place)
        self._once(reference, place)
        if self.reference is None:
            self.unsourced.append((reference, place))
            raise RefusedError
        return Volume(reference, self.reference(reference))

    def _pair(self, entry: dict[str, Any], place: Place) -> Volume:
        values, complete = ENTRY.read_keys(entry, place)
        if "id" in values:
            self._once(values["id"], place / "id")
        written = [source for source in SOURCES if source in entry]
        if len(written) > 1:
            names = " and ".join(f"`{source}`" for source in written)
            (place / written[1]).refuse("one-of", f"the volume has {names}", "keep one of them", key=True)
        if not written and ENTRY.keys.keys() >= entry.keys():
            place.refuse("one-of", "the volume has no source", "add `folder`, `manifest` or `images`")
        if not complete or not written:
            raise RefusedError
        return Volume(values["id"], SOURCES[written[0]](values[written[0]]))

    def _once(self, name: str, place: Place) -> None:
        """Refuse an id that an earlier entry has."""
        first = self.places.setdefault(name, place)
        if first is not place:
            line = place.check.document.position(first.loc).line
            message = f"the volume `{shown(name)}` is on line {line} already (`{first.name}`)"
            place.refuse("duplicate-volume", message, "keep one of them, or give it another id")
