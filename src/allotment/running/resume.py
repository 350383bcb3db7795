"""What is in the bucket already of a volume, found out once, at the start: records, refusals, leftovers.

A resume reads one list and the records that it names; it trusts nothing else. A record that does not fit
the source any more, because a file has been replaced, renamed or taken away, means that old and new would
be mixed: that is refused. Pages that came to the end of the list since then are simply further pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from allotment.buckets.keys import VolumeKeys, parse_output, parse_record, parse_refusal
from allotment.buckets.once import PatientBucket
from allotment.running.endings import PermanentFailureError
from allotment.running.records import PageRecord, Refusal, read_record, read_refusal
from allotment.running.sources.source import PageRef


@dataclass(frozen=True, slots=True)
class Resume:
    """What is there: records and refusals by page, and outputs of pages that have no record yet."""

    records: Mapping[str, PageRecord] = field(default_factory=dict)
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    leftovers: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_resume(bucket: PatientBucket, keys: VolumeKeys) -> Resume:
    """What is in the bucket already of a volume."""
    records: dict[str, PageRecord] = {}
    newest: dict[str, int] = {}
    outputs: dict[str, set[str]] = {}
    for entry in bucket.list(keys.pages):
        if (page := parse_record(entry.key, keys.pages)) is not None:
            records[page] = read_record(bucket.read(entry.key), entry.key)
        elif (refused := parse_refusal(entry.key, keys.pages)) is not None:
            newest[refused[0]] = max(refused[1], newest.get(refused[0], 0))
        elif (output := parse_output(entry.key, keys.pages)) is not None:
            outputs.setdefault(output[0], set()).add(output[1])
    refusals = {
        page: read_refusal(bucket.read(keys.refusal(page, number)), keys.refusal(page, number), number)
        for page, number in newest.items()
        if page not in records
    }
    leftovers = {page: frozenset(names) for page, names in outputs.items() if page not in records}
    return Resume(records, refusals, leftovers)


def check_source(records: Iterable[PageRecord], pages: Sequence[PageRef]) -> None:
    """Refuse to go on with a source whose recorded pages are not what they were."""
    for record in sorted(records, key=lambda record: record.page):
        number = int(record.page)
        if number > len(pages):
            raise _changed(record, f"and now there are only {len(pages)} pages")
        page = pages[number - 1]
        if page.source != record.source.name:
            raise _changed(record, f"and now page {record.page} is {page.source}")
        if page.size is not None and page.size != record.source.size:
            raise _changed(record, f"which had {record.source.size} bytes and now has {page.size}")


def _changed(record: PageRecord, now: str) -> PermanentFailureError:
    return PermanentFailureError(
        "source-changed",
        f"the pages have changed since some were done: page {record.page} was made of {record.source.name}, "
        f"{now}; put the files back as they were, or give the changed pages to a volume with a new id",
    )
