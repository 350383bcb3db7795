"""The manifest: written last, when every page is accounted for; the one sign that a volume is complete.

Outside ``measured`` it says the same however often the volume was interrupted, by whom, where and when.
What went wrong with a failed page is said there by a code; its words, which may hold anything, are under
``measured``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from allotment.buckets.bucket import Conflict
from allotment.buckets.keys import VolumeKeys
from allotment.buckets.once import PatientBucket
from allotment.running.assignment import Assignment
from allotment.running.endings import PermanentFailureError
from allotment.running.objects import (
    FORMAT_VERSION,
    MALFORMED,
    damaged,
    dump,
    load,
    mapping,
    read_object,
    whole,
)
from allotment.running.records import PageRecord
from allotment.running.sources.source import PageRef

MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class PageFailure:
    """Why a page failed: a short stable code, and one sentence. ``final`` if it is not tried again."""

    reason: str
    message: str
    final: bool = False


def build_manifest(
    assignment: Assignment,
    volume: str,
    pages: Sequence[PageRef],
    records: Mapping[str, PageRecord],
    failures: Mapping[str, PageFailure],
    *,
    measured: Mapping[str, Any],
) -> bytes:
    """The manifest of a volume whose every page has a record or a failure."""
    return dump(
        {
            "format_version": FORMAT_VERSION,
            "team": assignment.team,
            "pipeline": assignment.pipeline,
            "recipe": assignment.recipe,
            "image": assignment.image,
            "steps": [{"step": call.step, "settings": dict(call.settings)} for call in assignment.steps],
            "volume": volume,
            "counts": {"pages": len(pages), "done": len(records), "failed": len(failures)},
            "pages": [_entry(page, records, failures) for page in pages],
            MEASURED: {**measured, **_measured(records.values(), failures)},
        }
    )


def write_manifest(bucket: PatientBucket, keys: VolumeKeys, manifest: bytes) -> None:
    """Write the manifest; one that is there already and says the same is as good."""
    try:
        bucket.put(keys.manifest, manifest)
    except Conflict:
        there = read_object(bucket, keys.manifest)
        ours = load(manifest, keys.manifest)
        if {**there, MEASURED: None} != {**ours, MEASURED: None}:
            raise PermanentFailureError(
                "manifest-differs",
                f"another manifest is in the bucket already, which says something else: {keys.manifest}",
            ) from None


def read_counts(bucket: PatientBucket, keys: VolumeKeys) -> dict[str, int]:
    """How many pages a complete volume has, by ``pages``, ``done`` and ``failed``."""
    try:
        counts = mapping(read_object(bucket, keys.manifest).get("counts"))
        return {name: whole(counts.get(name, 0)) for name in ("pages", "done", "failed")}
    except MALFORMED as error:
        raise damaged(keys.manifest) from error


def _entry(
    page: PageRef, records: Mapping[str, PageRecord], failures: Mapping[str, PageFailure]
) -> dict[str, Any]:
    if page.name in records:
        return records[page.name].contents()
    about = {
        "name": page.source,
        "size": page.size,
        "label": page.label or None,
        "canvas": page.canvas or None,
    }
    source = {key: value for key, value in about.items() if value is not None}
    return {"page": page.name, "source": source, "failed": failures[page.name].reason}


def _measured(records: Iterable[PageRecord], failures: Mapping[str, PageFailure]) -> dict[str, Any]:
    return {
        "pages": {record.page: record.measured for record in records},
        "failures": {page: failure.message for page, failure in failures.items()},
    }
