"""The list of volumes: bare references and mappings, ids that occur once, sources that may be read.

A campaign has up to hundreds of thousands of volumes, nearly all of one plain form. The plain forms are
looked at in bulk; what is not plain is read entry by entry, with a finding for each fault. Both ways hand
back the same volumes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.documents.checking import Place, RefusedError
from allotment.documents.memory import collection_paused
from allotment.platform.model import Platform
from allotment.platform.names import RESERVED
from allotment.repository.model import FolderSource, Source, Volume
from allotment.repository.names import VOLUME_ID
from allotment.repository.sources import look_at_folders, look_at_hosts, reference_source
from allotment.repository.volume_entry import EntryReader

PAIR: Final = frozenset({"id", "folder"})
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
        with collection_paused():
            volumes = None if place.check.traps else self._plain(value)
            if volumes is None:
                return self._careful(value, place)
            look_at_folders(volumes, range(len(volumes)), self.root, place)
        return volumes

    def _plain(self, entries: list[Any]) -> tuple[Volume, ...] | None:
        """The volumes, when all of them have one plain form and nothing about them is wrong; else nothing."""
        kinds = set(map(type, entries))
        if kinds == {str} and (source := reference_source(self.platform)) is not None:
            return _volumes(entries, map(source, entries))
        if kinds == {dict} and set(map(len, entries)) == {2} and all(map(PAIR.issuperset, entries)):
            folders = [entry["folder"] for entry in entries]
            if _are_plain_folders(folders):
                return _volumes([entry["id"] for entry in entries], map(FolderSource, folders))
        return None

    def _careful(self, entries: list[Any], place: Place) -> tuple[Volume, ...]:
        """The volumes, entry by entry; raises after the last when any was refused."""
        reader = EntryReader(reference_source(self.platform))
        volumes = [reader.volume(entry, place / index) for index, entry in enumerate(entries)]
        if reader.unsourced and "sources" not in self.platform.unread:
            reader.tell_unsourced(place)
        read = tuple(volume for volume in volumes if volume is not None)
        indexes = [index for index, volume in enumerate(volumes) if volume is not None]
        look_at_hosts(read, indexes, self.platform, place)
        look_at_folders(read, indexes, self.root, place)
        if len(read) < len(entries):
            raise RefusedError
        return read


def _volumes(ids: list[Any], sources: Iterable[Source]) -> tuple[Volume, ...] | None:
    """The volumes, if every id is one and occurs once."""
    if set(map(type, ids)) != {str} or not all(map(VOLUME_ID.fullmatch, ids)):
        return None
    distinct = set(ids)
    if len(distinct) < len(ids) or not RESERVED.isdisjoint(distinct):
        return None
    return tuple(map(Volume._make, zip(ids, sources, strict=True)))


def _are_plain_folders(folders: list[Any]) -> bool:
    """Whether each is the text of a short relative path without dots in front and signs of any kind."""
    if set(map(type, folders)) != {str} or max(map(len, folders)) > LONGEST_PLAIN:
        return False
    return all(map(PLAIN_FOLDER.fullmatch, folders))
