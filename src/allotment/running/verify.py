"""Whether everything that the records speak of is in the bucket, by one list of what is there.

A bucket may lose an object, or somebody may take one away. What is missing can be made again, and has to
come out as it was; what is there with another size can not be mended, because nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from allotment.buckets.keys import VolumeKeys
from allotment.buckets.once import PatientBucket
from allotment.running.endings import PermanentFailureError
from allotment.running.records import PageRecord, mark_of
from allotment.running.sources.source import PageRef


@dataclass(frozen=True, slots=True)
class Missing:
    """What of a page is not in the bucket: outputs, and perhaps the record itself."""

    outputs: tuple[str, ...]
    record: bool


def find_missing(
    bucket: PatientBucket, keys: VolumeKeys, records: Mapping[str, PageRecord]
) -> dict[str, Missing]:
    """The pages of which something is missing, in order; raises when something there is not what it was."""
    sizes = {entry.key: entry.size for entry in bucket.list(keys.pages)}
    missing: dict[str, Missing] = {}
    for page in sorted(records):
        gone = []
        for name, mark in records[page].outputs.items():
            key = keys.output(page, name)
            size = sizes.get(key)
            if size is None:
                gone.append(name)
            elif size != mark.size:
                raise PermanentFailureError(
                    "output-damaged",
                    f"the object {key} in the bucket has {size} bytes, and {mark.size} were written; "
                    "take it away, then `allot retry`",
                )
        record_gone = keys.record(page) not in sizes
        if gone or record_gone:
            missing[page] = Missing(tuple(gone), record_gone)
    return missing


def check_remade(record: PageRecord, missing: Missing, outputs: Mapping[str, bytes]) -> None:
    """Refuse outputs that were made again and came out otherwise than the record says."""
    for name in missing.outputs:
        if name not in outputs or mark_of(outputs[name]) != record.outputs[name]:
            raise PermanentFailureError(
                "remade-differs",
                f"page {record.page} has lost its output {name}, and the step makes another one now; "
                "a step must give the same bytes for the same page",
            )


def check_same_source(record: PageRecord, page: PageRef, sha256: str) -> None:
    """Refuse to make outputs again of something else than the page was made of."""
    if record.source.sha256 and sha256 != record.source.sha256:
        raise PermanentFailureError(
            "source-changed",
            f"page {record.page} has lost an output, and {page.source} is not what it was made of any more; "
            "put it back as it was, or give the changed pages to a volume with a new id",
        )
