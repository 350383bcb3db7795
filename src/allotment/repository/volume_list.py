"""The list of volumes: bare references and mappings, ids that occur once, sources that may be read.

A campaign has up to hundreds of thousands of volumes, nearly all of one plain form. The plain forms are
looked at in bulk; what is not plain is read entry by entry, with a finding for each fault. Both ways hand
back the same volumes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from allotment.documents.checking import Place, RefusedError
from allotment.documents.memory import collection_paused
from allotment.platform.model import REF, Platform
from allotment.repository.in_bulk import in_bulk
from allotment.repository.model import FolderSource, ReferenceSource, Volume
from allotment.repository.names import are_volume_ids
from allotment.repository.sources import (
    look_at_folders,
    look_at_hosts,
    look_at_template,
    reference_source,
)
from allotment.repository.volume_entry import EntryReader

PLAIN_FOLDER: Final = re.compile(r"[\w-][\w.-]*+(?:/[\w-][\w.-]*+)*+")
LONGEST_PLAIN: Final = 60


@dataclass(frozen=True, slots=True)
class VolumeList:
    """Reads the ``volumes`` of a campaign; their folders are looked for in ``root``."""

    platform: Platform
    root: Path

    def read(self, value: object, place: Place) -> tuple[Volume, ...]:
        """The volumes; raises when any of them was refused."""
        if not isinstance(value, list):
            place.refuse_type(value, "a list")
        if not value:
            hint = "name at least one volume"
            place.refuse("empty-list", "a campaign without volumes has nothing to do", hint)
        with collection_paused(), place.check.folding("volumes"):
            plain = None if place.check.traps else self._plain(value)
            if plain is None:
                return self._careful(value, place)
            if plain.folders:
                look_at_folders(plain.folders, range(len(value)), self.root, place)
            else:
                look_at_template(self.platform, place / 0)
            return plain.volumes()

    def _plain(self, entries: list[Any]) -> PlainVolumes | None:
        """The volumes, when all of them have one plain form and nothing about them is wrong; else nothing."""
        kinds = set(map(type, entries))
        plain = None
        if kinds == {str} and (template := self.platform.sources.template) is not None:
            plain = _plain_references(entries, template)
        elif kinds == {dict} and set(map(len, entries)) == {2}:
            plain = _plain_pairs(entries)
        return plain if plain is not None and plain.is_right() else None

    def _careful(self, entries: list[Any], place: Place) -> tuple[Volume, ...]:
        """The volumes, entry by entry; raises after the last when any was refused."""
        reader = EntryReader(reference_source(self.platform))
        volumes = [reader.volume(entry, place / index) for index, entry in enumerate(entries)]
        if reader.unsourced and "sources" not in self.platform.unread:
            reader.tell_unsourced(place)
        read = tuple(volume for volume in volumes if volume is not None)
        indexes = [index for index, volume in enumerate(volumes) if volume is not None]
        look_at_hosts(read, indexes, self.platform, place)
        bare = (
            index
            for index, volume in zip(indexes, read, strict=True)
            if isinstance(volume.source, ReferenceSource)
        )
        if (index := next(bare, None)) is not None:
            look_at_template(self.platform, place / index)
        folders = {
            index: volume.source.folder.removesuffix("/")
            for index, volume in zip(indexes, read, strict=True)
            if isinstance(volume.source, FolderSource)
        }
        look_at_folders(list(folders.values()), list(folders), self.root, place)
        if len(read) < len(entries):
            raise RefusedError
        return read


@dataclass(frozen=True, slots=True)
class PlainVolumes:
    """Volumes of one plain form as columns: ids, and folders or what a template is filled with."""

    ids: list[Any]
    folders: list[Any] | None
    template: str = ""

    def is_right(self) -> bool:
        """Whether every id is one and occurs once, and every folder is a short plain path."""
        if set(map(type, self.ids)) != {str} or not are_volume_ids(self.ids):
            return False
        if self.folders is None:
            return True
        if set(map(type, self.folders)) != {str} or max(map(len, self.folders)) > LONGEST_PLAIN:
            return False
        return all(map(PLAIN_FOLDER.fullmatch, self.folders))

    def volumes(self) -> tuple[Volume, ...]:
        """The volumes as values."""
        if self.folders is not None:
            sources: list[Any] = in_bulk(FolderSource, self.folders)
        else:
            sources = in_bulk(ReferenceSource, self.ids, [self.template] * len(self.ids))
        return tuple(map(partial(tuple.__new__, Volume), zip(self.ids, sources, strict=True)))


def _plain_pairs(entries: list[dict[str, Any]]) -> PlainVolumes | None:
    """The volumes of mappings with two keys, if these are an id and a folder."""
    try:
        return PlainVolumes(list(map(itemgetter("id"), entries)), list(map(itemgetter("folder"), entries)))
    except KeyError:
        return None


def _plain_references(references: list[str], template: str) -> PlainVolumes:
    """The volumes of bare references: folders, or what makes addresses."""
    if "://" in template:
        return PlainVolumes(references, None, template)
    before, _, after = template.partition(REF)
    return PlainVolumes(references, [f"{before}{reference}{after}" for reference in references])
