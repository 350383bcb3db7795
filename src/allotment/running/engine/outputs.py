"""What lies in the bucket of a campaign's pages, by as few requests as it takes.

A list of everything of a recipe is a request for a thousand objects, and one of each volume is at least a
request a volume: of ten thousand small volumes the first takes some dozens. Where most of what has begun is
wanted it is therefore listed at once, else volume by volume. Which outputs a page has is the same for all
volumes of a recipe, so one volume that has any tells for all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys, VolumeKeys
from allotment.errors import AllotmentError
from allotment.running.endings import PermanentFailureError
from allotment.running.objects import load

FEW: Final = 3
MOST_LOOKED_AT: Final = 3
RECORD: Final = "json"
REFUSED: Final = re.compile(r"refused(-\d+)?\.json$")


def page_objects(
    bucket: Bucket, keys: RecipeKeys, volumes: Sequence[str], begun: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each of the volumes with the keys of its pages' objects, sorted; ``begun`` is how many there are."""
    if len(volumes) <= FEW or len(volumes) * 2 < begun:
        for volume in volumes:
            yield volume, _listed(bucket, keys, volume)
        return
    found: dict[str, list[str]] = {volume: [] for volume in volumes}
    for entry in bucket.list(keys.prefix):
        volume, _, rest = entry.key.removeprefix(keys.prefix).partition("/")
        if rest.startswith("pages/") and volume in found:
            found[volume].append(entry.key)
    for volume, objects in found.items():
        yield volume, tuple(sorted(objects))


def output_kinds(bucket: Bucket, keys: RecipeKeys, volumes: Iterable[str]) -> tuple[str, ...]:
    """The outputs of a page, such as ``ocr.txt``, as the first volume that has some shows them."""
    for _, volume in zip(range(MOST_LOOKED_AT), volumes, strict=False):
        kinds = dict.fromkeys(kind for key in _listed(bucket, keys, volume) if (kind := output_name(key)))
        if kinds:
            return tuple(kinds)
    return ()


def output_name(key: str) -> str:
    """An output's name without the page's number; nothing for a record or a refusal."""
    name = _without_number(key)
    return "" if name == RECORD or REFUSED.match(name) else name


def is_record(key: str) -> bool:
    """Whether an object is the record of a page that is done."""
    return _without_number(key) == RECORD


def page_sources(bucket: Bucket, keys: VolumeKeys) -> Mapping[str, str]:
    """The name of what each page was made of, from the manifest of a complete volume; none of another."""
    try:
        pages = load(bucket.read(keys.manifest), keys.manifest)["pages"]
        return {str(page["page"]): str(page["source"]["name"]) for page in pages}
    except (AllotmentError, PermanentFailureError, KeyError, TypeError):
        return {}


def page_source(bucket: Bucket, keys: VolumeKeys, page: str) -> str:
    """The name of what a page was made of, from its record; nothing where that cannot be told."""
    try:
        return str(json.loads(bucket.read(keys.record(page)))["source"]["name"])
    except (AllotmentError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _listed(bucket: Bucket, keys: RecipeKeys, volume: str) -> tuple[str, ...]:
    return tuple(sorted(entry.key for entry in bucket.list(keys.volume(volume).pages)))


def _without_number(key: str) -> str:
    return key.rpartition("/")[2].partition(".")[2]
