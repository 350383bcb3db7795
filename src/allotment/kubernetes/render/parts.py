"""A campaign in parts: each is a Job with a ConfigMap, and both have limits.

A ConfigMap holds 1 MiB, of which a part leaves a margin, and a part has at most 10,000 volumes, so that a
Job's list of finished indexes stays small. A used part never changes: volumes that were appended become
further parts, so the numbers of volumes that are already out are given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.errors import AllotmentError
from allotment.repository.model import Campaign, Volume
from allotment.repository.sources import source_data

MOST_VOLUMES: Final = 10_000
MOST_BYTES: Final = 900 * 1024
_AROUND: Final = len('{"indexes": [\n\n]}\n')


@dataclass(frozen=True, slots=True)
class Part:
    """A part: its number from 1, its indexes, how many volumes they have, and the ``volumes.json``."""

    number: int
    indexes: int
    volumes: int
    text: str


def parts_of(campaign: Campaign, used: Sequence[int] = ()) -> Iterator[Part]:
    """The parts of a campaign; ``used`` are the numbers of volumes of those that are already out."""
    volumes = campaign.volumes
    number = 0
    for count in used:
        number += 1
        lines = [_line(campaign, pack) for pack in _packs(volumes[:count], campaign.pack)]
        yield _part(number, lines, count)
        volumes = volumes[count:]
    lines, size, taken = [], _AROUND, 0
    for pack in _packs(volumes, campaign.pack):
        line = _line(campaign, pack)
        length = len(line.encode()) + 2
        if lines and (size + length > MOST_BYTES or taken + len(pack) > MOST_VOLUMES):
            number += 1
            yield _part(number, lines, taken)
            lines, size, taken = [], _AROUND, 0
        lines.append(line)
        size += length
        taken += len(pack)
    if lines:
        yield _part(number + 1, lines, taken)


def _packs(volumes: Sequence[Volume], pack: int) -> Iterator[Sequence[Volume]]:
    return (volumes[start : start + pack] for start in range(0, len(volumes), pack))


def _line(campaign: Campaign, pack: Sequence[Volume]) -> str:
    value = [{"id": volume.id, "source": source_data(volume.source)} for volume in pack]
    text = json.dumps(value, ensure_ascii=False)
    if len(text.encode()) + _AROUND > MOST_BYTES:
        names = pack[0].id if len(pack) == 1 else f"{pack[0].id} to {pack[-1].id}"
        raise AllotmentError(
            f"the pages of {names} take more than {MOST_BYTES // 1024} KiB, which no ConfigMap holds",
            where=str(campaign.path),
            remedy="name a manifest or a folder of an object store instead, or pack fewer volumes",
        )
    return text


def _part(number: int, lines: Sequence[str], volumes: int) -> Part:
    return Part(number, len(lines), volumes, '{"indexes": [\n' + ",\n".join(lines) + "\n]}\n")
